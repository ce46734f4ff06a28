"""Secrets on hosts: born on one host, carried by stdin, never in argv, logs, diffs or /tmp."""

from collections.abc import Generator
from pathlib import PurePosixPath
from typing import Any

from pyinfra import host
from pyinfra.api import FunctionCommand, Host, QuoteString, StringCommand, operation

from glmstead.facts.files import FileStates
from glmstead.operations.turns import in_turn
from glmstead.operations.units import peer

_GENERATE = "import secrets, sys; print(sys.argv[1] + secrets.token_urlsafe(32))"


def placed(path: str, owner: str, producer: list[Any], **arguments: Any) -> StringCommand:
    """Command that writes what ``producer`` prints to ``path``: 0600 from the first byte."""
    new = QuoteString(f"{path}.new")
    return in_turn(
        str(PurePosixPath(path).parent),
        *("umask 077 &&", *producer, ">", new),
        *("&& test -s", new, "&& chown", QuoteString(owner), new, "&& sync", new),
        *("&& mv", new, QuoteString(path)),
        **arguments,
    )


def _with_rights(path: str, owner: str) -> StringCommand:
    """Command that gives an existing secret its owner and mode back."""
    file = QuoteString(path)
    return StringCommand("chown", QuoteString(owner), file, "&& chmod 600", file)


@operation()
def generated(
    path: str, owner: str = "root:root", prefix: str = ""
) -> Generator[StringCommand, None, None]:
    """
    Ensure a secret exists; generate it on the host, once.

    + path: the file, in /etc/glmstead, mode 0600
    + owner: ``user:group`` of the file
    + prefix: text before the random part, as in ``NAME=sk-``
    """
    state = host.get_fact(FileStates, paths=[path])[path]
    if state is None:
        fresh = ("python3 -c", QuoteString(_GENERATE), QuoteString(prefix))
        # another run may have been faster: its secret stays
        yield placed(path, owner, ["{ cat", QuoteString(path), "2>/dev/null ||", *fresh, "; }"])
    elif state[1:] != ["600", owner]:
        yield _with_rights(path, owner)
    else:
        host.noop(f"{path} exists")


@operation()
def same_secret_as(
    other: str, path: str, owner: str = "root:root"
) -> Generator[StringCommand | FunctionCommand, None, None]:
    """
    Ensure a secret equals the one of another host, without showing it at any verbosity.

    + other: name of the host that generated it
    + path: the file on both hosts, mode 0600
    + owner: ``user:group`` of the file
    """
    if other == host.name:
        host.noop("generated here")
        return
    here = host.get_fact(FileStates, paths=[path])[path]
    there = peer(other).get_fact(FileStates, paths=[path])[path]
    if here is None or there is None or here[0] != there[0]:
        yield FunctionCommand(_carry, (other, path, owner, rights()), {})
    elif here[1:] != ["600", owner]:
        yield _with_rights(path, owner)
    else:
        host.noop(f"{path} is the same as on {other}")


def _carry(
    state: Any, host: Host, other: str, path: str, owner: str, given: dict[str, Any]
) -> bool:
    """Read the secret on ``other`` and write it here, both silent; False fails the operation."""
    found, output = state.inventory.get_host(other).run_shell_command(
        StringCommand("cat", QuoteString(path)), print_output=False, print_input=False, **given
    )
    if not found:
        return False
    command = placed(path, owner, ["cat"])
    written, _ = host.run_shell_command(
        command, print_output=False, print_input=False, _stdin=output.stdout, **given
    )
    return bool(written)


def rights() -> dict[str, Any]:
    """The sudo arguments of the running operation, which a direct command does not inherit."""
    arguments: Any = host.current_op_global_arguments or {}
    return {key: arguments[key] for key in ("_sudo", "_sudo_user") if arguments.get(key)}

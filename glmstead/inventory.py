"""Load an inventory file with its group data, as pyinfra would, without contacting a host."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from ipaddress import AddressValueError, IPv4Address, ip_network
from pathlib import Path
from traceback import extract_tb

from pyinfra.api.exceptions import DeployError
from pyinfra.api.host import Host
from pyinfra.api.inventory import Inventory
from pyinfra.api.state import State
from pyinfra.context import ctx_state
from pyinfra_cli.inventory import make_inventory_from_files  # type: ignore[import-untyped]

from glmstead import ROOT
from glmstead.settings import Settings, settings_for

GROUP_DATA = ROOT / "group_data"
_PLACEHOLDERS = tuple(
    ip_network(net) for net in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")
)


class InventoryError(Exception):
    """An inventory that cannot be used; the message is one line, or one line a problem."""


def load(path: Path) -> Inventory:
    """Return the inventory of a file; raises InventoryError where it is missing or empty."""
    if not path.is_file():
        known = ", ".join(str(one) for one in sorted((ROOT / "inventories").glob("*.py")))
        raise InventoryError(f"{path}: no such inventory; fix: use one of {known}")
    file = str(path.resolve())
    try:
        with ctx_state.use(State()), _in_root():
            inventory: Inventory = make_inventory_from_files(
                file, group_data_directories=[str(GROUP_DATA)]
            )
    except Exception as error:  # the file is the user's Python: anything may come out of it
        cause = getattr(error, "exception", error)  # pyinfra's wrapper has no text of its own
        lines = [one.lineno for one in extract_tb(cause.__traceback__) if one.filename == file]
        where = f" ({path.name}, line {lines[-1]})" if lines else ""
        raise InventoryError(f"{path}: {type(cause).__name__}: {cause}{where}") from error
    if not len(inventory):
        raise InventoryError(f"{path}: no host in it; fix: list hosts in head, worker and gateway")
    return inventory


def limited(inventory: Inventory, patterns: Sequence[str]) -> list[Host]:
    """Return the hosts that every ``--limit`` leaves; raises InventoryError for an idle pattern."""
    chosen: list[Host] = []
    for pattern in patterns:
        matches = inventory.groups.get(pattern) or [
            host for host in inventory if fnmatch(host.name, pattern)
        ]
        if not matches:
            hosts = ", ".join(host.name for host in inventory)
            groups = ", ".join(
                sorted(n for n, members in inventory.groups.items() if members and n[0] != "@")
            )
            raise InventoryError(
                f"--limit {pattern}: matches no host; fix: use a host ({hosts}) or group ({groups})"
            )
        chosen += [host for host in matches if host not in chosen]
    return chosen if patterns else list(inventory)


def settings_of(inventory: Inventory) -> dict[str, Settings]:
    """Return the settings of every host; raises InventoryError with every problem of all hosts."""
    settings: dict[str, Settings] = {}
    lines: list[str] = []
    for host in inventory:
        try:
            settings[host.name] = settings_for(host)
        except DeployError as error:
            lines += [line for line in str(error).splitlines() if line not in lines]
    if lines:
        raise InventoryError("\n".join(lines))
    return settings


def refuse_placeholders(inventory: Inventory, path: Path) -> None:
    """Raise InventoryError for hosts that still carry an address from the documentation ranges."""
    for host in inventory:
        name = host.data.get("ssh_hostname", host.name)
        if _is_placeholder(name):
            raise InventoryError(f"{host.name}: {name} is a placeholder; fix: edit {path}")


def _is_placeholder(name: str) -> bool:
    try:
        address = IPv4Address(name)
    except AddressValueError:
        return False
    return any(address in network for network in _PLACEHOLDERS)


@contextmanager
def _in_root() -> Iterator[None]:
    """Stand in the project while its data files are read, and come back."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        yield
    finally:
        os.chdir(before)

"""The hub's token: from the environment or a private file of this machine to a private file there."""

import os
import stat
from collections.abc import Generator
from hashlib import sha256
from pathlib import Path

from pyinfra import host
from pyinfra.api import StringCommand, operation

from glmstead import places
from glmstead.facts.files import FileStates
from glmstead.operations.refusal import refuse
from glmstead.operations.secrets import placed

VARIABLE = "GLMSTEAD_HUB_TOKEN"
FILE = Path("~/.config/glmstead/hub-token")


class TokenError(Exception):
    """Why a token is not used: one line with the fix."""


def own_token() -> str | None:
    """Return the token of this machine, None where there is none; a file others can read is refused."""
    if os.environ.get(VARIABLE):
        return os.environ[VARIABLE].strip()
    path = FILE.expanduser()
    if not path.exists():
        return None
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise TokenError(f"{path}: others can read the token; fix: chmod 600 {path}")
    return path.read_text().strip()


@operation()
def hub_token() -> Generator[StringCommand, None, None]:
    """
    Ensure the hub's token lies on the host, for the fetch alone; one that is there already stays.
    """
    try:
        token = own_token()
    except TokenError as error:
        yield refuse(str(error))
        return
    if token is None:
        host.noop("no token on this machine")
        return
    text = f"{token}\n"
    wanted = [sha256(text.encode()).hexdigest(), "600", "root:root"]
    if host.get_fact(FileStates, paths=[places.HUB_TOKEN])[places.HUB_TOKEN] == wanted:
        host.noop("the token is there")
    else:
        yield placed(places.HUB_TOKEN, "root:root", ["cat"], _stdin=text)

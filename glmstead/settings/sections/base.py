"""Types that several sections share."""

import re
from ipaddress import ip_address
from typing import Annotated

from packaging.version import InvalidVersion, Version
from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _release(text: str) -> str:
    """Return text that names a release; raises ValueError otherwise."""
    try:
        Version(text)
    except InvalidVersion as error:
        raise ValueError("not a release") from error
    return text


def _own_folder(text: str) -> str:
    """Return a path that can be ours alone: an environment replaces what lies there."""
    first, *rest = text.strip("/").split("/")
    if {"", ".", ".."} & {first, *rest}:
        raise ValueError("not a plain path")
    if first in _SYSTEM or len(rest) < (2 if first in ("home", "var") else 1):
        raise ValueError("a folder of the system, of which everything would be replaced")
    return text


def _listening(text: str) -> str:
    """Return an address to listen on; raises ValueError for what is none."""
    if text != "localhost":
        try:
            ip_address(text)
        except ValueError:
            raise ValueError("not an IP address") from None
    return text


def _service_user(text: str) -> str:
    """Return a user that may lose its shell and its home; raises ValueError for root."""
    if text == "root":
        raise ValueError("the services never run as root, and the user gets no login shell")
    return text


def of_form(pattern: str, form: str) -> AfterValidator:
    """Return the check that text has a form, which the refusal then names."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"not {form}")
        return text

    return AfterValidator(check)


_SYSTEM = {"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "tmp", "usr"}
Release = Annotated[str, AfterValidator(_release)]
Port = Annotated[int, Field(ge=1024, le=65535)]
AbsolutePath = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]+$")]
OwnFolder = Annotated[AbsolutePath, AfterValidator(_own_folder)]
Listening = Annotated[str, AfterValidator(_listening)]
ServiceUser = Annotated[
    str, Field(pattern=r"^[a-z_][a-z0-9_-]{0,30}$"), AfterValidator(_service_user)
]
LockName = Annotated[str, Field(pattern=r"^[a-z0-9_-]+$")]
Interface = Annotated[str, Field(pattern=r"^[A-Za-z0-9._@-]{1,15}$")]
# Lists are what people write in group_data; the settings keep a tuple.
Strings = Annotated[tuple[str, ...], Field(strict=False)]
Interfaces = Annotated[tuple[Interface, ...], Field(strict=False)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
Environment = dict[VariableName, str]


class Section(BaseModel):
    """Frozen, exact types, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

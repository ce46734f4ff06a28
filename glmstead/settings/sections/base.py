"""Types that several sections share."""

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


Release = Annotated[str, AfterValidator(_release)]
Port = Annotated[int, Field(ge=1024, le=65535)]
AbsolutePath = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._/-]+$")]
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

"""Types that several sections share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

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

"""The form of a patch file: every key, and what it must look like."""

import re
from typing import Annotated, Any, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from glmstead.patching.releases import contains


def _lines(value: object) -> object:
    return value.splitlines() if isinstance(value, str) else value


def _window(value: str) -> str:
    try:
        known = len(SpecifierSet(value))
        contains(value, "1.0")  # the reader that hosts use knows fewer forms
    except (InvalidSpecifier, ValueError) as error:
        raise ValueError('write clauses such as ">=0.25,<0.29"') from error
    if not known:
        raise ValueError('write clauses such as ">=0.25,<0.29", an empty window admits anything')
    return value


def _pattern(value: str) -> str:
    try:
        re.compile(value, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"write a regular expression ({error})") from error
    return value


def _anchor(lines: list[str]) -> list[str]:
    if not lines or lines[0] != lines[0].lstrip():
        raise ValueError("start the first line without indent")
    for line in lines:
        if not line.isascii() or "\t" in line or line != line.rstrip() or '"""' in line:
            raise ValueError(
                f"write {line!r} in ASCII, without tabs, trailing blanks or docstrings"
            )
    return lines


Window = Annotated[str, AfterValidator(_window)]
Pattern = Annotated[str, AfterValidator(_pattern)]
Lines = Annotated[list[str], BeforeValidator(_lines), AfterValidator(_anchor)]
SourcePath = Annotated[str, Field(pattern=r"^[a-z0-9_]+(/[A-Za-z0-9_]+)+\.py$")]
Scope = Annotated[str, Field(pattern=r"^(<module>|\w+(\.\w+)*)$")]
Link = Annotated[str, Field(pattern=r"^https://\S+$")]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Edit(_Entry):
    """A spot to change, in one of the three forms that ``glmstead.patching.edits`` names."""

    within: Annotated[list[Scope], Field(min_length=1)] | None = None
    find: Lines | None = None
    after: Literal["docstring"] | None = None
    put: Lines | None = None
    one_of: list["Edit"] | None = None

    @model_validator(mode="after")
    def _has_one_form(self) -> "Edit":
        given = {name for name in type(self).model_fields if getattr(self, name) is not None}
        if given not in ({"within", "find", "put"}, {"after", "put"}, {"one_of"}):
            raise ValueError("give within, find and put; or after and put; or one_of")
        if self.one_of is not None and not all(choice.find for choice in self.one_of):
            raise ValueError("give each choice of one_of within, find and put")
        return self

    def brought(self) -> list[str]:
        """Lines that the edit brings or changes."""
        choices = [line for choice in self.one_of or () for line in choice.brought()]
        return choices + [line for line in self.put or () if line not in (self.find or ())]


class SourceFile(_Entry):
    """A file to edit, or one to bring (``content``)."""

    path: SourcePath
    edits: list[Edit] | None = None
    content: Annotated[list[str] | None, BeforeValidator(_lines)] = None

    @model_validator(mode="after")
    def _has_one_form(self) -> "SourceFile":
        if bool(self.edits) == bool(self.content):
            raise ValueError("give edits, or content for a new file")
        return self


class Test(_Entry):
    """One condition of a rule: a file's text, the kind of build, or whether there is a package."""

    __test__ = False  # no test class for pytest

    file: SourcePath | None = None
    has: Pattern | None = None
    lacks: Pattern | None = None
    exists: bool | None = None
    build: Pattern | None = None
    not_build: Pattern | None = None
    installed: bool | None = None

    @model_validator(mode="after")
    def _asks_one_thing(self) -> "Test":
        given = {name for name in type(self).model_fields if getattr(self, name) is not None}
        forms = ({"build"}, {"not_build"}, {"installed"})
        if given not in (*({"file", about} for about in ("has", "lacks", "exists")), *forms):
            raise ValueError("give file with has, lacks or exists; or build, not_build, installed")
        return self


class Rule(_Entry):
    """A verdict that holds, whatever the anchors say, when every condition is true."""

    verdict: Literal["fixed upstream", "not needed", "inert", "unsafe", "unknown"]
    reason: str = Field(pattern=r"^[^\n]+$")
    when: list[Test] = Field(min_length=1)


class Conflict(_Entry):
    """A setting the patch cannot stand together with."""

    setting: str
    value: str
    unless: str | None = None
    reason: str


class Patch(_Entry):
    """A tagged source edit: what it changes, where it is known to work, what makes it moot."""

    tag: str = Field(pattern=r"^[A-Z][A-Z0-9_-]+$")
    why: str = Field(pattern=r"^[^\n]+$")
    upstream: list[Link] = Field(min_length=1)
    package: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    releases: dict[str, Window] = Field(min_length=1)
    python: Window = ">=3.10"
    optional: bool = False
    check: Literal["compile", "execute"] = "compile"
    flag: str | None = None
    conflicts: list[Conflict] = []
    rules: list[Rule] = []
    files: list[SourceFile] = Field(min_length=1)

    @model_validator(mode="after")
    def _marks_what_it_brings(self) -> "Patch":
        if len({file.path for file in self.files}) < len(self.files):
            raise ValueError("give all edits of a file in one entry")
        for file in self.files:
            if not file.path.startswith(f"{self.package}/"):
                raise ValueError(f"move {file.path} to a patch of its own package")
            brought = [line for edit in file.edits or () for line in edit.brought()]
            for line in brought or ["\n".join(file.content or ())]:
                marks = re.findall(rf"#.*?(?<![\w-]){re.escape(self.tag)}(?![\w-])", line)
                if len(marks) != 1 or line.count(self.tag) != 1:
                    raise ValueError(f"write the tag once, in a comment of {line!r}")
        return self

    def plain(self) -> dict[str, Any]:
        """The form that the engine reads, on this machine and on hosts."""
        return self.model_dump(exclude_none=True)

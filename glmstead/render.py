"""Templates to text: undefined names are errors, block tags leave no blank lines."""

from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from glmstead import ROOT

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(ROOT / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,
)


def render(template: str, **values: Any) -> str:
    """Text of ``templates/<template>``; raises jinja2.UndefinedError for a missing value."""
    return _ENVIRONMENT.get_template(template).render(**values)


def env_file(values: dict[str, str]) -> str:
    """Text of a systemd EnvironmentFile; values are quoted as systemd.exec(5) reads them."""
    lines = []
    for name, value in sorted(values.items()):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
        lines.append(f'{name}="{escaped}"\n')
    return "".join(lines)

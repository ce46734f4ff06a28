"""A refusal in one line: host, key, value, what is wrong, how to put it right."""

import json
import re
from dataclasses import dataclass
from typing import Any

_SECRET = re.compile(
    r"password|passphrase|secret|token|credential|api_?key|ssh_key_", re.IGNORECASE
)
_NOT_SECRET = re.compile(r"tokens\b|_model_len", re.IGNORECASE)
_CREDENTIALS = re.compile(r"://[^/@\s]+@")
_SHOWN = 60  # characters of a value; the key tells where the rest is

UNSET = object()
HIDDEN = object()


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one setting."""

    key: str
    value: object
    wrong: str
    fix: str

    def line(self, where: str) -> str:
        """Return the line people read; ``where`` is the host, or the inventory."""
        return f"{where}: {self.key}: {shown(self.key, self.value)}: {self.wrong}; fix: {self.fix}"


def is_secret(name: str) -> bool:
    """Tell whether a value of this name must never be shown."""
    return bool(_SECRET.search(name)) and not _NOT_SECRET.search(name)


def shown(key: str, value: object) -> str:
    """Return a value as one short line, secrets and credentials in addresses masked."""
    if value is UNSET:
        return "not set"
    if value is HIDDEN or is_secret(key):
        return "***"
    text = json.dumps(_masked(value), ensure_ascii=False, default=str)
    text = _CREDENTIALS.sub("://***@", text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _masked(value: object) -> Any:
    if isinstance(value, dict):
        return {k: "***" if is_secret(str(k)) else _masked(v) for k, v in value.items()}
    return value

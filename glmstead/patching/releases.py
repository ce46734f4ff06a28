"""Version windows, PEP 440, without the ``packaging`` distribution that a host may lack.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import operator as compare
import re
from typing import Any

_VERSION = re.compile(
    r"v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[._-]?(?P<pre>a|b|rc)[._-]?(?P<pre_n>\d*))?"
    r"(?:[._-]?post[._-]?(?P<post>\d*))?(?:[._-]?dev[._-]?(?P<dev>\d*))?(?:\+(?P<local>[\w.-]+))?"
)
_CLAUSE = re.compile(r"(?P<operator>==|!=|>=|<=|<|>)\s*(?P<version>[^\s,]+)")
_COMPARE = {
    **{"==": compare.eq, "!=": compare.ne, ">=": compare.ge},
    **{"<=": compare.le, ">": compare.gt, "<": compare.lt},
}
_LOWEST, _HIGHEST = (-1,), (9,)  # around the (0, n) of a stated pre, post or dev number


def key(version: str) -> tuple[Any, ...]:
    """Sort key of a version; its local part (``+cpu``) counts for nothing.

    Raises ValueError on text that is no version.
    """
    found = _VERSION.fullmatch(version.strip().lower())
    if not found:
        raise ValueError(f"{version!r} is no version")
    release = [int(number) for number in found["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    pre = (["a", "b", "rc"].index(found["pre"]), _int(found["pre_n"])) if found["pre"] else None
    post = None if found["post"] is None else (0, _int(found["post"]))
    dev = None if found["dev"] is None else (0, _int(found["dev"]))
    # 1.0.dev1 < 1.0a1 < 1.0rc1 < 1.0 < 1.0.post1
    early = _LOWEST if dev and not pre and not post else _HIGHEST
    return (_int(found["epoch"]), release, pre or early, post or _LOWEST, dev or _HIGHEST)


def contains(window: str, version: str) -> bool:
    """Whether every clause of a window such as ``>=0.25,<0.29`` admits the version.

    Raises ValueError on a clause or version that cannot be read.
    """
    clauses = [clause.strip() for clause in window.split(",")]
    # a list: every clause is read, whatever the first one says
    return all([_admits(clause, version) for clause in clauses if clause])


def _admits(clause: str, version: str) -> bool:
    found = _CLAUSE.fullmatch(clause)
    if not found:
        raise ValueError(f"{clause!r} is no version clause")
    operator, bound = found["operator"], found["version"]
    have, want = key(version), key(bound)
    if operator in ("<", ">") and have[:2] == want[:2]:
        # PEP 440: <0.29 keeps out 0.29rc1, >0.29 keeps out 0.29.post1
        early = _is_early(have) and not _is_early(want)
        late = have[3] != _LOWEST == want[3]
        if (operator == "<" and early) or (operator == ">" and late):
            return False
    return bool(_COMPARE[operator](have, want))


def _is_early(version_key: tuple[Any, ...]) -> bool:
    return bool(version_key[2] != _HIGHEST or version_key[4] != _HIGHEST)


def _int(text: str | None) -> int:
    return int(text) if text else 0

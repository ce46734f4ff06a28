"""A Python source as text that loses nothing: latin-1, one character a byte.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import re
from functools import lru_cache

ENCODING = "latin-1"  # any bytes, any coding cookie, a BOM: all survive
MODULE = "<module>"

_STRING_OR_COMMENT = re.compile(
    r"#[^\r\n]*"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"'
    r"|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*'",
    re.DOTALL,
)
_HEADER = re.compile(r"(?:async[ \t]+)?(?:class|def)[ \t]+(\w+)")
_PREAMBLE = re.compile(r"(?:\xef\xbb\xbf)?(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))*")
_DOCSTRING = re.compile(
    r"[rRuU]?(?:"
    r'"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r"""|"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*')"""
    r"[ \t]*(?:#[^\r\n]*)?(?=\r|\n|\Z)",
    re.DOTALL,
)
_NEWLINE = re.compile(r"\r\n|\n")
_ONE_LINE = re.compile(r"[^\r\n]")


@lru_cache(maxsize=16)  # a patched file is looked at for every question about it
def code_of(text: str) -> str:
    """The text with strings of several lines blanked out, every offset kept.

    An anchor that stands in a docstring is no code, and must not be taken for it.
    """
    return _STRING_OR_COMMENT.sub(_blank, text)


def _blank(token: re.Match[str]) -> str:
    found = token.group()
    return _ONE_LINE.sub(" ", found) if "\n" in found or "\r" in found else found


def scope_at(code: str, position: int) -> str:
    """Dotted classes and functions around the line that starts at ``position``."""
    names: list[str] = []
    indent = _indent(code[position:].split("\n", 1)[0])
    for line in reversed(code[:position].split("\n")):
        if not indent:
            break
        body = line.strip()
        # closing brackets stand at the indent of what they close, which comes further up
        if not body or body[0] in "#)]}" or _indent(line) >= indent:
            continue
        indent = _indent(line)
        header = _HEADER.match(body)
        if header:
            names.append(header[1])
    return ".".join(reversed(names)) or MODULE


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def after_docstring(text: str) -> int | None:
    """Offset just behind the module's docstring line, or its leading comments; None: cannot tell."""
    preamble = _PREAMBLE.match(text)
    start = preamble.end() if preamble else 0
    docstring = _DOCSTRING.match(text, start)
    if not docstring:
        return None if re.match(r"[rRuU]?['\"]", text[start:]) else start
    newline = _NEWLINE.match(text, docstring.end())
    return newline.end() if newline else docstring.end()


def newline_at(text: str, position: int) -> str:
    """Line ending at ``position``, else the text's first, else a plain one."""
    found = _NEWLINE.match(text, position) or _NEWLINE.search(text)
    return found.group() if found else "\n"

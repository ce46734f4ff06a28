"""Fetches the signing key of an apt repository and puts it in place if it is the expected one.

Argument: {"url", "fingerprint", "path"}. One line on standard error and exit status 1 otherwise.
"""

import base64
import hashlib
import json
import re
import sys
import urllib.request
from pathlib import Path


def binary(data: bytes) -> bytes:
    """A key without its armour."""
    if not data.lstrip().startswith(b"-----BEGIN"):
        return data
    armour = rb"-----BEGIN[^\n]*\n(?:[^\r\n]+\r?\n)*\r?\n(.*?)\r?\n(?:=.{4}\r?\n)?-----END"
    body = re.search(armour, data, re.S)
    return base64.b64decode(body[1]) if body else b""


def fingerprint(key: bytes) -> str:
    """Fingerprint of the first packet, a version 4 public key (RFC 4880, 12.2)."""
    if len(key) < 4:
        return "no key"
    if key[0] & 0x40:  # new form of packet length
        first = key[1]
        start, size = (2, first) if first < 192 else (3, ((first - 192) << 8) + key[2] + 192)
    else:
        width = 1 << (key[0] & 3)
        start, size = 1 + width, int.from_bytes(key[1 : 1 + width], "big")
    body = key[start : start + size]
    return hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).hexdigest().upper()


def main(url: str, wanted: str, path: str) -> "str | None":
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            key = binary(answer.read(1 << 20))
    except (OSError, ValueError) as error:
        return f"{url} cannot be fetched ({error}): set driver_key_url, or let the host out"
    if fingerprint(key) != wanted:
        return (
            f"{url} holds the key {fingerprint(key)} instead of {wanted}: if it is the right one, "
            "set driver_key_fingerprint"
        )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    new = Path(path + ".new")
    new.write_bytes(key)
    new.chmod(0o644)
    new.replace(path)
    return None


request = json.loads(sys.argv[1])
wrong = main(request["url"], request["fingerprint"], request["path"])
if wrong:
    print(wrong, file=sys.stderr)
sys.exit(1 if wrong else 0)

"""Refuse to start a service whose environment lost a patch: somebody ran an installer by hand.

Usage, as ExecStartPre of the unit: ``python3 guard.py /etc/glmstead/patches.json``. The manifest
says which text each patched file must have: ``{tag: [{"file": path, "sha256": digest}, ...]}``.

Standard library only; no package is imported, so that it costs milliseconds.
"""

import hashlib
import json
import sys

REPAIR = "repair: run the deploy again (pyinfra INVENTORY deploy.py)"


def main(arguments: list[str]) -> int:
    """0 when every file is as deployed; 1 with one line on stderr that says what is not."""
    try:
        with open(arguments[0], encoding="utf-8") as file:  # noqa: PTH123 - pathlib costs 10 ms
            problem = missing(json.load(file))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        problem = f"no list of patches: {error}"
    if problem:
        print(f"glmstead: {problem}; {REPAIR}", file=sys.stderr)
    return 1 if problem else 0


def missing(manifest: dict[str, list[dict[str, str]]]) -> str:
    """The first patch that is not in its file; empty when all are."""
    for tag, files in manifest.items():
        for entry in files:
            try:
                with open(entry["file"], "rb") as file:  # noqa: PTH123
                    data = file.read()
            except OSError as error:
                return f"patch {tag}: {entry['file']}: {error.strerror}"
            if hashlib.sha256(data).hexdigest() != entry["sha256"]:
                if tag.encode() not in data:
                    return f"patch {tag} is missing in {entry['file']}"
                return f"patch {tag}: {entry['file']} was changed after the deploy"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

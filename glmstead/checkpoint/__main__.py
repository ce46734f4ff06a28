"""Command line on a host: ``python3 -m glmstead.checkpoint verify FOLDER [--deep]``.

``verify`` exits 0 when all is as the manifest says and 1 with a line a finding; ``restore`` puts
back config.json as it was delivered.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from glmstead.checkpoint.edits import restore
from glmstead.checkpoint.listing import CheckpointError, Folder
from glmstead.checkpoint.progress import amount
from glmstead.checkpoint.verify import known_listing, verified


def main(words: list[str]) -> int:
    """Run one command; problems are lines on stderr and exit status 1."""
    parser = argparse.ArgumentParser(prog="glmstead.checkpoint")
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("verify", "restore"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "verify":
            command.add_argument("--deep", action="store_true", help="read every byte again")
    arguments = parser.parse_args(words)
    try:
        return _COMMANDS[arguments.command](arguments)
    except (CheckpointError, OSError) as error:
        print(error, file=sys.stderr)
        return 1


def _verify(arguments: argparse.Namespace) -> int:
    folder = Folder(arguments.folder)
    listing = known_listing(folder)
    if listing is None:
        raise CheckpointError(f"{folder.root}: no manifest; fix: run the deploy")
    found, _ = verified(folder, listing, arguments.deep)
    for line in found.lines():
        print(line, file=sys.stderr)
    count = f"{len(found.good)} of {len(listing.files)} files, {amount(listing.size)}"
    print(f"{listing.origin}: {count}")
    return 1 if found.lines() else 0


def _restore(arguments: argparse.Namespace) -> int:
    done = restore(Folder(arguments.folder))
    print("config.json is as it was delivered" if done else "nothing was corrected")
    return 0


_COMMANDS = {"verify": _verify, "restore": _restore}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

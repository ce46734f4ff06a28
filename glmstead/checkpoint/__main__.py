"""Command line on a host: ``python3 -m glmstead.checkpoint COMMAND``.

``place`` reads a request from standard input and does it; ``share`` lends files to peers; ``verify
FOLDER [--deep]`` exits 0 when all is as the manifest says, and 1 with a line a finding; ``restore
FOLDER`` puts back the configs as they were delivered.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from glmstead.checkpoint.disk import FIX, is_full
from glmstead.checkpoint.edits import restore
from glmstead.checkpoint.listing import CheckpointError, Folder
from glmstead.checkpoint.place import place, request_of
from glmstead.checkpoint.progress import amount
from glmstead.checkpoint.share import Share
from glmstead.checkpoint.verify import known_listing, verified


def main(words: list[str]) -> int:
    """Run one command; problems are lines on stderr and exit status 1."""
    parser = argparse.ArgumentParser(prog="glmstead.checkpoint")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("place")
    for name in ("verify", "restore", "share"):
        commands.add_parser(name).add_argument("folder", type=Path)
    verify, share = commands.choices["verify"], commands.choices["share"]
    verify.add_argument("--deep", action="store_true", help="read every byte again")
    share.add_argument("--bind", required=True, help="address to listen on")
    share.add_argument("--port", type=int, required=True)
    share.add_argument("--allow", required=True, help="addresses of clients, comma-separated")
    share.add_argument("--idle-s", type=float, default=120.0, help="end after so long unasked")
    arguments = parser.parse_args(words)
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # any file name
    try:
        return _COMMANDS[arguments.command](arguments)
    except (CheckpointError, OSError) as error:
        fix = f"; fix: {FIX}" if isinstance(error, OSError) and is_full(str(error)) else ""
        print(f"{error}{fix}", file=sys.stderr, flush=True)
        return 1


def _place(arguments: argparse.Namespace) -> int:
    manifest = place(request_of(sys.stdin.read()))
    print(f"{manifest.origin}: {len(manifest.files)} files, {amount(manifest.size)}, verified")
    return 0


def _share(arguments: argparse.Namespace) -> int:
    allow = tuple(arguments.allow.split(","))
    server = Share(Folder(arguments.folder), (arguments.bind, arguments.port), allow)
    server.serve_until_idle(arguments.idle_s)
    return 0


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
    names = restore(Folder(arguments.folder))
    print(f"as delivered: {', '.join(names)}" if names else "nothing was corrected")
    return 0


_COMMANDS = {"place": _place, "restore": _restore, "share": _share, "verify": _verify}

if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # threads of a failed run may still wait for a peer

"""Runs one apt-get with a bounded wait for its locks, and says in one line why it failed.

Argument: {"words": [...], "wait_s", "driver": whether its settings are the fix}. apt's own output
goes to standard output; standard error gets the one line. Exit status 1 after a failure.
"""

import json
import os
import re
import subprocess
import sys
import time

# What apt says; what that means; what to do about it; where it differs, about the driver's packages.
CAUSES = (
    (
        r"EXPKEYSIG|expired",
        "the repository's key has expired",
        "renew it, or remove that repository from /etc/apt",
        "set driver_key_url to a new one",
    ),
    (
        r"NO_PUBKEY|is not bound",
        "the repository is signed by another key",
        "install that key, or remove that repository from /etc/apt",
        "set driver_key_url",
    ),
    (r"not signed", "the repository is not signed", "use a signed mirror"),
    (
        r"Could not resolve|Could not connect|Connection (failed|refused|timed out)|Cannot initiate"
        r"|Failed to fetch|does not have a Release file",
        "the repository cannot be reached",
        "check the sources in /etc/apt and the host's way out",
        "check driver_repository and the host's way out",
    ),
    (
        r"[Nn]o installation candidate|was not found|has no available version"
        r"|[Uu]nable to (locate|correct)|(Depends|Breaks|Conflicts): ",
        "the repository does not offer this version, or its dependencies",
        "look at apt-cache policy and apt-mark showhold",
        "compare driver_version with apt-cache madison, and apt-mark showhold",
    ),
    (r"No space left", "the disk is full", "free space in / and /boot"),
    (r"error exit status|Sub-process .*dpkg", "a package failed to set itself up", "see above"),
)
INTERRUPTED = "dpkg was interrupted"  # a host that lost power while it installed
LOCKED = re.compile(r"Could not get lock (\S+?)\.? It is held by process (\d+) \(([^)]*)\)")


ENVIRONMENT = {
    **os.environ,
    "LC_ALL": "C",
    "DEBIAN_FRONTEND": "noninteractive",
    "NEEDRESTART_SUSPEND": "1",
}
CONFIGURATION = ("--force-confdef", "--force-confold")  # a site's edits stay, nobody is asked


def run(words: "list[str]") -> "tuple[int, str]":
    options = [word for one in CONFIGURATION for word in ("-o", f"Dpkg::Options::={one}")]
    done = subprocess.run(  # not -qq, which keeps the unmet dependencies to itself
        ["apt-get", "-y", "-q", *options, *words],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    print(done.stdout, flush=True)
    return done.returncode, done.stdout


def why(said: str, driver: bool) -> str:
    own = [line for line in said.splitlines() if line.startswith(("E:", "W:"))]
    for pattern, cause, *fixes in CAUSES:
        found = next((line for line in said.splitlines() if re.search(pattern, line)), None)
        if found is not None:
            return f"{cause}: {fixes[-1 if driver else 0]} ({found.strip()})"
    return own[0] if own else said.strip().splitlines()[-1] if said.strip() else "no output"


def main(words: "list[str]", wait_s: float, driver: bool) -> int:
    deadline = time.monotonic() + wait_s
    finished = False
    while True:
        status, said = run(words)
        if status == 0:
            return 0
        if INTERRUPTED in said and not finished:
            finished = True
            mend = ["dpkg", *CONFIGURATION, "--configure", "-a"]
            subprocess.run(mend, env=ENVIRONMENT, stdin=subprocess.DEVNULL)
            continue
        held = LOCKED.search(said)
        if held is None:
            print(f"apt-get {words[0]}: {why(said, driver)}", file=sys.stderr)
            return 1
        if time.monotonic() >= deadline:
            who = f"{held[3]} (pid {held[2]})"
            print(
                f"apt-get {words[0]}: {who} has held {held[1]} for more than {wait_s:g} s: "
                "let it finish or stop it",
                file=sys.stderr,
            )
            return 1
        time.sleep(1)


request = json.loads(sys.argv[1])
sys.exit(main(**request))

"""Makes a checkout of an upstream commit with one change picked onto it, or says what lies there.

Argument: {"make": bool, "root", "url", "commit", "pick_ref", "pick_commit", "drop", "ours",
"only", "python"}. Answers {"head": commit or null, "made_of": request or null, "installed": path
the package is installed from or null}. A reason to refuse is one line on stderr, exit 1, and the
checkout is as it was.
"""

import fnmatch
import json
import shutil
import subprocess
import sys
from pathlib import Path

NAMED = ("url", "commit", "pick_ref", "pick_commit", "drop", "ours", "only")
WHO = ("-c", "user.name=glmstead", "-c", "user.email=glmstead@localhost")


def refuse(reason: str) -> None:
    sys.exit(f"git checkout: {reason}")


def git(root: str, *words: str, check: bool = True) -> str:
    run = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    if check and run.returncode:
        refuse(f"{' '.join(words[:2])}: {(run.stderr.strip().splitlines() or ['failed'])[-1]}")
    return run.stdout.strip()


def fetched(root: str, request: "dict[str, object]") -> None:
    """Both ends of the change; a ref that moved is refused."""
    url, commit = str(request["url"]), str(request["commit"])
    git(root, "fetch", "--quiet", "--depth=1", url, commit)
    if not request["pick_ref"]:
        return
    ref, wanted = str(request["pick_ref"]), str(request["pick_commit"])
    git(root, "fetch", "--quiet", "--depth=2", url, ref)
    found = git(root, "rev-parse", "FETCH_HEAD")
    if found != wanted:
        refuse(
            f"{ref} is {found[:12]} now, not git_pick_commit {wanted[:12]}: read it, then pin it"
        )


def matches(path: str, patterns: "list[str]") -> bool:
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def picked(root: str, request: "dict[str, object]") -> None:
    """The change in the index: conflicts by rule, dropped paths back as they were."""
    ours, drop, only = (list(request[name]) for name in ("ours", "drop", "only"))  # type: ignore[call-overload]
    git(root, *WHO, "cherry-pick", "--no-commit", str(request["pick_commit"]), check=False)
    conflicts = git(root, "diff", "--name-only", "--diff-filter=U").splitlines()
    changed = git(root, "diff", "--name-only", "HEAD").splitlines()
    for path in sorted({*conflicts, *changed}):
        if matches(path, drop) or (path in conflicts and path in ours):
            known = git(root, "ls-tree", "--name-only", "HEAD", "--", path)
            git(root, *(("checkout", "HEAD", "--") if known else ("rm", "-fq", "--")), path)
        elif path in conflicts:
            refuse(f"conflict in {path}: no rule for it (git_ours)")
    for path in git(root, "diff", "--cached", "--name-only").splitlines():
        if not matches(path, only):
            refuse(f"the change touches {path}: that needs a compiler (git_only, git_drop)")
        file = Path(root, path)
        if file.suffix == ".py" and file.exists():
            try:
                compile(file.read_bytes(), path, "exec")
            except SyntaxError as error:
                refuse(f"{path} is no Python after the pick: line {error.lineno}")


def make(root: str, request: "dict[str, object]") -> None:
    """Made beside the checkout, and checked there: an engine may run from it, patched."""
    if not Path(root, ".git").exists():
        Path(root).mkdir(parents=True, exist_ok=True)
        git(root, "init", "--quiet")
    fetched(root, request)
    beside = f"{root}.new"
    shutil.rmtree(beside, ignore_errors=True)  # of a run that was killed
    git(root, "worktree", "prune")
    git(root, "worktree", "add", "--quiet", "--detach", beside, str(request["commit"]))
    try:
        if request["pick_commit"]:
            picked(beside, request)
            git(beside, *WHO, "commit", "--quiet", "--allow-empty", "-m", "picked by glmstead")
        head = git(beside, "rev-parse", "HEAD")
    finally:
        git(root, "worktree", "remove", "--force", beside)
    git(root, "checkout", "--quiet", "--force", "--detach", head)
    stamp = {"head": head, "made_of": {name: request[name] for name in NAMED}}
    Path(root, ".git", "glmstead.json").write_text(json.dumps(stamp))


def state(root: str, python: str) -> "dict[str, object]":
    """What was made there, as far as it still stands."""
    file = Path(root, ".git", "glmstead.json")
    try:
        stamp = json.loads(file.read_text())
    except (OSError, ValueError):
        stamp = {}
    head = git(root, "rev-parse", "HEAD", check=False) if file.exists() else ""
    stands = head == stamp.get("head")
    return {
        "head": head or None,
        "made_of": stamp.get("made_of") if stands else None,
        "installed": installed(python),
    }


def installed(python: str) -> "str | None":
    """Folder that an editable vLLM is installed from."""
    site = Path(python).parent.parent
    for url in site.glob("lib/python3*/site-packages/vllm-*.dist-info/direct_url.json"):
        document = json.loads(url.read_text())
        if document.get("dir_info", {}).get("editable"):
            return str(document["url"]).removeprefix("file://")
    return None


asked = json.loads(sys.argv[1])
if asked["make"]:
    make(asked["root"], asked)
print(json.dumps(state(asked["root"], asked["python"])))

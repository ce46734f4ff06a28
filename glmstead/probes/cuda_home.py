"""Says what a folder lacks to be the CUDA home of the wheels in an environment; or mends it.

The wheels have no lib64 and no libcudart.so, but FlashInfer links in exactly that place.
Argument: {"environment", "home", "apply"}. Answers {"wrong": [path, ...], "error"}.
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def wanted(nvidia: Path, home: Path) -> "dict[Path, Path]":
    """Links by their place: the wheels' folders, and every library under its plain name too."""
    links = {home / name: nvidia / name for name in ("bin", "include", "nvvm")}
    for library in sorted((nvidia / "lib").glob("lib*")):
        links[home / "lib64" / library.name] = library
        plain = re.sub(r"\.so\.\d+.*$", ".so", library.name)
        links.setdefault(home / "lib64" / plain, library)
    # The driver's library; its package does not everywhere give it the plain name.
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    driver = re.search(r"libcuda\.so\.1 \(.*x86-64.*\) => (\S+)|libcuda\.so\.1 .* => (\S+)", cache)
    if driver:
        links[home / "lib64/stubs/libcuda.so"] = Path(driver[1] or driver[2])
    return links


def main(environment: str, home: str, apply: bool) -> "dict[str, object]":
    found = sorted(Path(environment).glob("lib/python3*/site-packages/nvidia/cu[0-9]*/bin/nvcc"))
    if not found:
        return {"wrong": [], "error": f"no nvcc in {environment}: the lock must hold its wheels"}
    links = wanted(found[-1].parent.parent, Path(home))
    wrong = [p for p, to in links.items() if not (p.is_symlink() and p.readlink() == to)]
    if apply:
        for place in wrong:
            place.parent.mkdir(parents=True, exist_ok=True)
            new = place.with_name(place.name + ".new")
            new.unlink(missing_ok=True)
            new.symlink_to(links[place])
            new.replace(place)
    return {"wrong": [str(place) for place in wrong], "error": ""}


print(json.dumps(main(**json.loads(sys.argv[1]))))

"""promtool, of Debian's package: as installed, else taken out of the package, which starts nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest


def promtool(config: pytest.Config, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it; never raises on its failure."""
    command = [str(program(config)), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def program(config: pytest.Config) -> Path:
    """Its path; downloads 19 MB once into pytest's cache where it is not installed."""
    if installed := shutil.which("promtool"):
        return Path(installed)
    assert config.cache is not None
    folder = config.cache.mkdir("promtool")
    found = folder / "usr/bin/promtool"
    if not found.exists():
        words = ["apt-get", "-o", "APT::Sandbox::User=root", "download", "prometheus"]
        if subprocess.run(words, cwd=folder, capture_output=True, check=False).returncode:
            subprocess.run(["apt-get", "update"], capture_output=True, check=True)
            subprocess.run(words, cwd=folder, capture_output=True, check=True)
        (package,) = folder.glob("*.deb")
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        package.unlink()
    return found

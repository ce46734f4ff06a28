"""The base image: a minimal Debian or Ubuntu, built once and copied for every host."""

import hashlib
import platform
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

from glmstead import ROOT
from glmstead.lab.config import SUITES, LabConfig, LabError
from glmstead.lab.lock import in_turn
from glmstead.lab.process import dying_with_us, last_line, remove_tree, run
from glmstead.lab.progress import Progress

PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "iproute2", "procps"),
    *("python3", "python3-venv", "sudo", "ca-certificates", "curl"),
)
RECIPE = 1  # raise it when configure() below changes
# F6EC B376 2474 EDA9 D21B 7022 8719 20D1 991B C93C, which Debian 12 has no package of
UBUNTU_KEY = ROOT / "files" / "keys" / "ubuntu-archive.gpg"


def image_path(config: LabConfig) -> Path:
    """Where the image of this suite and these packages is, or would be."""
    key = hashlib.sha256(repr((config.suite, PACKAGES, RECIPE)).encode()).hexdigest()[:12]
    return config.cache / "images" / f"{config.suite}-{key}"


def ensure_image(config: LabConfig) -> Path:
    """The finished image; builds it if it is missing (1 to 2 minutes)."""
    image = image_path(config)
    if image.exists():
        return image
    image.parent.mkdir(parents=True, exist_ok=True)
    with in_turn(image.parent / ".lock"):
        if not image.exists():
            build_image(config, image)
    return image


def build_image(config: LabConfig, image: Path) -> None:
    """Build it beside its place, where a killed build may have left something."""
    for unfinished in image.parent.glob(".build-*"):
        remove_tree(unfinished)
    build = Path(mkdtemp(prefix=".build-", dir=image.parent))
    with Progress("Building the base image, once") as progress:
        debootstrap(build, config.suite, progress)
        configure(build)
    build.chmod(0o755)
    build.rename(image)  # only a whole image ever has the final name


def debootstrap(root: Path, suite: str, progress: Progress) -> None:
    """Install the packages into an empty directory, from the distribution's own mirror."""
    what = [f"--include={','.join(PACKAGES)}", f"--components={SUITES[suite]}"]
    source: list[str] = []
    if "universe" in SUITES[suite]:
        what.append(f"--keyring={UBUNTU_KEY}")
        source = ubuntu_source(platform.machine())
    words = ["--force-check-gpg", "--variant=minbase", *what, suite, str(root), *source]
    last = ""
    with subprocess.Popen(
        dying_with_us(["debootstrap", *words]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        for line in process.stdout or ():
            last = line if line.startswith(("W:", "E:")) or not last.startswith("E:") else last
            progress.update(line.removeprefix("I: ").strip().lower())
    if process.returncode:
        raise LabError(f"debootstrap {suite}: {last_line(last)}")


def ubuntu_source(machine: str) -> list[str]:
    """Mirror and script; Debian 12 does not know noble by name, but all have one script."""
    ports = "http://ports.ubuntu.com/ubuntu-ports"
    mirror = "http://archive.ubuntu.com/ubuntu" if machine == "x86_64" else ports
    return [mirror, "/usr/share/debootstrap/scripts/gutsy"]


def configure(root: Path) -> None:
    """What every host has in common and no host may share is made, or removed, here."""
    run(["chroot", str(root), "systemctl", "--quiet", "enable", "systemd-networkd"])
    run(["chroot", str(root), "systemctl", "--quiet", "mask", "console-getty.service"])
    for secret in (root / "etc/ssh").glob("ssh_host_*"):
        secret.unlink()
    for deb in (root / "var/cache/apt/archives").glob("*.deb"):
        deb.unlink()
    (root / "etc/apt/apt.conf.d/90keep").write_text(
        'APT::Keep-Downloaded-Packages "true";\n'
        'Binary::apt::APT::Keep-Downloaded-Packages "true";\n'
    )
    (root / "etc/ssh/sshd_config.d/lab.conf").write_text(
        "HostKey /etc/ssh/ssh_host_ed25519_key\n"
        "PermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        "UseDNS no\nGSSAPIAuthentication no\n"
        # pyinfra multiplexes its sessions over one connection.
        "MaxStartups 200\nMaxSessions 500\n"
    )


def free_gb(path: Path) -> float:
    """Free disk where ``path`` is or would be, GB (10^9 bytes)."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free / 1e9

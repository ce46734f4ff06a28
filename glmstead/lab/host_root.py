"""A host's disk: a copy of the base image with the host's own name, address and keys."""

import uuid
from pathlib import Path

from glmstead.lab import packages
from glmstead.lab.config import INTERFACE, MAX_HOSTS, LabConfig
from glmstead.lab.process import remove_tree, run
from glmstead.lab.ssh import make_key

CA_DIRECTORY = Path("usr/local/share/ca-certificates")
CA_BUNDLE = Path("etc/ssl/certs/ca-certificates.crt")


def ensure_root(config: LabConfig, host: str, image: Path, mtu: int, resolv_conf: str) -> None:
    """Make a host's disk unless it is there."""
    root = config.root(host)
    if root.exists():
        return
    build = root.with_name(f".{host}.new")
    remove_tree(build)
    run(["cp", "-a", "--reflink=auto", "--", str(image), str(build)], timeout_s=300)
    write_identity(config, host, build)
    write_network(config, host, build, mtu)
    (build / "etc/resolv.conf").unlink(missing_ok=True)
    (build / "etc/resolv.conf").write_text(resolv_conf)
    copy_authorities(build)
    packages.lend(config, build)
    build.rename(root)  # only a whole disk ever has the final name


def write_identity(config: LabConfig, host: str, root: Path) -> None:
    """Name, machine id, SSH host key and who may log in."""
    (root / "etc/hostname").write_text(f"{host}\n")
    (root / "etc/machine-id").write_text(f"{uuid.uuid4().hex}\n")
    (root / "etc/default/locale").write_text("LANG=C.UTF-8\n")  # else every login logs an error
    # All possible hosts, so that a lab can grow without touching the hosts it has.
    names = [f"{config.address(name)} {name}\n" for name in config.host_names(MAX_HOSTS)]
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n" + "".join(names))
    make_key(root / "etc/ssh/ssh_host_ed25519_key", host)
    directory = root / "root/.ssh"
    directory.mkdir(mode=0o700, exist_ok=True)
    (directory / "authorized_keys").write_text((config.state / "id_ed25519.pub").read_text())


def write_network(config: LabConfig, host: str, root: Path, mtu: int) -> None:
    """Static address on the lab's bridge, for systemd-networkd; ``mtu`` in bytes."""
    (root / "etc/systemd/network/10-lab.network").write_text(f"""[Match]
Name={INTERFACE}

[Link]
MTUBytes={mtu}

[Network]
Address={config.address(host)}/{config.subnet.prefixlen}
Gateway={config.gateway}
LinkLocalAddressing=no
""")


def copy_authorities(root: Path) -> None:
    """Trust what the controller trusts, so that downloads work behind its TLS proxy too."""
    own = sorted((Path("/") / CA_DIRECTORY).glob("**/*.crt"))
    for certificate in own:
        (root / CA_DIRECTORY / certificate.name).write_bytes(certificate.read_bytes())
    if own:
        run(["chroot", str(root), "update-ca-certificates"])
    if (bundle := Path("/") / CA_BUNDLE).exists():
        (root / CA_BUNDLE).write_bytes(bundle.read_bytes())

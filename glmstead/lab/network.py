"""The lab's network on the controller: bridge, masquerading, forwarding.

The value that ip_forward had before is kept as a comment of the nftables table: it lives exactly
as long as it is needed, and labs that run side by side pass it on.
"""

import json
import re
from pathlib import Path

from glmstead.lab.config import LabConfig, LabError
from glmstead.lab.conflicts import Record, default_mtu, link_alias
from glmstead.lab.process import run

IP_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")


def routes() -> list[Record]:
    """IPv4 routes of all tables' main view, as ``ip`` prints them."""
    return list(json.loads(run(["ip", "-j", "-4", "route", "show"]) or "[]"))


def links() -> list[Record]:
    """Network interfaces, as ``ip`` prints them."""
    return list(json.loads(run(["ip", "-j", "link", "show"]) or "[]"))


def mtu() -> int:
    """MTU that packets of the lab may have, bytes."""
    return default_mtu(routes(), links())


def bring_up(config: LabConfig) -> None:
    """Make or repair bridge, masquerading and forwarding; changes nothing if all is there."""
    bring_up_bridge(config)
    bring_up_masquerade(config)
    IP_FORWARD.write_text("1")


def bring_up_bridge(config: LabConfig) -> None:
    """Make the bridge with the controller's address on it."""
    name = config.bridge
    if name not in {link["ifname"] for link in links()}:
        # A fixed hardware address: else it changes with the ports, and peers' ARP entries rot.
        mac = "02:67:" + ":".join(f"{octet:02x}" for octet in config.gateway.packed)
        run(["ip", "link", "add", name, "address", mac, "type", "bridge"])
        run(["ip", "link", "set", name, "alias", link_alias(config)])
    run(["ip", "link", "set", name, "mtu", str(mtu()), "up"])
    run(["ip", "addr", "replace", f"{config.gateway}/{config.subnet.prefixlen}", "dev", name])


def bring_up_masquerade(config: LabConfig) -> None:
    """Make the table with the one rule that lets the hosts out."""
    tables = lab_tables()
    if config.table in tables:
        return
    before = next(iter(tables.values()), IP_FORWARD.read_text().strip())
    rule = f"ip saddr {config.subnet} ip daddr != {config.subnet} masquerade"
    run(
        ["nft", "-f", "-"],
        stdin=f"""table ip {config.table} {{
            comment "ip_forward was {before}"
            chain postrouting {{
                type nat hook postrouting priority srcnat
                {rule}
            }}
        }}""",
    )


def lab_tables() -> dict[str, str]:
    """Tables of all labs on this machine, with the ip_forward each found."""
    ruleset = json.loads(run(["nft", "-j", "list", "tables"]))["nftables"]
    names = [entry["table"]["name"] for entry in ruleset if "table" in entry]
    return {name: _forward_before(name) for name in names if name.startswith("glmstead_")}


def _forward_before(table: str) -> str:
    found = re.search(r"ip_forward was ([01])", run(["nft", "list", "table", "ip", table]))
    return found[1] if found else "0"


def take_down(config: LabConfig) -> None:
    """Remove bridge, left-over host links and table; restore ip_forward after the last lab."""
    names = {link["ifname"] for link in links()}
    ours = [name for name in names if re.fullmatch(rf"vb-{config.name}\d+", name)]
    for name in [*ours, config.bridge]:
        if name in names:
            run(["ip", "link", "delete", name])
    tables = lab_tables()
    if config.table not in tables:
        return
    run(["nft", "delete", "table", "ip", config.table])
    if len(tables) == 1:
        IP_FORWARD.write_text(tables[config.table])


def usable_resolv_conf() -> str:
    """A resolv.conf whose name servers hosts can reach too; raises LabError if there is none."""
    for path in ("/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"):
        text = Path(path).read_text() if Path(path).exists() else ""
        servers = re.findall(r"^nameserver\s+(\S+)", text, re.MULTILINE)
        if servers and not any(server.startswith(("127.", "::1")) for server in servers):
            return text
    raise LabError("no name server but on loopback: name one that hosts reach in /etc/resolv.conf")

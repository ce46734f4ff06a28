"""systemd's notifications (sd_notify) by the standard library."""

import os
import socket


def notify(**fields: str) -> None:
    """Tell systemd how this process is; nothing where no systemd listens."""
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.connect("\0" + address[1:] if address.startswith("@") else address)
            channel.send("\n".join(f"{name}={value}" for name, value in fields.items()).encode())

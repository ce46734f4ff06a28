"""Says whether packets of a size reach each peer unfragmented; standard library only, needs root.

Argument: {"peers": [address, ...], "interface", "mtu"}. Answers {peer: "" or why not}. An echo
request with the do-not-fragment bit is what ``ping -M do`` sends, which not every host has.
"""

import json
import os
import socket
import struct
import sys
import time

IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2
HEADERS = 28  # IPv4 and ICMP


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return int(~(total + (total >> 16)) & 0xFFFF)


def echo(peer: str, interface: str, mtu: int, seconds: float = 2.0) -> str:
    """Why no answer of the same size came back; empty when it did."""
    mark = os.urandom(8)
    body = mark + bytes((mtu - HEADERS - 8) // 2 * 2)
    head = struct.pack("!BBHHH", 8, 0, 0, os.getpid() & 0xFFFF, 1)
    packet = struct.pack("!BBHHH", 8, 0, checksum(head + body), os.getpid() & 0xFFFF, 1) + body
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as channel:
        channel.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        deadline = time.monotonic() + seconds
        channel.sendto(packet, (peer, 0))
        while (left := deadline - time.monotonic()) > 0:
            channel.settimeout(left)
            try:
                answer = channel.recv(70000)
            except TimeoutError:
                break
            if answer[20:21] == b"\0" and answer[28:36] == mark:
                return ""
    return f"no answer in {seconds:g} s"


def passes(peer: str, interface: str, mtu: int) -> str:
    try:
        # A second packet: the first may be lost to the address resolution.
        return echo(peer, interface, mtu) and echo(peer, interface, mtu)
    except OSError as error:
        return error.strerror or str(error)


request = json.loads(sys.argv[1])
print(json.dumps({p: passes(p, request["interface"], request["mtu"]) for p in request["peers"]}))

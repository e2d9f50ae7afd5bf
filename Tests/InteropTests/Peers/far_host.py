#!/usr/bin/env python3
"""Delays what this host sends to another one: far_host.py ADDRESS INTERFACE SOURCE MILLISECONDS

For kernels whose queues can't delay packets. Packets to ADDRESS take a tunnel to this program, which sends them on from
INTERFACE, whose address is SOURCE, in their order. The answers are not delayed. Prints a line when it is ready, and
runs until it is ended. Needs root.
"""
import collections
import fcntl
import select
import socket
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 1, 0x1000

address, interface, source, delay = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]) / 1000
tunnel = open("/dev/net/tun", "r+b", buffering=0)
fcntl.ioctl(tunnel, TUNSETIFF, struct.pack("16sH", b"far", IFF_TUN | IFF_NO_PI))
outside = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
outside.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
for device in ("all", interface):
    # The answers do not come from where the requests go.
    with open(f"/proc/sys/net/ipv4/conf/{device}/rp_filter", "w") as setting:
        setting.write("0")
subprocess.run(["ip", "link", "set", "far", "up"], check=True)
subprocess.run(["ip", "route", "add", address, "dev", "far", "src", source], check=True)
print("ready", flush=True)
waiting = collections.deque()
while True:
    timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    if select.select([tunnel], [], [], timeout)[0]:
        packet = tunnel.read(65536)
        # The kernel also announces itself to the tunnel, in version 6.
        if packet[0] >> 4 == 4:
            waiting.append((time.monotonic() + delay, packet))
    while waiting and waiting[0][0] <= time.monotonic():
        outside.sendto(waiting.popleft()[1], (address, 0))

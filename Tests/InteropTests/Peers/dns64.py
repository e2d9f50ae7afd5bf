#!/usr/bin/env python3
"""A name server of a network with NAT64: dns64.py ADDRESS

It knows ipv4only.arpa (RFC 7050) under the prefix 2001:db8:64::/96, and no other name. Prints a line when it is ready.
"""
import ipaddress
import socket
import struct
import sys

IPV4_ONLY = b"\x08ipv4only\x04arpa\x00"
ADDRESSES = {
    1: [ipaddress.ip_address(f"192.0.0.{last}") for last in (170, 171)],
    28: [ipaddress.ip_address(f"2001:db8:64::192.0.0.{last}") for last in (170, 171)],
}


def answer(query: bytes) -> bytes:
    end = query.index(b"\x00", 12) + 5
    question = query[12:end]
    kind = struct.unpack("!H", question[-4:-2])[0]
    is_known = question[:-4].lower() == IPV4_ONLY
    records = ADDRESSES.get(kind, []) if is_known else []
    header = query[:2] + struct.pack("!HHHHH", 0x8180 | (0 if is_known else 3), 1, len(records), 0, 0)
    body = b"".join(
        b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(record.packed)) + record.packed for record in records)
    return header + question + body


server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
server.bind((sys.argv[1], 53))
print("ready", flush=True)
while True:
    query, client = server.recvfrom(4096)
    if len(query) > 16:
        server.sendto(answer(query), client)

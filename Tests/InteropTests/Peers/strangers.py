#!/usr/bin/env python3
"""Opens connections to a server that are nobody's, again whenever one is closed: strangers.py HOST PORT COUNT

A quarter of them each sends nothing, the bytes of a request of ICE one by one, garbage, and a whole request for a user
who does not exist. Prints a line when all have been opened once, and goes on until it is ended.
"""
import asyncio
import os
import struct
import sys


def request() -> bytes:
    user = b"nobody:nowhere"
    attribute = struct.pack("!HH", 6, len(user)) + user + bytes(-len(user) % 4)
    message = struct.pack("!HHI", 1, len(attribute), 0x2112A442) + os.urandom(12) + attribute
    return struct.pack("!H", len(message)) + message


async def stranger(host: str, port: int, kind: int, opened: asyncio.Semaphore) -> None:
    is_first = True
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            if is_first:
                opened.release()
                is_first = False
            if kind == 1:
                for byte in request():
                    writer.write(bytes([byte]))
                    await asyncio.sleep(1)
            elif kind == 2:
                writer.write(struct.pack("!H", 200) + os.urandom(2000))
            elif kind == 3:
                writer.write(request())
            await reader.read()
            writer.close()
        except OSError:
            pass
        await asyncio.sleep(1)


async def main() -> None:
    host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    opened = asyncio.Semaphore(0)
    strangers = [asyncio.create_task(stranger(host, port, number % 4, opened)) for number in range(count)]
    for _ in strangers:
        await opened.acquire()
    print(f"{count} connections were opened", flush=True)
    await asyncio.gather(*strangers)


asyncio.run(main())

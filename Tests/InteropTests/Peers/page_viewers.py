#!/usr/bin/env python3
"""Plays further viewers of a page of page_sender.py: they receive all that it sends, and decode nothing.

    page_viewers.py x11vnc URL NUMBER
    page_viewers.py selkies URL NUMBER

Each has a loopback address of its own. Writes a line when each has its first picture, and stays until SIGTERM. A viewer of
x11vnc is as noVNC is: it asks for the next update when it has the last one, with noVNC's quality and compression.
"""

import asyncio
import signal
import struct
import sys
import urllib.parse

import websockets

START_TIMEOUT = 120  # seconds, on a busy machine

RAW, COPY_RECTANGLE, TIGHT, LAST_RECTANGLE, QUALITY_6, COMPRESSION_2 = 0, 1, 7, -224, -26, -254
FILL, JPEG, PALETTE = 8, 9, 1
BELL, CLIPBOARD = 2, 3
LEAST_COMPRESSED = 12  # bytes; less is sent as it is


class RemoteFramebuffer:
    """The messages of RFC 6143 in a WebSocket, and of its Tight encoding, in pixels of three bytes."""

    def __init__(self, socket):
        self.socket = socket
        self.buffer = bytearray()

    async def read(self, form):
        values = struct.unpack(form, await self.take(struct.calcsize(form)))
        return values if len(values) > 1 else values[0]

    async def take(self, count):
        while len(self.buffer) < count:
            self.buffer += await self.socket.recv()
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    async def begin(self):
        """Gives the screen's size."""
        await self.take(12)
        await self.socket.send(b"RFB 003.008\n")
        await self.take(await self.read("!B"))
        await self.socket.send(b"\x01")  # no authentication
        if await self.read("!I"):
            raise RuntimeError("x11vnc refused a viewer")
        await self.socket.send(b"\x01")  # shared
        *size, _, name = await self.read("!HH16sI")
        await self.take(name)
        await self.socket.send(struct.pack("!B3xBBBBHHHBBB3x", 0, 32, 24, 0, 1, 255, 255, 255, 0, 8, 16))
        encodings = (COPY_RECTANGLE, TIGHT, QUALITY_6, COMPRESSION_2, LAST_RECTANGLE)
        await self.socket.send(struct.pack(f"!BxH{len(encodings)}i", 2, len(encodings), *encodings))
        return size

    async def request(self, size, incremental):
        await self.socket.send(struct.pack("!BBHHHH", 3, incremental, 0, 0, *size))

    async def await_update(self):
        while kind := await self.read("!B"):
            if kind == CLIPBOARD:
                await self.take(await self.read("!3xI"))
            elif kind != BELL:
                raise RuntimeError(f"x11vnc sent a message of kind {kind}")
        for _ in range(await self.read("!xH")):
            _, _, width, height, encoding = await self.read("!HHHHi")
            if encoding == LAST_RECTANGLE:
                return
            elif encoding == TIGHT:
                await self.skip_tight(width, height)
            elif encoding in (RAW, COPY_RECTANGLE):
                await self.take(4 * width * height if encoding == RAW else 4)
            else:
                raise RuntimeError(f"x11vnc sent an encoding of kind {encoding}")

    async def skip_tight(self, width, height):
        control = await self.read("!B") >> 4
        if control == FILL:
            await self.take(3)
        elif control == JPEG:
            await self.take(await self.compact_length())
        else:
            size = 3 * width * height
            if control & 4 and await self.read("!B") == PALETTE:
                colors = await self.read("!B") + 1
                await self.take(3 * colors)
                size = (width + 7) // 8 * height if colors <= 2 else width * height
            await self.take(size if size < LEAST_COMPRESSED else await self.compact_length())

    async def compact_length(self):
        length = 0
        for shift in (0, 7, 14):
            byte = await self.read("!B")
            length |= (byte & (0xFF if shift == 14 else 0x7F)) << shift
            if byte < 0x80:
                break
        return length


async def watch_x11vnc(socket, shown):
    framebuffer = RemoteFramebuffer(socket)
    size = await framebuffer.begin()
    await framebuffer.request(size, False)
    while True:
        await framebuffer.await_update()
        shown.set()
        await framebuffer.request(size, True)


async def watch_selkies(socket, shown):
    await socket.send("SETTINGS,{}")
    async for message in socket:
        if isinstance(message, bytes):
            shown.set()


PATHS = {"x11vnc": ("/websockify", watch_x11vnc), "selkies": ("/api/websockets?role=viewer", watch_selkies)}


async def view(kind, url, number, shown):
    path, watch = PATHS[kind]
    address = (f"127.0.{1 + number // 250}.{1 + number % 250}", 0)
    target = f"ws://{urllib.parse.urlsplit(url).netloc}{path}"
    async with websockets.connect(target, local_addr=address, max_size=None, compression=None) as socket:
        await watch(socket, shown)
    raise RuntimeError("the server ended a viewer's connection")


async def main():
    kind, url, count = sys.argv[1:]
    shown = [asyncio.Event() for _ in range(int(count))]
    viewers = asyncio.gather(*(view(kind, url, number, event) for number, event in enumerate(shown)))
    all_shown = asyncio.gather(*(event.wait() for event in shown))
    await asyncio.wait((viewers, all_shown), timeout=START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED)
    if not viewers.done():
        if not all_shown.done():
            raise RuntimeError(f"{sum(event.is_set() for event in shown)} of {count} viewers have a picture")
        print("ready", flush=True)
    await viewers


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        asyncio.run(main())
    except (OSError, RuntimeError, websockets.WebSocketException) as error:
        sys.exit(f"{error}")

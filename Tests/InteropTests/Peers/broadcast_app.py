"""The app's side of a broadcast, from the description of its messages alone: takes pictures until it is killed.

Each picture is a line on standard output: how it came, its number, its size. SIGTERM says that the share is over.
"""

import array
import mmap
import os
import signal
import socket
import struct
import sys

HELLO, MEMORY, PICTURE, WRITTEN = 1, 2, 3, 9
WELCOME, TAKEN, ENDED = 65, 67, 68


class Connection:
    """Bytes as they come, and the descriptors with them."""

    def __init__(self, connection):
        self.connection = connection
        self.descriptors = []

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            part, ancillary, _, _ = self.connection.recvmsg(count - len(data), socket.CMSG_SPACE(4))
            if not part:
                sys.exit("the extension is gone")
            for level, kind, content in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    numbers = array.array("i")
                    numbers.frombytes(content[: len(content) - len(content) % 4])
                    self.descriptors += numbers
            data += part
        return bytes(data)

    def message(self):
        head = self.read(4)
        return head[0], self.read(int.from_bytes(head[1:], "big"))

    def say(self, kind):
        self.connection.sendall(bytes([kind, 0, 0, 0]))


def picture_bytes(body):
    """The size of a picture, and how many bytes of pixels follow its description."""
    _, _, code, width, height = struct.unpack_from(">qHBHH", body)
    planes = (3, 2, 1, 1)[code]
    strides = struct.unpack_from(f">{planes}I", body, 15)
    count = body[15 + 4 * planes]

    def extents(columns, rows):
        half = ((columns + 1) // 2, (rows + 1) // 2)
        if code == 0:
            return [(columns, rows), half, half]
        return [(columns, rows), (2 * half[0], half[1])] if code == 1 else [(4 * columns, rows)]

    if count == 255:
        return (width, height), sum(s * (r - 1) + b for s, (b, r) in zip(strides, extents(width, height)))
    parts = struct.iter_unpack(">4H", body[16 + 4 * planes :])
    return (width, height), sum(b * r for _, _, w, h in parts for b, r in extents(w, h))


def newest(memory):
    """The number and the size of the newest picture in shared memory, or None."""
    (slot_size,) = struct.unpack_from("=Q", memory, 16)
    (slot,) = struct.unpack_from("=Q", memory, 24)
    if slot == 0:
        return None
    start = 4096 + (slot - 1) * slot_size
    (number,) = struct.unpack_from("=Q", memory, start + 8)
    return number, struct.unpack_from("=II", memory, start + 28)


def main():
    place = sys.argv[1]
    mine = os.environb[b"RTCSHARE_MY_TOKEN"]
    peers = os.environb[b"RTCSHARE_PEER_TOKEN"]
    if place.isdigit():
        listener = socket.create_server(("127.0.0.1", int(place)))
    else:
        if os.path.exists(place):
            os.unlink(place)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(place)
        listener.listen()
    accepted = listener.accept()[0]
    if place.isdigit():
        # The last word would wait for an answer to the one before, and be lost.
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection = Connection(accepted)

    def end(*_):
        connection.say(ENDED)
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    (length,) = struct.unpack(">H", connection.read(2))
    if connection.read(length) != peers:
        sys.exit("another token")
    connection.connection.sendall(struct.pack(">H", len(mine)) + mine)
    kind, body = connection.message()
    if kind != HELLO or not body.startswith(b"RTCSHARE"):
        sys.exit("no hello")
    connection.say(WELCOME)
    memory = None
    count = 0
    while True:
        kind, body = connection.message()
        if kind == MEMORY:
            memory = mmap.mmap(connection.descriptors.pop(), 0)
        elif kind == WRITTEN:
            seen = newest(memory)
            if seen:
                print("memory", seen[0], "%dx%d" % seen[1], flush=True)
        elif kind == PICTURE:
            size, length = picture_bytes(body)
            connection.read(length)
            connection.say(TAKEN)
            count += 1
            print("tcp", count, "%dx%d" % size, flush=True)


main()

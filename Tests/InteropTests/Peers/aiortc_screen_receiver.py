#!/usr/bin/env python3
"""Receives a screen with aiortc, and keeps what it decodes: driven as screen_receiver.py is, which says what it reports.

A picture counts as shown when aiortc hands it over, decoded.
"""

import asyncio
import os
import sys
import time

import aiortc
import numpy
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from aiortc_viewer import offer_loopback_where_nothing_else_is, run
from screen_receiver import CONNECT_TIMEOUT, arguments, finish, keep_picture, say


def now_ms():
    return time.monotonic() * 1000


class Receiving:
    def __init__(self, options, report):
        self.options = options
        self.report = report
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connected = asyncio.Event()
        self.ended = asyncio.Event()
        self.current = None
        self.kept = -1
        self.tasks = []
        self.connection.on("connectionstatechange", self.note_state)
        self.connection.on("track", self.note_track)

    def note_state(self):
        state = self.connection.connectionState
        if state == "connected":
            self.connected.set()
        elif state in ("failed", "closed"):
            self.ended.set()

    def note_track(self, track):
        if track.kind == "video":
            self.tasks.append(asyncio.create_task(self.watch(track)))

    async def watch(self, track):
        try:
            while True:
                frame = await track.recv()
                at = now_ms()
                rows = self.luma(frame)
                self.report["frames"].append([at, self.squares(rows)])
                self.report["width"], self.report["height"] = frame.width, frame.height
                self.current = frame
        except MediaStreamError:
            return

    @staticmethod
    def luma(frame):
        plane = frame.planes[0]
        return numpy.frombuffer(plane, numpy.uint8).reshape(-1, plane.line_size)[: frame.height, : frame.width]

    def squares(self, rows):
        """The mean luma of the middle of each square: at its edges the codec's filter mixes neighbours."""
        side = self.options.square * rows.shape[1] / self.options.width

        def middle(start):
            first = int(start + side / 4)
            return slice(first, max(first + 1, int(start + side * 3 / 4)))

        return [round(float(rows[middle(0), middle(index * side)].mean())) for index in range(self.options.squares)]

    async def repeat(self, interval, until, what):
        due = now_ms() + interval
        while due <= until and not self.ended.is_set():
            await asyncio.sleep(max(0, due - now_ms()) / 1000)
            await what()
            due += interval

    async def sample(self):
        if self.current is None:
            return
        frame, number = self.current, len(self.report["frames"]) - 1
        self.report["samples"].append({"at_ms": now_ms(), "frame": number})
        if number == self.kept:
            return
        self.kept = number
        luma = numpy.ascontiguousarray(self.luma(frame)).tobytes()
        entry = await asyncio.to_thread(
            keep_picture, self.options, number, frame.width, frame.height, luma)
        self.report["pictures"].append(entry)

    async def note_statistics(self):
        entries = [vars(entry) for entry in (await self.connection.getStats()).values()]
        inbound = next(
            (entry for entry in entries if entry["type"] == "inbound-rtp" and entry["kind"] == "video"), None)
        received = next((entry["bytesReceived"] for entry in entries if entry["type"] == "transport"), 0)
        kept = {key: inbound[key] for key in ("packetsReceived", "packetsLost")} if inbound else None
        self.report["stats"].append({"at_ms": now_ms(), "inbound": kept, "bytes": received})

    async def run(self):
        offer = await asyncio.to_thread(sys.stdin.read)
        try:
            await self.connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
            await self.connection.setLocalDescription(await self.connection.createAnswer())
            say({"answer": self.connection.localDescription.sdp})
            await asyncio.wait_for(self.connected.wait(), CONNECT_TIMEOUT)
            begun = now_ms()
            say({"connected": begun})
            until = begun + self.options.duration * 1000
            await self.note_statistics()
            await asyncio.gather(
                self.repeat(1000 / self.options.samples, until, self.sample),
                self.repeat(1000, until, self.note_statistics),
            )
            await self.note_statistics()
            if self.ended.is_set():
                self.report["error"] = f"the connection is {self.connection.connectionState}"
        except asyncio.TimeoutError:
            self.report["error"] = f"there is no connection; it is {self.connection.connectionState}"
        finally:
            for task in self.tasks:
                task.cancel()
            await self.connection.close()


async def main():
    options = arguments()
    report = {"receiver": f"aiortc {aiortc.__version__}", "error": None, "replaced_frames": 0}
    report |= {key: [] for key in ("frames", "samples", "pictures", "stats")}
    await run(Receiving(options, report), report)
    finish(options, report)


if __name__ == "__main__":
    offer_loopback_where_nothing_else_is()
    asyncio.run(main())

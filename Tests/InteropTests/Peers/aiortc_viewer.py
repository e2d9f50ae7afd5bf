#!/usr/bin/env python3
"""Answers an offer with aiortc, and reports what it decoded. See viewer_report for the report."""

import asyncio
import os
import signal
import sys

import aioice.ice
import aiortc
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from viewer_report import (
    count_frames,
    empty_report,
    finish,
    now_ms,
    parse_arguments,
    read_offer,
    streams_by_mid,
    write_atomically,
)


def offer_loopback_where_nothing_else_is():
    """aioice skips loopback addresses, and so has no candidate at all on a machine without a network."""
    usual = aioice.ice.get_host_addresses

    def addresses(use_ipv4, use_ipv6):
        return usual(use_ipv4, use_ipv6) or ["127.0.0.1"]

    aioice.ice.get_host_addresses = addresses


class Viewing:
    def __init__(self, options, report):
        self.options = options
        self.report = report
        self.times = []
        self.last = None
        self.shown = None
        self.drains = []

    def receive(self, track):
        return asyncio.create_task(self.count(track) if track is self.shown else self.drain(track))

    async def count(self, track):
        try:
            while True:
                self.last = await track.recv()
                self.times.append(now_ms())
        except MediaStreamError:
            return

    async def drain(self, track):
        """A track that nobody reads would fill aiortc's queue for ever."""
        try:
            while True:
                await track.recv()
        except MediaStreamError:
            return

    def save(self, index, asked):
        frame, at = self.last, now_ms()
        name = f"frame-{index}.png"
        frame.to_image().save(os.path.join(self.options.out, name))
        self.report["snapshots"].append(
            {"file": name, "asked_s": asked, "at_ms": at, "width": frame.width, "height": frame.height}
        )

    async def run(self):
        options, report = self.options, self.report
        offer = read_offer(options.offer)
        streams = streams_by_mid(offer)
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        tracks = []

        @connection.on("connectionstatechange")
        def connection_state():
            report["connection_states"].append({"state": connection.connectionState, "at_ms": now_ms()})

        @connection.on("iceconnectionstatechange")
        def ice_state():
            report["ice_states"].append({"state": connection.iceConnectionState, "at_ms": now_ms()})

        @connection.on("track")
        def track_announced(track):
            tracks.append(track)

        try:
            await connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
            for transceiver in connection.getTransceivers():
                track = transceiver.receiver.track
                if track in tracks:
                    entry = {"kind": track.kind, "id": track.id, "mid": transceiver.mid}
                    entry["streams"] = streams.get(transceiver.mid, [])
                    report["tracks"].append(entry)
                    # With a camera offered beside the screen, the screen is what is judged.
                    is_content = any(stream.endswith("#content") for stream in entry["streams"])
                    if track.kind == "video" and (self.shown is None or is_content):
                        self.shown = track
            if self.shown is None:
                raise RuntimeError("the offer announces no video track")
            self.drains = [self.receive(track) for track in tracks]
            await connection.setLocalDescription(await connection.createAnswer())
            write_atomically(options.answer, connection.localDescription.sdp)
            report["answer_written_ms"] = now_ms()
            await self.watch(connection)
        finally:
            for task in self.drains:
                task.cancel()
            await connection.close()

    async def watch(self, connection):
        options, report = self.options, self.report
        answered = now_ms()
        due = list(enumerate(options.snapshots))
        next_stats = 0
        while True:
            await asyncio.sleep(0.02)
            now = now_ms()
            first = self.times[0] if self.times else None
            if now >= next_stats:
                next_stats = now + 1000
                dump = await connection.getStats()
                report["stats"].append({"at_ms": now, "stats": [vars(entry) for entry in dump.values()]})
            while first and due and now >= first + due[0][1] * 1000:
                await asyncio.to_thread(self.save, *due.pop(0))
            if first and now >= first + options.duration * 1000:
                break
            if connection.connectionState in ("failed", "closed"):
                if not first:
                    report["error"] = f"the connection is {connection.connectionState}, before a frame was decoded"
                break
            if not first and now >= answered + options.connect_timeout * 1000:
                report["error"] = (
                    f"no frame within {options.connect_timeout} s of the answer; connection:"
                    f" {connection.connectionState}, ICE: {connection.iceConnectionState}"
                )
                break
        if self.last:
            report["width"], report["height"] = self.last.width, self.last.height
        count_frames(report, self.times, now_ms())


async def main():
    options = parse_arguments(__doc__.splitlines()[0])
    report = empty_report(f"aiortc {aiortc.__version__}")
    viewing = Viewing(options, report)
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await viewing.run()
    except asyncio.CancelledError:
        sys.exit(143)
    except Exception as error:  # whatever the library raises on an offer belongs in the report
        report["error"] = f"{type(error).__name__}: {error}"
    finish(options, report)


if __name__ == "__main__":
    offer_loopback_where_nothing_else_is()
    asyncio.run(main())

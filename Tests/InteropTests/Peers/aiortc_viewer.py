#!/usr/bin/env python3
"""Answers an offer with aiortc, and reports what it decoded. See viewer_report for the report."""

import asyncio
import os
import signal
import sys

import aioice.ice
import aiortc
from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from aiortc_tracks import SenderClock, SoundWatch, VideoWatch
from viewer_media import compare
from viewer_report import (
    ask_for_stereo,
    count_frames,
    empty_report,
    finish,
    further,
    further_offer,
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
        # By its default aiortc gives sound a transport of its own, and leaves a second sound on it when the first moves.
        configuration = RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        self.connection = RTCPeerConnection(configuration)
        self.watches = []
        self.main = None
        self.tasks = []

    def note_states(self):
        connection, report = self.connection, self.report

        @connection.on("connectionstatechange")
        def connection_state():
            report["connection_states"].append({"state": connection.connectionState, "at_ms": now_ms()})

        @connection.on("iceconnectionstatechange")
        def ice_state():
            report["ice_states"].append({"state": connection.iceConnectionState, "at_ms": now_ms()})

    async def answer(self, offer, index):
        taken = now_ms()
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
        self.watch_tracks(streams_by_mid(offer))
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        answer = ask_for_stereo(self.connection.localDescription.sdp, offer)
        write_atomically(further(self.options.answer, index), answer)
        self.report["negotiations"].append({"offer_ms": taken, "answer_ms": now_ms()})

    def watch_tracks(self, streams):
        """Watches what the last offer brought. The first video of the first offer, or its #content, is the main one."""
        known = [watch.track for watch in self.watches]
        found = []
        for transceiver in self.connection.getTransceivers():
            track = transceiver.receiver.track
            if track is None or track in known:
                continue
            entry = {"kind": track.kind, "id": track.id, "mid": transceiver.mid}
            entry["streams"] = streams.get(transceiver.mid, [])
            entry["events"] = [{"event": "track", "at_ms": now_ms()}]
            self.report["tracks"].append(entry)
            kind = VideoWatch if track.kind == "video" else SoundWatch
            watch = kind(track, SenderClock(transceiver.receiver), entry)
            track.on("ended", watch.note_end)
            found.append(watch)
        if self.main is None:
            videos = [watch for watch in found if watch.track.kind == "video"]
            if not videos:
                raise RuntimeError("the offer announces no video track")
            # With a camera offered beside the screen, the screen is what is judged.
            shared = [watch for watch in videos if (watch.stream or "").endswith("#content")]
            self.main = (shared + videos)[0]
        self.watches += found
        self.tasks += [asyncio.create_task(self.receive(watch)) for watch in found]

    async def receive(self, watch):
        """Each track is read: one that nobody reads would fill aiortc's queue for ever."""
        try:
            while True:
                watch.take(await watch.track.recv(), now_ms())
        except MediaStreamError:
            return
        except Exception as error:  # the other tracks are worth watching all the same
            self.report["errors"].append({"message": f"{type(error).__name__}: {error}", "at_ms": now_ms()})

    def save(self, index, asked):
        for number, watch in enumerate(watch for watch in self.watches if watch.track.kind == "video"):
            frame, at = watch.last, now_ms()
            if frame is None:
                continue
            name = f"frame-{index}.png" if watch is self.main else f"video-{number}-frame-{index}.png"
            frame.to_image().save(os.path.join(self.options.out, name))
            entry = {"file": name, "asked_s": asked, "at_ms": at, "width": frame.width, "height": frame.height}
            watch.snapshots.append(entry)
            if watch is self.main:
                self.report["snapshots"].append(entry)

    async def run(self):
        self.note_states()
        try:
            await self.answer(read_offer(self.options.offer), 1)
            self.report["answer_written_ms"] = self.report["negotiations"][0]["answer_ms"]
            await self.watch()
        finally:
            for task in self.tasks:
                task.cancel()
            await self.connection.close()
        self.describe(now_ms())

    async def watch(self):
        options, report, connection, times = self.options, self.report, self.connection, self.main.times
        answered = now_ms()
        due = list(enumerate(options.snapshots))
        next_stats = 0
        while True:
            await asyncio.sleep(0.02)
            now = now_ms()
            first = times[0] if times else None
            if now >= next_stats:
                next_stats = now + 1000
                dump = await connection.getStats()
                report["stats"].append({"at_ms": now, "stats": [vars(entry) for entry in dump.values()]})
            index = len(report["negotiations"]) + 1
            offer = further_offer(options, index)
            if offer:
                await self.answer(offer, index)
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

    def describe(self, until_ms):
        report, main = self.report, self.main
        if main.last:
            report["width"], report["height"] = main.last.width, main.last.height
        count_frames(report, main.times, until_ms)
        # Times of one clock only are compared: the sender's where its reports tell it for every track.
        by_sender = all(watch.clock.is_known for watch in self.watches if watch.was_received)
        report["av_clock"] = "sender reports" if by_sender else "arrival"
        for watch in self.watches:
            key = "videos" if watch.track.kind == "video" else "sounds"
            report[key].append(watch.describe(until_ms, by_sender))
        compare(report, main.track.id)


async def run(receiver, report):
    """Has it receive until it ends, or SIGTERM comes."""
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    try:
        await receiver.run()
    except asyncio.CancelledError:
        sys.exit(143)
    except Exception as error:  # whatever the library raises on an offer belongs in the report
        report["error"] = f"{type(error).__name__}: {error}"


async def main():
    options = parse_arguments(__doc__.splitlines()[0])
    report = empty_report(f"aiortc {aiortc.__version__}")
    await run(Viewing(options, report), report)
    finish(options, report)


if __name__ == "__main__":
    offer_loopback_where_nothing_else_is()
    asyncio.run(main())

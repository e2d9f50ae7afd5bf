#!/usr/bin/env python3
"""Answers an offer with GStreamer's webrtcbin, and reports what it decoded. See viewer_report for the report.

With a link of a share as `--offer`, it plays that by WHEP, with the TURN servers that the share offers, and writes the
server's answer.

`--check` alone says by its status whether this Python has all that is needed.
"""

import os
import signal
import struct
import sys
import threading
import time
import urllib.parse
import urllib.request
import zlib

from viewer_report import (
    count_frames,
    empty_report,
    finish,
    now_ms,
    parse_arguments,
    read_offer,
    streams_by_mid,
    turn_servers,
    write_atomically,
)

ELEMENTS = ("webrtcbin", "nicesrc", "dtlsdec", "srtpdec", "rtpvp8depay", "vp8dec", "videoconvert", "appsink")
DECODERS = {
    "VP8": "rtpvp8depay request-keyframe=true wait-for-keyframe=true ! vp8dec",
    "H264": "rtph264depay request-keyframe=true wait-for-keyframe=true ! h264parse ! openh264dec",
}


def load():
    import gi

    for name, version in (("Gst", "1.0"), ("GstSdp", "1.0"), ("GstWebRTC", "1.0")):
        gi.require_version(name, version)
    from gi.repository import GLib, Gst, GstSdp, GstWebRTC

    Gst.init(None)
    missing = [name for name in ELEMENTS if not Gst.ElementFactory.find(name)]
    if missing:
        raise ImportError(f"GStreamer has no {', '.join(missing)}")
    return GLib, Gst, GstSdp, GstWebRTC


def png(width, height, stride, pixels):
    """An RGB picture as PNG, for Debian's Python without Pillow."""
    rows = b"".join(b"\0" + pixels[y * stride : y * stride + 3 * width] for y in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


class Viewing:
    def __init__(self, options, report, modules):
        self.GLib, self.Gst, self.GstSdp, self.GstWebRTC = modules
        self.options = options
        self.report = report
        self.offer = None
        self.times = []
        self.last = None
        self.session = None  # the request that ends it
        self.pipeline = self.Gst.Pipeline.new("viewer")
        self.peer = self.Gst.ElementFactory.make("webrtcbin")
        self.peer.set_property("bundle-policy", self.GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.pipeline.add(self.peer)
        self.peer.connect("pad-added", self.pad_added)
        self.peer.connect("on-new-transceiver", self.transceiver_added)
        self.peer.connect("notify::connection-state", self.state_changed, "connection-state", "connection_states")
        self.peer.connect("notify::ice-connection-state", self.state_changed, "ice-connection-state", "ice_states")

    def state_changed(self, peer, _, name, key):
        self.report[key].append({"state": peer.get_property(name).value_nick, "at_ms": now_ms()})

    def transceiver_added(self, _, transceiver):
        transceiver.set_property("do-nack", True)
        if self.options.corrections:
            transceiver.set_property("fec-type", self.GstWebRTC.WebRTCFECType.ULP_RED)
        # Otherwise it answers with the first codec alone.
        if transceiver.get_property("kind") == self.GstWebRTC.WebRTCKind.VIDEO and self.options.codec:
            caps = f"application/x-rtp,media=video,encoding-name={self.options.codec.upper()}"
            transceiver.set_property("codec-preferences", self.Gst.Caps.from_string(caps))

    def pad_added(self, _, pad):
        if pad.get_direction() != self.Gst.PadDirection.SRC:
            return
        caps = pad.get_current_caps() or pad.query_caps(None)
        structure = caps.get_structure(0)
        transceiver = pad.get_property("transceiver")
        mid = transceiver.get_property("mid")
        streams = streams_by_mid(self.offer).get(mid, [])
        kind = structure.get_string("media")
        track = {"kind": kind, "id": pad.get_property("msid"), "mid": mid, "streams": streams}
        self.report["tracks"].append(track)
        decoder = DECODERS.get(structure.get_string("encoding-name"))
        shown = kind == "video" and decoder is not None
        description = (
            f"{decoder} ! videoconvert ! video/x-raw,format=RGB"
            " ! appsink name=sink sync=false max-buffers=4 emit-signals=true"
            if shown
            else "fakesink sync=false"
        )
        chain = self.Gst.parse_bin_from_description(description, True)
        if shown:
            chain.get_by_name("sink").connect("new-sample", self.frame_decoded)
        self.pipeline.add(chain)
        chain.sync_state_with_parent()
        pad.link(chain.get_static_pad("sink"))

    def frame_decoded(self, sink):
        sample = sink.emit("pull-sample")
        structure = sample.get_caps().get_structure(0)
        self.report["width"] = structure.get_value("width")
        self.report["height"] = structure.get_value("height")
        self.last = sample
        self.times.append(now_ms())
        return self.Gst.FlowReturn.OK

    def save(self, index, asked):
        sample, at = self.last, now_ms()
        structure = sample.get_caps().get_structure(0)
        width, height = structure.get_value("width"), structure.get_value("height")
        buffer = sample.get_buffer()
        stride = (3 * width + 3) // 4 * 4
        name = f"frame-{index}.png"
        picture = png(width, height, stride, buffer.extract_dup(0, buffer.get_size()))
        write_atomically(os.path.join(self.options.out, name), picture)
        self.report["snapshots"].append(
            {"file": name, "asked_s": asked, "at_ms": at, "width": width, "height": height}
        )

    def promised(self, signal_name, *arguments):
        """The reply to an action of webrtcbin, which comes on a thread of its own."""
        promise = self.Gst.Promise.new()
        self.peer.emit(signal_name, *arguments, promise)
        if promise.wait() != self.Gst.PromiseResult.REPLIED:
            raise RuntimeError(f"webrtcbin did not reply to {signal_name}")
        reply = promise.get_reply()
        if reply is not None and reply.has_field("error"):
            raise RuntimeError(f"{signal_name}: {reply.get_value('error').message}")
        return promise, reply

    def take(self, kind, text):
        """Takes the other side's description over."""
        self.offer = text  # the description that names the streams
        result, message = self.GstSdp.SDPMessage.new_from_text(text)
        if result != self.GstSdp.SDPResult.OK:
            raise RuntimeError("GStreamer can't parse the description")
        self.promised("set-remote-description", self.GstWebRTC.WebRTCSessionDescription.new(kind, message))

    def describe(self, kind):
        """Makes the own description, an offer or an answer, with all candidates."""
        # The reply owns the description in it, and its promise the reply: both live until it is taken over.
        promise, reply = self.promised(f"create-{kind}", None)
        self.promised("set-local-description", reply.get_value(kind))
        del reply, promise
        deadline = time.monotonic() + 20
        while self.peer.get_property("ice-gathering-state") != self.GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            if time.monotonic() > deadline:
                raise RuntimeError("webrtcbin never finished gathering candidates")
            time.sleep(0.02)
        return self.peer.get_property("local-description").sdp.as_text()

    def answer(self):
        self.take(self.GstWebRTC.WebRTCSDPType.OFFER, read_offer(self.options.offer))
        return self.describe("answer")

    def play(self):
        """Offers to receive a video, and returns the answer of the share."""
        caps = self.Gst.Caps.from_string("application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000")
        self.peer.emit("add-transceiver", self.GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, caps)
        address, token = urllib.parse.urldefrag(self.options.offer)
        headers = {"Content-Type": "application/sdp", "Authorization": f"Bearer {token}"}
        asking = urllib.request.Request(f"{address}whep", headers=headers, method="OPTIONS")
        with urllib.request.urlopen(asking, timeout=20) as response:
            for server in turn_servers(response.headers.get_all("Link")):
                self.add_server(*server)
        request = urllib.request.Request(f"{address}whep", headers=headers, data=self.describe("offer").encode())
        with urllib.request.urlopen(request, timeout=20) as response:
            self.session = urllib.request.Request(
                urllib.parse.urljoin(request.full_url, response.headers["Location"]), headers=headers, method="DELETE")
            text = response.read().decode()
        self.take(self.GstWebRTC.WebRTCSDPType.ANSWER, text)
        return text

    def add_server(self, url, user, password):
        """Uses a TURN server, whose URL webrtcbin wants with the credentials in it."""
        scheme, _, rest = url.partition(":")
        if not self.peer.emit("add-turn-server", f"{scheme}://{user}:{password}@{rest}"):
            raise RuntimeError(f"webrtcbin does not take {url}")

    def negotiate(self):
        begin = now_ms()
        text = self.play() if self.options.offer.startswith("http") else self.answer()
        write_atomically(self.options.answer, text)
        end = self.report["answer_written_ms"] = now_ms()
        self.report["negotiations"].append({"offer_ms": begin, "answer_ms": end})

    def bus_error(self):
        message = self.pipeline.get_bus().pop_filtered(self.Gst.MessageType.ERROR)
        if message:
            error, detail = message.parse_error()
            raise RuntimeError(f"GStreamer: {error.message} ({detail})")

    def watch(self):
        options, report = self.options, self.report
        answered = now_ms()
        due = list(enumerate(options.snapshots))
        while True:
            time.sleep(0.02)
            self.bus_error()
            now = now_ms()
            first = self.times[0] if self.times else None
            while first and due and now >= first + due[0][1] * 1000:
                self.save(*due.pop(0))
            if first and now >= first + options.duration * 1000:
                break
            state = self.peer.get_property("connection-state").value_nick
            if state in ("failed", "closed"):
                if not first:
                    report["error"] = f"the connection is {state}, before a frame was decoded"
                break
            if not first and now >= answered + options.connect_timeout * 1000:
                ice = self.peer.get_property("ice-connection-state").value_nick
                report["error"] = (
                    f"no frame within {options.connect_timeout} s of the answer; connection: {state}, ICE: {ice}"
                )
                break
        count_frames(report, list(self.times), now_ms())

    def count_corrected(self):
        """The packets that forward error correction has recovered."""
        elements = self.peer.iterate_all_by_element_factory_name("rtpulpfecdec")
        self.report["packets_corrected"] = 0
        while True:
            result, element = elements.next()
            if result != self.Gst.IteratorResult.OK:
                break
            self.report["packets_corrected"] += element.get_property("recovered")

    def run(self):
        loop = self.GLib.MainLoop()
        threading.Thread(target=loop.run, daemon=True).start()
        self.pipeline.set_state(self.Gst.State.PLAYING)
        try:
            self.negotiate()
            self.watch()
            self.count_corrected()
        finally:
            if self.session:
                urllib.request.urlopen(self.session, timeout=20).close()
            self.pipeline.set_state(self.Gst.State.NULL)
            loop.quit()


def add_options(parser):
    parser.add_argument("--codec", help="the only codec of the answer")
    parser.add_argument("--corrections", action="store_true", help="accept forward error correction")


def main():
    if sys.argv[1:] == ["--check"]:
        try:
            load()
        except (ImportError, ValueError) as error:
            sys.exit(f"{error}")
        return
    options = parse_arguments(__doc__.splitlines()[0], add_options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # Ends with the first frame.
    signal.signal(signal.SIGINT, lambda *_: setattr(options, "duration", 0))
    report = empty_report("GStreamer")
    try:
        modules = load()
        report["viewer"] = modules[1].version_string()
        Viewing(options, report, modules).run()
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        report["error"] = f"{type(error).__name__}: {error}"
    finish(options, report)


if __name__ == "__main__":
    main()

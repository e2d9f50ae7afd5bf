#!/usr/bin/env python3
"""Sends an X11 display with GStreamer's ximagesrc, vp8enc and webrtcbin: what rtcbench sets rtcshare beside.

The offer, with every candidate, goes to standard output, which is closed behind it; the answer is read from standard
input to its end. Sends until SIGTERM. `--check` alone says by its status whether this Python has all that is needed;
`--describe` prints the pipeline and GStreamer's version.

The encoder's settings are those of webrtcsink, GStreamer's own WebRTC sender (deadline, cpu-used, rate control with a
small buffer, no key frame unless it is asked for), with libwebrtc's static threshold for screens, which spares both
processor time and bits, and with its dropping of frames where they exceed the bitrate: by itself vp8enc drops none, and
goes to several times its bitrate where text scrolls (--dropframe-threshold 0). `use-damage` is off, as in most pipelines for screens: at
1080p that took less processor time a frame and kept the frame rate, where damage had ximagesrc fetch one rectangle after
the other. The colours are BT.601, as VP8 has them: left to itself, videoconvert would choose BT.709 from 720 lines on.

With --pattern it sends a test pattern and a tone, not a display.
"""

import argparse
import os
import signal
import sys
import threading
import time

ELEMENTS = ("ximagesrc", "videoconvert", "vp8enc", "rtpvp8pay", "webrtcbin", "nicesink", "dtlsenc", "srtpenc")


def load():
    import gi

    for name, version in (("Gst", "1.0"), ("GstSdp", "1.0"), ("GstWebRTC", "1.0")):
        gi.require_version(name, version)
    from gi.repository import Gst, GstSdp, GstWebRTC

    Gst.init(None)
    missing = [name for name in ELEMENTS if not Gst.ElementFactory.find(name)]
    if missing:
        raise ImportError(f"GStreamer has no {', '.join(missing)}")
    return Gst, GstSdp, GstWebRTC


def description(options):
    encoder = (
        f"vp8enc name=encoder deadline=1 cpu-used={options.cpu_used} end-usage=cbr"
        f" target-bitrate={options.bitrate * 1000} threads={options.threads} lag-in-frames=0"
        " keyframe-mode=disabled keyframe-max-dist=2147483647 max-intra-bitrate=250"
        " buffer-initial-size=100 buffer-optimal-size=120 buffer-size=150"
        f" error-resilient=default static-threshold={options.static_threshold}"
        f" dropframe-threshold={options.dropframe_threshold}"
    )
    return (
        f"ximagesrc use-damage={options.use_damage} show-pointer=true"
        f" ! video/x-raw,framerate={options.framerate}/1"
        " ! queue max-size-buffers=1 leaky=downstream ! videoconvert"
        " ! video/x-raw,format=I420,colorimetry=bt601"
        f" ! {encoder} ! rtpvp8pay picture-id-mode=15-bit mtu=1200"
        " ! application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000"
        " ! webrtcbin name=peer bundle-policy=max-bundle"
    )


def pattern(options):
    encoder, payloader = {
        "VP8": ("vp8enc deadline=1 keyframe-max-dist=2147483647", "rtpvp8pay picture-id-mode=15-bit mtu=1200"),
        "H264": ("openh264enc gop-size=0 complexity=low", "rtph264pay aggregate-mode=zero-latency mtu=1200"),
    }[options.codec]
    return (
        f"videotestsrc is-live=true pattern=ball ! video/x-raw,width=320,height=240,framerate={options.framerate}/1"
        f" ! {encoder} ! {payloader} ! application/x-rtp,media=video,encoding-name={options.codec},payload=96"
        " ! webrtcbin name=peer bundle-policy=max-bundle"
        " audiotestsrc is-live=true ! audioconvert ! opusenc ! rtpopuspay"
        " ! application/x-rtp,media=audio,encoding-name=OPUS,payload=97 ! peer."
    )


def promised(gst, peer, name, *arguments):
    """The reply to an action of webrtcbin, which comes on a thread of its own."""
    promise = gst.Promise.new()
    peer.emit(name, *arguments, promise)
    if promise.wait() != gst.PromiseResult.REPLIED:
        raise RuntimeError(f"webrtcbin did not reply to {name}")
    reply = promise.get_reply()
    if reply is not None and reply.has_field("error"):
        raise RuntimeError(f"{name}: {reply.get_value('error').message}")
    return promise, reply


def run(options):
    gst, gst_sdp, gst_webrtc = load()
    pipeline = gst.parse_launch(pattern(options) if options.pattern else description(options))
    peer = pipeline.get_by_name("peer")
    for index in range(2 if options.pattern else 1):
        transceiver = peer.emit("get-transceiver", index)
        transceiver.set_property("direction", gst_webrtc.WebRTCRTPTransceiverDirection.SENDONLY)
        transceiver.set_property("do-nack", index == 0)
    negotiable = threading.Event()
    peer.connect("on-negotiation-needed", lambda *_: negotiable.set())
    pipeline.set_state(gst.State.PLAYING)
    try:
        if not negotiable.wait(10):
            raise RuntimeError("webrtcbin never asked to negotiate")
        # The offer has the parameters of H.264 only once the payloader knows them.
        deadline = time.monotonic() + 10
        while not all(pad.get_current_caps() for pad in peer.sinkpads) and time.monotonic() < deadline:
            time.sleep(0.01)
        # The reply owns the offer in it, and its promise the reply: both live until the offer is taken over.
        promise, reply = promised(gst, peer, "create-offer", None)
        promised(gst, peer, "set-local-description", reply.get_value("offer"))
        del reply, promise
        deadline = time.monotonic() + 20
        while peer.get_property("ice-gathering-state") != gst_webrtc.WebRTCICEGatheringState.COMPLETE:
            if time.monotonic() > deadline:
                raise RuntimeError("webrtcbin never finished gathering candidates")
            time.sleep(0.01)
        sys.stdout.write(peer.get_property("local-description").sdp.as_text())
        sys.stdout.flush()
        # Python would keep the descriptor open: whoever reads waits for its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        result, message = gst_sdp.SDPMessage.new_from_text(sys.stdin.read())
        if result != gst_sdp.SDPResult.OK:
            raise RuntimeError("GStreamer can't parse the answer")
        answer = gst_webrtc.WebRTCSessionDescription.new(gst_webrtc.WebRTCSDPType.ANSWER, message)
        promised(gst, peer, "set-remote-description", answer)
        # The bus is waited on, so that this script itself costs nothing while it sends.
        message = pipeline.get_bus().timed_pop_filtered(gst.CLOCK_TIME_NONE, gst.MessageType.ERROR)
        error, detail = message.parse_error()
        raise RuntimeError(f"GStreamer: {error.message} ({detail})")
    finally:
        pipeline.set_state(gst.State.NULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--bitrate", type=int, default=2500, help="kbit/s")
    parser.add_argument("--framerate", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pattern", action="store_true", help="send a test pattern and a tone, not a display")
    parser.add_argument("--codec", default="VP8", help="of the pattern: VP8 or H264")
    parser.add_argument("--cpu-used", type=int, default=-16)
    parser.add_argument("--static-threshold", type=int, default=100)
    parser.add_argument("--dropframe-threshold", type=int, default=30, help="per cent of the rate control's buffer")
    parser.add_argument("--use-damage", choices=("true", "false"), default="false")
    options = parser.parse_args()
    # A pipeline in C is waited on, where Python would see no signal: the default action ends the process.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        if options.check:
            load()
        elif options.describe:
            print(load()[0].version_string())
            print(description(options))
        else:
            run(options)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

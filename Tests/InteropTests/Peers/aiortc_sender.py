#!/usr/bin/env python3
"""Sends an X11 display with aiortc: a second sender that rtcbench sets rtcshare beside. Driven as gstreamer_sender.py is.

The screen is grabbed by FFmpeg's x11grab, as PyAV brings it. aiortc's own VP8 encoder begins at a rate of its own and
goes no higher than a fixed one: both are set to the bitrate that is asked for. What x11grab gives is marked as key
frames, and aiortc would encode each picture as one, at ten times the bitrate: the mark is taken off.

With --pattern it sends the video and audio of whep_server.py, not a display.
"""

import argparse
import asyncio
import os
import signal
import sys


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--bitrate", type=int, default=2500, help="kbit/s")
    parser.add_argument("--framerate", type=int, default=30)
    parser.add_argument("--pattern", action="store_true", help="send a test pattern and a tone, not a display")
    parser.add_argument("--codec", default="VP8", help="VP8 or H264")
    return parser.parse_args()


def load():
    import av
    import aiortc
    from aiortc.codecs import vpx

    if "x11grab" not in av.formats_available:
        raise ImportError("PyAV has no x11grab")
    return aiortc, vpx


async def run(chosen):
    aiortc, vpx = load()
    from aiortc.contrib.media import MediaPlayer
    from av.video.frame import PictureType

    class Unmarked(aiortc.VideoStreamTrack):
        def __init__(self, source):
            super().__init__()
            self.source = source

        async def recv(self):
            frame = await self.source.recv()
            frame.pict_type = PictureType.NONE
            return frame

    vpx.DEFAULT_BITRATE = vpx.MAX_BITRATE = chosen.bitrate * 1000
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    grab = {"framerate": str(chosen.framerate), "draw_mouse": "1"}
    peer = aiortc.RTCPeerConnection(aiortc.RTCConfiguration(iceServers=[]))
    if chosen.pattern:
        import whep_server

        whep_server.offer_loopback_where_nothing_else_is()
        peer.addTransceiver(whep_server.Stripes(), direction="sendonly")
        peer.addTransceiver(whep_server.Tone(), direction="sendonly")
    else:
        player = MediaPlayer(os.environ["DISPLAY"], format="x11grab", options=grab)
        peer.addTransceiver(Unmarked(player.video), direction="sendonly")
    codecs = aiortc.RTCRtpSender.getCapabilities("video").codecs
    peer.getTransceivers()[0].setCodecPreferences([codec for codec in codecs if codec.name in (chosen.codec, "rtx")])
    await peer.setLocalDescription(await peer.createOffer())
    sys.stdout.write(peer.localDescription.sdp)
    sys.stdout.flush()
    # Python would keep the descriptor open: whoever reads waits for its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    answer = await loop.run_in_executor(None, sys.stdin.read)
    await peer.setRemoteDescription(aiortc.RTCSessionDescription(sdp=answer, type="answer"))
    await stopped.wait()
    await peer.close()


def main():
    chosen = options()
    try:
        if chosen.check:
            load()
        elif chosen.describe:
            print(f"aiortc {load()[0].__version__}")
            print(f"x11grab at {chosen.framerate} frames a second, VP8 at no more than {chosen.bitrate} kbit/s")
        else:
            asyncio.run(run(chosen))
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

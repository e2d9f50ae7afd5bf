#!/usr/bin/env python3
"""A WHIP server (RFC 9725) made of aiortc: decodes what is published, and says how much that was.

Prints the URL of its endpoint, and then lines of JSON: each request, as {method, path, authorization, port}, and what was
decoded of each session, whenever that is more by a good deal, as {session, frames, width, height, colours, level}. `colours`
is how many different ones the newest picture has, `level` the largest sample so far, full scale being 1. With --redirect the
URL is that of another server, at another port, which answers 307 to this one. With --codec it takes video of this codec only, with --first
of the offer's first one, and with --profile its answer names another profile of H.264, as servers do that know only that one, or with "none" no
parameters.
"""

import argparse
import asyncio
import re

import numpy
from aiortc import RTCRtpReceiver
from aiortc.mediastreams import MediaStreamError

from aiortc_viewer import offer_loopback_where_nothing_else_is
from http_sessions import Sessions, block_signals, serve, tell, wait_for_end

PATH = "/live/whip"
FRAMES_BETWEEN_REPORTS = 5


class Published:
    """What one session was sent."""

    count = 0

    def __init__(self, connection, codec=None):
        if codec:
            known = RTCRtpReceiver.getCapabilities("video").codecs
            preferred = [one for one in known if one.name in (codec, "rtx")]
            connection.addTransceiver("video", direction="recvonly").setCodecPreferences(preferred)
        Published.count += 1
        self.seen = {"session": Published.count, "frames": 0, "level": 0.0}
        connection.on("track", lambda track: asyncio.ensure_future(self.receive(track)))

    async def receive(self, track):
        take = self.take_picture if track.kind == "video" else self.take_sound
        try:
            while True:
                take(await track.recv())
        except MediaStreamError:
            pass

    def take_picture(self, frame):
        self.seen["frames"] += 1
        if self.seen["frames"] % FRAMES_BETWEEN_REPORTS:
            return
        luma = frame.to_ndarray(format="gray")
        tell(self.seen | {"width": frame.width, "height": frame.height, "colours": len(numpy.unique(luma))})

    def take_sound(self, frame):
        self.seen["level"] = max(self.seen["level"], float(abs(frame.to_ndarray().astype(int)).max()) / 32768)


def edited(answer, first, profile):
    """The answer with only its first codec of video, and with another profile of H.264, or without its parameters."""
    if first:
        answer = re.sub(r"(m=video \d+ \S+ \d+)[ \d]*", r"\1", answer)
    if profile == "none":
        return re.sub(r"a=fmtp:\d+ [^\r\n]*profile-level-id[^\r\n]*\r\n", "", answer)
    return re.sub(r"profile-level-id=\w+", f"profile-level-id={profile}", answer) if profile else answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--token", help="who shows another gets 401, with a sentence")
    parser.add_argument("--redirect", action="store_true")
    parser.add_argument("--bind", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--link", action="append", help="what a Link header says, for the usual")
    parser.add_argument("--tls", nargs=2, metavar=("CERTIFICATE", "KEY"))
    parser.add_argument("--codec", help="the only codec of video that is taken, such as H264")
    parser.add_argument("--first", action="store_true", help="takes the first codec of an offer only")
    parser.add_argument("--profile", help="the profile-level-id of the answer, or none")
    options = parser.parse_args()
    block_signals()
    sessions = Sessions(
        lambda connection: Published(connection, options.codec),
        lambda answer: edited(answer, options.first, options.profile),
    )
    # aiortc restarts no ICE.
    url = serve(options, sessions, PATH, port=0 if options.redirect else options.port, patched=405)
    print(serve(options, sessions, PATH, location=url) if options.redirect else url, flush=True)
    wait_for_end(sessions)


if __name__ == "__main__":
    offer_loopback_where_nothing_else_is()
    main()

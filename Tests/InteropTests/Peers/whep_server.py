#!/usr/bin/env python3
"""A WHEP server (draft-ietf-wish-whep) made of aiortc: shows a picture that moves, and 440 Hz.

Prints the URL of its endpoint, and then each request as a line of JSON: {method, path, authorization, port}. With
--redirect the URL is that of another server, at another port, which answers 307 to this one.
"""

import argparse
import fractions

import av
import numpy
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack

from aiortc_viewer import offer_loopback_where_nothing_else_is
from http_sessions import Sessions, block_signals, serve, wait_for_end

WIDTH, HEIGHT = 320, 240
RATE, SAMPLES = 48000, 960
PATH = "/live/whep"


class Stripes(VideoStreamTrack):
    async def recv(self):
        pts, base = await self.next_timestamp()
        picture = numpy.zeros((HEIGHT, WIDTH, 3), numpy.uint8)
        begin = pts // 3000 * 4 % WIDTH
        picture[:, begin : begin + 40] = (200, 80, 40)
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = pts, base
        return frame


class Tone(AudioStreamTrack):
    count = 0

    async def recv(self):
        # The silence of the class below is given in time.
        silence = await super().recv()
        time = (numpy.arange(SAMPLES) + self.count) / RATE
        samples = (8000 * numpy.sin(2 * numpy.pi * 440 * time)).astype(numpy.int16)
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = RATE, self.count, fractions.Fraction(1, RATE)
        self.count += silence.samples * RATE // silence.sample_rate
        return frame


def prepare(connection):
    connection.addTrack(Stripes())
    connection.addTrack(Tone())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--token", help="who shows another gets 401, with a sentence")
    parser.add_argument("--redirect", action="store_true")
    options = parser.parse_args()
    block_signals()
    sessions = Sessions(prepare)
    url = serve(options, sessions, PATH)
    print(serve(options, sessions, PATH, location=url) if options.redirect else url, flush=True)
    wait_for_end(sessions)


if __name__ == "__main__":
    offer_loopback_where_nothing_else_is()
    main()

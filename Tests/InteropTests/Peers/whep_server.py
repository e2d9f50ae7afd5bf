#!/usr/bin/env python3
"""A WHEP server (draft-ietf-wish-whep) made of aiortc: shows a picture that moves, and 440 Hz.

Prints the URL of its endpoint, and then each request as a line of JSON: {method, path, authorization, port}. With
--redirect the URL is that of another server, at another port, which answers 307 to this one.
"""

import argparse
import asyncio
import fractions
import http.server
import json
import os
import signal
import threading

import av
import numpy
from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import AudioStreamTrack, VideoStreamTrack

from aiortc_viewer import offer_loopback_where_nothing_else_is

WIDTH, HEIGHT = 320, 240
RATE, SAMPLES = 48000, 960
SENTENCE = "the door is closed today"


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


class Sessions:
    """The peer connections, which live on a loop of their own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.connections = {}

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(20)

    async def begin(self, offer):
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        connection.addTrack(Stripes())
        connection.addTrack(Tone())
        await connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
        await connection.setLocalDescription(await connection.createAnswer())
        key = str(len(self.connections) + 1)
        self.connections[key] = connection
        return key, connection.localDescription.sdp

    async def end(self, key):
        connection = self.connections.pop(key, None)
        if connection:
            await connection.close()
        return connection is not None


def serve(options, sessions, location=None):
    """A server at a port of its own; with a location, one that leads there."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, status, headers=(), body=b""):
            self.send_response(status)
            for name, value in [*headers, ("Content-Length", str(len(body)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def take(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            authorization = self.headers.get("Authorization")
            entry = {"method": self.command, "path": self.path, "port": self.server.server_port}
            print(json.dumps({**entry, "authorization": authorization}), flush=True)
            if location:
                self.answer(307, [("Location", location)])
                return None
            if options.token and authorization != f"Bearer {options.token}":
                problem = json.dumps({"type": "about:blank", "title": "Unauthorized", "detail": SENTENCE})
                self.answer(401, [("Content-Type", "application/problem+json")], problem.encode())
                return None
            return body

        def do_POST(self):
            body = self.take()
            if body is None:
                return
            key, answer = sessions.run(sessions.begin(body))
            self.answer(201, [
                ("Content-Type", "application/sdp"),
                # Relative to the endpoint, whose last segment it takes the place of (RFC 3986 section 5.3).
                ("Location", f"sessions/{key}?of=alice"),
                ("ETag", '"first"'),
                ("Link", '<stun:127.0.0.1:9>; rel="ice-server"'),
                ("Link", '<turn:127.0.0.1:9?transport=udp>; credential-type="password"; credential="a;b,c"; username="u"; rel=ice-server'),
            ], answer.encode())  # fmt: skip

        def do_PATCH(self):
            if self.take() is not None:
                self.answer(204)

        def do_DELETE(self):
            if self.take() is not None:
                key = self.path.partition("/sessions/")[2].partition("?")[0]
                self.answer(200 if sessions.run(sessions.end(key)) else 404)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/live/whep"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--token", help="who shows another gets 401, with a sentence")
    parser.add_argument("--redirect", action="store_true")
    options = parser.parse_args()
    # Before there are threads, which would take the signal with the action that it had.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    sessions = Sessions()
    url = serve(options, sessions)
    print(serve(options, sessions, location=url) if options.redirect else url, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    os._exit(0)


if __name__ == "__main__":
    offer_loopback_where_nothing_else_is()
    main()

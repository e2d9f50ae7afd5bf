#!/usr/bin/env python3
"""Receives a screen with a headless Chromium, and keeps what it shows: a receiver that rtcbench viewer sets senders before.

The offer comes on standard input, to its end. Lines of JSON go to standard output:

    {"answer": SDP}        once all candidates are known
    {"connected": at_ms}   when the connection stands

and at the end report.json to the folder --out:

    receiver         who received
    error            why it ended badly, or null
    width, height    of the last frame
    frames           [[at_ms, [luma of each square of the tick's code]]] of each frame, when it came to the screen
    replaced_frames  how many another took the place of before the screen was drawn
    samples          [{at_ms, frame}]: the frame that the screen showed at that time, by its place in `frames`
    pictures         [{frame, file, width, height}]: the luma of each frame that a sample has, rows without gaps
    stats            [{at_ms, inbound, bytes}] once a second: the video's inbound-rtp entry of getStats, and the bytes that
                     the transport has received

Every at_ms is of CLOCK_MONOTONIC, in milliseconds.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

from browser import await_event, find_program, showing, version

HERE = os.path.dirname(os.path.abspath(__file__))
START_TIMEOUT = 90  # seconds from the start of the browser to its answer, on a busy machine
CONNECT_TIMEOUT = 30  # seconds
PICTURE = re.compile(r"/picture-([0-9]+)-([0-9]+)x([0-9]+)")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder for report.json and the pictures")
    parser.add_argument("--duration", type=float, default=10, help="seconds to watch, from the connection on")
    parser.add_argument("--samples", type=float, default=3, help="pictures to keep, a second")
    parser.add_argument("--width", type=int, default=1920, help="columns of the screen that is sent")
    parser.add_argument("--square", type=int, default=16, help="side of a square of the tick's code, in pixels")
    parser.add_argument("--squares", type=int, default=17, help="squares of the code, from the left upper corner on")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    return options


def say(line):
    print(json.dumps(line), flush=True)


def keep_picture(options, frame, width, height, luma):
    """Writes a picture's luma, and gives its entry in the report."""
    name = f"picture-{frame}.y"
    with open(os.path.join(options.out, name), "wb") as file:
        file.write(luma)
    return {"frame": frame, "file": name, "width": width, "height": height}


def finish(options, report):
    with open(os.path.join(options.out, "report.json"), "w", encoding="utf-8") as file:
        json.dump(report, file, default=str)
    if report["error"]:
        sys.exit(f"{report['receiver']}: {report['error']}")


class Exchange:
    """What passes between the page, which runs on the server's threads, and this script."""

    def __init__(self, options):
        self.options = options
        self.offer = None
        self.offered = threading.Event()
        self.connected = threading.Event()
        self.done = threading.Event()
        self.pictures = []
        self.report = {}

    def get(self, path):
        if path == "/":
            with open(os.path.join(HERE, "screen_receiver.html"), "rb") as file:
                return "text/html", file.read()
        if path == "/clock":
            return "text/plain", repr(time.monotonic() * 1000).encode()
        if path == "/options":
            return "application/json", json.dumps(vars(self.options)).encode()
        if path == "/offer":
            self.offered.wait()
            return "application/sdp", self.offer.encode()
        return None

    def post(self, path, body):
        if path == "/answer":
            say({"answer": body.decode()})
        elif path == "/connected":
            say({"connected": json.loads(body)})
            self.connected.set()
        elif path == "/done":
            self.report = json.loads(body)
            self.connected.set()
            self.done.set()
        elif match := PICTURE.fullmatch(path):
            self.pictures.append(keep_picture(self.options, *map(int, match.groups()), body))
        else:
            return False
        return True


def receive(options, report):
    program = find_program("chromium")
    report["receiver"] = version(program)
    exchange = Exchange(options)
    switches = ["--disable-features=WebRtcHideLocalIpsWithMdns"]
    with showing(exchange, "chromium", program, os.path.join(options.out, "browser.log"), switches) as process:
        exchange.offer = sys.stdin.read()
        exchange.offered.set()
        await_event(exchange.connected, process, START_TIMEOUT + CONNECT_TIMEOUT, "the connection")
        await_event(exchange.done, process, options.duration + 30, "the report")
    report.update(exchange.report)
    report["pictures"] = exchange.pictures


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = {"receiver": "Chromium", "error": None, "pictures": []}
    try:
        receive(options, report)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        report["error"] = f"{error}"
    finish(options, report)


if __name__ == "__main__":
    main()

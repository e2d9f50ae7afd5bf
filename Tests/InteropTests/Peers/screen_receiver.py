#!/usr/bin/env python3
"""Receives a screen with a headless Chromium, and keeps what it shows: a receiver that rtcbench viewer sets senders before.

The offer comes on standard input, to its end; with --page the URL of another program's page, whose video or canvas is
judged, and for which this needs websockets. Lines of JSON go to standard output:

    {"answer": SDP}        to an offer, once all candidates are known
    {"connected": at_ms}   when the connection stands, or of a page and with --from-picture, when the first picture is shown

and at the end report.json to the folder --out:

    receiver         who received
    error            why it ended badly, or null
    width, height    of the last frame
    frames           [[at_ms, [luma of each square of the tick's code]]] of each frame, when it came to the screen
    replaced_frames  how many another took the place of before the screen was drawn
    samples          [{at_ms, frame, picture}]: the frame that the screen showed at that time, by its place in `frames`
    pictures         [{picture, file, width, height}]: the luma of each picture that a sample has, rows without gaps
    stats            [{at_ms, inbound, bytes}] once a second: the video's inbound-rtp entry of getStats, and the bytes that
                     the transport has received, and the page's TCP connections to its server
    opened_ms        when the page was opened

A frame of a canvas is a refresh with which the tick's code changed.

Every at_ms is of CLOCK_MONOTONIC, in milliseconds.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

from browser import await_event, find_program, serve, showing, version

HERE = os.path.dirname(os.path.abspath(__file__))
START_TIMEOUT = 90  # seconds from the start of the browser to its answer, on a busy machine
CONNECT_TIMEOUT = 30  # seconds
PICTURE_TIMEOUT = 15  # seconds from a connection to its first picture
PAGES = {"/": ("text/html", "screen_receiver.html"), "/screen_receiver.js": ("text/javascript", "screen_receiver.js")}
PICTURE = re.compile(r"/picture-([0-9]+)-([0-9]+)x([0-9]+)")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder for report.json and the pictures")
    parser.add_argument("--duration", type=float, default=10, help="seconds to watch, from the connection on")
    parser.add_argument("--samples", type=float, default=3, help="pictures to keep, a second")
    parser.add_argument("--width", type=int, default=1920, help="columns of the screen that is sent")
    parser.add_argument("--square", type=int, default=16, help="side of a square of the tick's code, in pixels")
    parser.add_argument("--squares", type=int, default=17, help="squares of the code, from the left upper corner on")
    parser.add_argument("--page", action="store_true", help="read the URL of a page, and not an offer")
    parser.add_argument("--from-picture", action="store_true", help="count the duration from the first picture on")
    options = parser.parse_args()
    options.picture_timeout = PICTURE_TIMEOUT
    os.makedirs(options.out, exist_ok=True)
    return options


def say(line):
    print(json.dumps(line), flush=True)


def keep_picture(options, picture, width, height, luma):
    """Writes a picture's luma, and gives its entry in the report."""
    name = f"picture-{picture}.y"
    with open(os.path.join(options.out, name), "wb") as file:
        file.write(luma)
    return {"picture": picture, "file": name, "width": width, "height": height}


def received_over(port):
    """The bytes that Chromium has received over each of its TCP connections to this port."""
    asked = ["ss", "--tcp", "--info", "--numeric", "--processes", "--oneline", "--no-header", "dport", "=", f":{port}"]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    counts = {line.split()[3]: re.search(r"bytes_received:([0-9]+)", line) for line in lines if "chrom" in line}
    return {connection: int(count[1]) for connection, count in counts.items() if count}


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
        self.port = None  # of another program's page
        self.received = {}  # bytes over each connection to it, also those that are closed
        self.offered = threading.Event()
        self.connected = threading.Event()
        self.done = threading.Event()
        self.pictures = []
        self.report = {}

    def get(self, path):
        if path in PAGES:
            kind, name = PAGES[path]
            with open(os.path.join(HERE, name), "rb") as file:
                return kind, file.read()
        if path == "/clock":
            return "text/plain", repr(time.monotonic() * 1000).encode()
        if path == "/options":
            return "application/json", json.dumps(vars(self.options)).encode()
        if path == "/tcp":
            self.received |= received_over(self.port)
            return "text/plain", str(sum(self.received.values())).encode()
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


def await_ends(exchange, process):
    await_event(exchange.connected, process, START_TIMEOUT + CONNECT_TIMEOUT, "the first picture")
    await_event(exchange.done, process, exchange.options.duration + 30, "the report")


def receive(exchange, program):
    switches = ["--disable-features=WebRtcHideLocalIpsWithMdns"]
    log = os.path.join(exchange.options.out, "browser.log")
    with showing(exchange, "chromium", program, log, switches) as process:
        exchange.offer = sys.stdin.read()
        exchange.offered.set()
        await_ends(exchange, process)


async def open_page(exchange):
    from page_browser import Chromium

    server = serve(exchange)
    home = f"http://127.0.0.1:{server.server_address[1]}"
    with open(os.path.join(HERE, "screen_receiver.js"), encoding="utf-8") as file:
        script = f"const receiverHome = {json.dumps(home)};\n{file.read()}\nfinish(watchPage());"
    browser = Chromium(exchange.options.out)
    try:
        await browser.start()
        # What is injected posts to another address than the page's.
        await browser.send("Page.setBypassCSP", enabled=True)
        source = f"if (location.protocol === 'http:' && window === top) (() => {{ {script} }})();"
        await browser.send("Page.addScriptToEvaluateOnNewDocument", source=source)
        url = (await asyncio.to_thread(sys.stdin.read)).strip()
        exchange.port = urllib.parse.urlsplit(url).port
        await browser.open(url)
        await asyncio.to_thread(await_ends, exchange, browser.process)
    finally:
        browser.close()
        server.shutdown()


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = {"receiver": "Chromium", "error": None, "pictures": []}
    exchange = Exchange(options)
    try:
        program = find_program("chromium")
        report["receiver"] = version(program)
        if options.page:
            asyncio.run(open_page(exchange))
        else:
            receive(exchange, program)
        report.update(exchange.report, pictures=exchange.pictures)
    except (ImportError, OSError, RuntimeError, subprocess.SubprocessError) as error:
        report["error"] = f"{error}"
    finish(options, report)


if __name__ == "__main__":
    main()

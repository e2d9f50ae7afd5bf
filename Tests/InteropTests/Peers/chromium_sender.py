#!/usr/bin/env python3
"""Sends an X11 display with Chromium's getDisplayMedia: a sender that rtcbench sets rtcshare beside. Driven as gstreamer_sender.py is.

With --pattern, Chromium or Firefox sends the video and audio of its test devices, without a display.

Chromium's window is on that display too, beyond its edges, and nothing of it is captured. The bar that says what is
shared comes over the screen while the capture begins: whoever draws the screen puts what is drawn above it.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import threading

from browser import PROGRAMS, await_event, find_program, showing, version

HERE = os.path.dirname(os.path.abspath(__file__))
START_TIMEOUT = 90  # seconds, on a busy machine

SWITCHES = [
    "--auto-select-desktop-capture-source=Entire screen",
    "--disable-blink-features=GetDisplayMediaRequiresUserActivation",
    "--allow-loopback-in-peer-connection",
    "--window-position=8000,8000",
    # What is covered or beyond the screen would be slowed down.
    "--disable-backgrounding-occluded-windows",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
]
# A camera and a microphone that the browser makes up, with permission to use them.
TEST_SWITCHES = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
TEST_PREFERENCES = """\
user_pref("media.navigator.permission.disabled", true);
user_pref("media.navigator.streams.fake", true);
user_pref("media.peerconnection.ice.loopback", true);
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--bitrate", type=int, default=2500, help="kbit/s")
    parser.add_argument("--framerate", type=int, default=30)
    parser.add_argument("--hint", default="detail", help="the track's contentHint; empty for none")
    parser.add_argument("--codec", default="VP8", help="VP8, VP9, H264 or AV1")
    parser.add_argument("--width", type=int, default=1920)
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--pattern", action="store_true", help="send test devices, not a display")
    parser.add_argument("--browser", choices=sorted(PROGRAMS), default="chromium")
    return parser.parse_args()


class Exchange:
    """What passes between the page, which runs on the server's threads, and this script."""

    def __init__(self, options):
        self.options = options
        self.offer = None
        self.error = None
        self.answer = None
        self.offered = threading.Event()
        self.answered = threading.Event()

    def get(self, path):
        if path == "/":
            with open(os.path.join(HERE, "chromium_sender.html"), "rb") as file:
                return "text/html", file.read()
        if path == "/options":
            return "application/json", json.dumps(vars(self.options)).encode()
        if path == "/answer":
            self.answered.wait()
            return "application/sdp", self.answer.encode()
        return None

    def post(self, path, body):
        match path:
            case "/captured":
                print(f"the browser captures {body.decode()}", file=sys.stderr, flush=True)
            case "/offer":
                self.offer = body.decode()
                self.offered.set()
            case "/error":
                self.error = body.decode()
                print(f"the browser: {self.error}", file=sys.stderr, flush=True)
                self.offered.set()
            case _:
                return False
        return True


def run(options):
    exchange = Exchange(options)
    # The log is a file that nobody else has: several may send at a time.
    folder = tempfile.mkdtemp(prefix="chromium-sender-")
    try:
        with showing(
            exchange, options.browser, find_program(options.browser), os.path.join(folder, "browser.log"),
            SWITCHES + TEST_SWITCHES * options.pattern, TEST_PREFERENCES,
            display=None if options.pattern else os.environ["DISPLAY"],
        ) as process:  # fmt: skip
            await_event(exchange.offered, process, START_TIMEOUT, "the offer")
            if exchange.error:
                raise RuntimeError(exchange.error)
            sys.stdout.write(exchange.offer)
            sys.stdout.flush()
            # Python would keep the descriptor open: whoever reads waits for its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            exchange.answer = sys.stdin.read()
            exchange.answered.set()
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        if options.check:
            find_program("chromium")
        elif options.describe:
            print(version(find_program("chromium")))
            print(
                f"getDisplayMedia of the whole screen, contentHint {options.hint or 'none'}, VP8, maxBitrate"
                f" {options.bitrate} kbit/s, maxFramerate {options.framerate}"
            )
        else:
            run(options)
    except (OSError, RuntimeError) as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

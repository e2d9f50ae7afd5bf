#!/usr/bin/env python3
"""Answers an offer with a real, headless browser, and reports what it showed. See viewer_report for the report.

No switch touches WebRTC unless bare addresses are asked for: the browser's candidates are the `.local` names which any
visitor's would give.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading

from browser import PROGRAMS, await_event, find_program, showing, version
from viewer_media import compare, describe_sound, describe_video
from viewer_report import (
    count_frames,
    empty_report,
    finish,
    further,
    further_offer,
    now_ms,
    parse_arguments,
    read_offer,
    write_atomically,
)

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = {
    "/": ("text/html", "viewer.html"),
    "/watch_sound.js": ("text/javascript", "watch_sound.js"),
    "/watch_video.js": ("text/javascript", "watch_video.js"),
}
# Where bare addresses are told, a relay follows the answer, which takes its time on a busy machine.
BARE_PREFERENCES = """\
user_pref("media.peerconnection.ice.obfuscate_host_addresses", false);
user_pref("media.peerconnection.ice.loopback", true);
user_pref("media.peerconnection.ice.trickle_grace_period", 60000);
"""
START_TIMEOUT = 90  # seconds from the start of the browser to its answer, on a busy machine

PICTURE = re.compile(r"/(video-[0-9]+-)?frame-[0-9]+\.png")


def numbered(path, prefix):
    """The number that follows the prefix, or 0."""
    rest = path.removeprefix(prefix)
    return int(rest) if path.startswith(prefix) and rest.isascii() and rest.isdigit() else 0


class Exchange:
    """What passes between the page, which runs on the server's threads, and this script."""

    def __init__(self, options, offer, report):
        self.options = options
        self.offer = offer
        self.report = report
        self.seen = None
        self.answered = threading.Event()
        self.done = threading.Event()

    def get(self, path):
        if path in PAGES:
            kind, name = PAGES[path]
            with open(os.path.join(HERE, name), "rb") as file:
                return kind, file.read()
        if path == "/offer-1":
            return "application/sdp", self.offer.encode()
        if numbered(path, "/offer-"):
            return "application/sdp", (further_offer(self.options, numbered(path, "/offer-")) or "").encode()
        if path == "/options":
            settings = {
                "duration": self.options.duration,
                "connect_timeout": self.options.connect_timeout,
                "snapshots": self.options.snapshots,
                # Headless, every other page of Firefox hangs for good once it listens by WebAudio: it is judged by pictures.
                "listens": self.options.browser != "firefox",
            }
            return "application/json", json.dumps(settings).encode()
        return None

    def post(self, path, body):
        if numbered(path, "/answer-"):
            write_atomically(further(self.options.answer, numbered(path, "/answer-")), body)
            if self.report["answer_written_ms"] is None:
                self.report["answer_written_ms"] = now_ms()
            self.answered.set()
        elif path == "/error":
            self.report["errors"].append(json.loads(body))
        elif path == "/done":
            self.seen = json.loads(body)
            self.done.set()
        elif PICTURE.fullmatch(path):
            write_atomically(os.path.join(self.options.out, path[1:]), body)
        else:
            return False
        return True


def view(options, report):
    program = options.program or find_program(options.browser)
    report["viewer"] = version(program) or options.browser
    exchange = Exchange(options, read_offer(options.offer), report)
    switches = ["--disable-features=WebRtcHideLocalIpsWithMdns"] if options.bare_addresses else []
    preferences = BARE_PREFERENCES if options.bare_addresses else ""
    log = os.path.join(options.out, "browser.log")
    with showing(exchange, options.browser, program, log, switches, preferences) as process:
        either = threading.Event()

        def first_word():
            while not (exchange.answered.wait(0.05) or exchange.done.is_set()):
                pass
            either.set()

        threading.Thread(target=first_word, daemon=True).start()
        await_event(either, process, START_TIMEOUT, "the answer")
        await_event(exchange.done, process, options.connect_timeout + options.duration + 30, "the report")
    seen = exchange.seen
    until, main = seen.pop("end_ms"), seen.pop("main_id")
    videos, sounds = seen.pop("videos", []), seen.pop("sounds", [])
    report.update(seen)
    times = next((video["frame_times_ms"] for video in videos if video["id"] == main), [])
    count_frames(report, times, until)
    report["videos"] = [describe_video(video, until) for video in videos]
    report["sounds"] = [describe_sound(sound) for sound in sounds]
    report["av_clock"] = "playout"
    compare(report, main)


def more_arguments(parser):
    parser.add_argument("--browser", choices=sorted(PROGRAMS), default="chromium")
    parser.add_argument("--firefox", dest="browser", action="store_const", const="firefox")
    parser.add_argument("--bare-addresses", action="store_true", help="tell addresses, not names of multicast DNS")
    parser.add_argument("--program", help="path of the browser, where it is not in PATH under its usual name")


def main():
    options = parse_arguments(__doc__.splitlines()[0], more_arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = empty_report(options.browser)
    try:
        view(options, report)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        complaints = "; ".join(entry["message"] for entry in report["errors"])
        report["error"] = f"{error}" + (f" (page: {complaints})" if complaints else "")
    finish(options, report)


if __name__ == "__main__":
    main()

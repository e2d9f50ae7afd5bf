#!/usr/bin/env python3
"""Has a real browser decode the VP8 frames of an IVF file, and reports a digest of each plane of each picture.

It is WebCodecs' decoder: what Chromium's WebRTC receiver shows it has smoothed, where the frame is coarse.

pictures.json holds:

    browser, error   who decoded; why it ended badly, or null
    pictures         [{width, height, planes}], one for each frame: the SHA-256 of the samples of Y, U and V, row after
                     row, as they were decoded
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading

from browser import PROGRAMS, await_event, find_program, showing, version

# Firefox decodes in a process of its own, from which pictures come back as RGB (Mozilla's bug 1969762). The same
# decoder in the page's process leaves them as they were decoded.
FIREFOX_PREFERENCES = """\
user_pref("media.allow-audio-non-utility", true);
user_pref("media.rdd-process.enabled", false);
"""

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 180  # seconds from the start of the browser to its last picture, on a busy machine


class Page:
    """What passes between the page, which runs on the server's threads, and this script."""

    def __init__(self, frames):
        self.files = {"/": ("text/html", os.path.join(HERE, "decoder.html")), "/frames.ivf": ("video/x-ivf", frames)}
        self.report = None
        self.done = threading.Event()

    def get(self, path):
        if path not in self.files:
            return None
        kind, name = self.files[path]
        with open(name, "rb") as file:
            return kind, file.read()

    def post(self, path, body):
        if path != "/done":
            return False
        self.report = json.loads(body)
        self.done.set()
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--frames", required=True, help="the IVF file")
    parser.add_argument("--out", required=True, help="folder for pictures.json and the browser's log")
    parser.add_argument("--browser", choices=sorted(PROGRAMS), default="chromium")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    os.makedirs(options.out, exist_ok=True)
    report = {"browser": options.browser, "pictures": [], "error": None}
    try:
        program = find_program(options.browser)
        report["browser"] = version(program) or options.browser
        page = Page(options.frames)
        log = os.path.join(options.out, "browser.log")
        with showing(page, options.browser, program, log, preferences=FIREFOX_PREFERENCES) as process:
            await_event(page.done, process, TIMEOUT, "the pictures")
        report.update(page.report)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        report["error"] = f"{error}"
    with open(os.path.join(options.out, "pictures.json"), "w", encoding="utf-8") as file:
        json.dump(report, file)
    if report["error"]:
        sys.exit(f"{report['browser']}: {report['error']}")


if __name__ == "__main__":
    main()

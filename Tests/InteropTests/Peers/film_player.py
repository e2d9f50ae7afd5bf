#!/usr/bin/env python3
"""Has a real browser show a film, and sends it to times in it: a report in JSON on standard output.

    film_player.py --film FILE --log FILE [--seek SECONDS …] [--play SECONDS] [--browser firefox]

    duration   how long the browser says that it is; null where it does not know
    seeks      [{wanted, reached, counter, width, took}]: where it was sent and where it is then, in seconds; the number of the
               test pattern's frame that is shown, or null; how wide that is; the milliseconds until it was shown
    played     {shown, until} with --play: the frames that were shown from the beginning on as {time, counter, width}, and
               how far it came
    error      why it could not be shown, or null
"""

import argparse
import json
import os
import signal
import sys
import threading

from browser import PROGRAMS, await_event, find_program, showing

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 120  # seconds, on a busy machine


class Page:
    """What passes between the page, which runs on the server's threads, and this script."""

    def __init__(self, film, orders):
        self.files = {"/": ("text/html", os.path.join(HERE, "film_player.html")), "/film.webm": ("video/webm", film)}
        self.orders = json.dumps(orders).encode()
        self.report = None
        self.done = threading.Event()

    def get(self, path):
        if path == "/orders.json":
            return "application/json", self.orders
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
    parser.add_argument("--film", required=True)
    parser.add_argument("--log", required=True, help="the browser's log")
    parser.add_argument("--seek", type=float, nargs="*", default=[])
    parser.add_argument("--play", type=float)
    parser.add_argument("--browser", choices=sorted(PROGRAMS), default="chromium")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    page = Page(options.film, {"seeks": options.seek, "play": options.play})
    program = find_program(options.browser)
    with showing(page, options.browser, program, options.log) as process:
        await_event(page.done, process, TIMEOUT, "the film")
    json.dump(page.report, sys.stdout)


if __name__ == "__main__":
    main()

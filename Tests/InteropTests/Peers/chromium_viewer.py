#!/usr/bin/env python3
"""Answers an offer with a real, headless browser, and reports what it showed. See viewer_report for the report.

The browser gets a fresh profile and no switch that touches WebRTC: its candidates are the `.local` names which any
visitor's browser would give. It needs neither a display nor a driver, the page posts back what it saw.
"""

import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

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
PROGRAMS = {"chromium": ["chromium", "chromium-browser", "google-chrome"], "firefox": ["firefox-esr", "firefox"]}
START_TIMEOUT = 90  # seconds from the start of the browser to its answer, on a busy machine

FIREFOX_PREFERENCES = """\
user_pref("app.normandy.enabled", false);
user_pref("app.update.auto", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("media.autoplay.default", 0);
user_pref("media.gmp-manager.updateEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
"""

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


def serve(exchange):
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, status, kind="text/plain", body=b""):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            found = exchange.get(self.path)
            if found:
                self.answer(200 if found[1] else 204, *found)
            else:
                self.answer(404)

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.answer(200 if exchange.post(self.path, body) else 404)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def find_program(options):
    if options.program:
        return options.program
    for name in PROGRAMS[options.browser]:
        path = shutil.which(name)
        if path:
            return path
    raise RuntimeError(f"no {options.browser} in PATH: looked for {', '.join(PROGRAMS[options.browser])}")


def start_browser(options, program, profile, url):
    if options.browser == "chromium":
        command = [
            program,
            "--headless=new",
            "--no-sandbox",  # Chromium refuses to run as root with its sandbox, and containers are root
            f"--user-data-dir={profile}",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--disable-component-update",
            "--disable-background-networking",
            "--disable-sync",
            "--password-store=basic",
            "--autoplay-policy=no-user-gesture-required",
            "--window-size=1400,900",
        ]
        if options.bare_addresses:
            command.append("--disable-features=WebRtcHideLocalIpsWithMdns")
        command.append(url)
    else:
        with open(os.path.join(profile, "user.js"), "w", encoding="utf-8") as file:
            file.write(FIREFOX_PREFERENCES)
        command = [program, "--headless", "--no-remote", "--profile", profile, url]
    outside = ("DISPLAY", "WAYLAND_DISPLAY", "PULSE_SERVER", "PULSE_SINK")
    environment = {key: value for key, value in os.environ.items() if key not in outside}
    environment["HOME"] = profile
    with open(os.path.join(options.out, "browser.log"), "wb") as log:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
        )


def stop_browser(browser):
    """Ends the browser and its children, which are a process group of their own, and nothing else."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(browser.pid, number)
        except ProcessLookupError:
            break
        try:
            browser.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    browser.poll()


def await_event(event, browser, seconds, what):
    deadline = time.monotonic() + seconds
    while not event.wait(0.1):
        if browser.poll() is not None:
            raise RuntimeError(f"the browser ended with status {browser.returncode} before {what}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: nothing came from the browser within {seconds:.0f} s")


def view(options, report):
    program = find_program(options)
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30).stdout.strip()
    report["viewer"] = version.splitlines()[0] if version else options.browser
    exchange = Exchange(options, read_offer(options.offer), report)
    server = serve(exchange)
    profile = tempfile.mkdtemp(prefix="viewer-profile-")
    browser = None
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        browser = start_browser(options, program, profile, url)
        either = threading.Event()

        def first_word():
            while not (exchange.answered.wait(0.05) or exchange.done.is_set()):
                pass
            either.set()

        threading.Thread(target=first_word, daemon=True).start()
        await_event(either, browser, START_TIMEOUT, "the answer")
        await_event(exchange.done, browser, options.connect_timeout + options.duration + 30, "the report")
    finally:
        if browser:
            stop_browser(browser)
        server.shutdown()
        shutil.rmtree(profile, ignore_errors=True)
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

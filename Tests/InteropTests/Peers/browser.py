"""A real browser with a fresh profile, on a page that this machine serves to it: headless, or Chromium on a display.

It needs no driver: the page posts back what it saw.
"""

import contextlib
import http.server
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

PROGRAMS = {"chromium": ["chromium", "chromium-browser", "google-chrome"], "firefox": ["firefox-esr", "firefox"]}

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


def find_program(browser):
    for name in PROGRAMS[browser]:
        path = shutil.which(name)
        if path:
            return path
    raise RuntimeError(f"no {browser} in PATH: looked for {', '.join(PROGRAMS[browser])}")


def version(program):
    """What it calls itself; nothing where it doesn't say."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30).stdout.strip()
    return said.splitlines()[0] if said else ""


def serve(page):
    """Serves what `page.get(path)` gives, a type and bytes; what is posted goes to `page.post(path, body)`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, status, kind="text/plain", body=b""):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            # Other programs' pages, with a script of ours, read and post too.
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            found = page.get(self.path)
            if found and self.headers.get("Range"):
                self.answer_part(*found)
            elif found:
                self.answer(200 if found[1] else 204, *found)
            else:
                self.answer(404)

        def answer_part(self, kind, body):
            """What a player asks for: `bytes=FIRST-`, or up to a last one."""
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            begin, end = int(first), min(int(last) + 1 if last else len(body), len(body))
            self.send_response(206)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(body)}")
            self.send_header("Content-Length", str(end - begin))
            self.send_header("Accept-Ranges", "bytes")
            self.end_headers()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(body[begin:end])

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.answer(200 if page.post(self.path, body) else 404)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def start(browser, program, switches, preferences, profile, url, log, display=None):
    if browser == "chromium":
        command = [
            program,
            *([] if display else ["--headless=new"]),
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
            *switches,
            url,
        ]
    else:
        with open(os.path.join(profile, "user.js"), "w", encoding="utf-8") as file:
            file.write(FIREFOX_PREFERENCES + preferences)
        command = [program, "--headless", "--no-remote", "--profile", profile, url]
    outside = ("DISPLAY", "WAYLAND_DISPLAY", "PULSE_SERVER", "PULSE_SINK")
    environment = {key: value for key, value in os.environ.items() if key not in outside}
    environment["HOME"] = profile
    if display:
        environment["DISPLAY"] = display
    with open(log, "wb") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )


def stop(process):
    """Ends the browser and its children, which are a process group of their own, and nothing else."""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
    process.poll()


@contextlib.contextmanager
def showing(page, browser, program, log, switches=(), preferences="", display=None):
    """The browser's process, while it shows the page. Preferences are Firefox's, switches and display Chromium's."""
    server = serve(page)
    profile = tempfile.mkdtemp(prefix="viewer-profile-")
    process = None
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/"
        process = start(browser, program, switches, preferences, profile, url, log, display)
        yield process
    finally:
        if process:
            stop(process)
        server.shutdown()
        shutil.rmtree(profile, ignore_errors=True)


def await_event(event, process, seconds, what):
    deadline = time.monotonic() + seconds
    while not event.wait(0.1):
        if process.poll() is not None:
            raise RuntimeError(f"the browser ended with status {process.returncode} before {what}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: nothing came from the browser within {seconds:.0f} s")

#!/usr/bin/env python3
"""Shares an X11 display on a web page with another program than rtcshare: a sender that rtcbench sets rtcshare beside.

    page_sender.py x11vnc    x11vnc, behind websockify, with noVNC's page
    page_sender.py selkies   Selkies, over WebSockets, which are its default

The page's URL goes to standard output, in a line, when the page can be opened. Shares until SIGTERM. `--check` only says
by its status whether the programs are installed; `--describe` prints versions and commands. x11vnc knows no bitrate: noVNC
asks for its usual quality and compression.
"""

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

NOVNC = "/usr/share/novnc"
START_TIMEOUT = 60  # seconds, on a busy machine


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("x11vnc", "selkies"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--describe", action="store_true")
    parser.add_argument("--bitrate", type=int, default=2500, help="kbit/s")
    parser.add_argument("--framerate", type=int, default=30)
    parser.add_argument("--width", type=int, default=1920)
    parser.add_argument("--height", type=int, default=1080)
    parser.add_argument("--selkies", default="selkies", help="the program, if it is not in PATH")
    return parser.parse_args()


def free_port():
    """A port below those that the system hands out, which it could give to a connection before the server listens."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def commands(options):
    """The commands to run, the ports that they open, and the page behind the last port."""
    display = os.environ.get("DISPLAY", "")
    if options.kind == "x11vnc":
        ports = [free_port(), free_port()]
        server = [
            "x11vnc", "-display", display, "-rfbport", str(ports[0]), "-localhost", "-no6", "-forever", "-shared",
            "-nopw", "-norc", "-quiet", "-wait", str(1000 // options.framerate),
        ]  # fmt: skip
        bridge = ["websockify", "--web", NOVNC, f"127.0.0.1:{ports[1]}", f"127.0.0.1:{ports[0]}"]
        return [server, bridge], ports, "vnc.html?autoconnect=true&resize=off&view_clip=false"
    port = free_port()
    rate, bitrate = f"{options.framerate}-{options.framerate}", f"{options.bitrate}-{options.bitrate}"
    server = [
        options.selkies, "--addr", "127.0.0.1", "--port", str(port), "--enable-basic-auth", "false", "--enable-https",
        "false", "--audio-enabled", "false", "--gamepad-enabled", "false", "--enable-resize", "false",
        "--manual-width", str(options.width), "--manual-height", str(options.height), "--framerate", rate,
        "--rate-control-mode", "cbr", "--video-bitrate", bitrate,
    ]  # fmt: skip
    return [server], [port], ""


def check(options):
    for program in ("x11vnc", "websockify") if options.kind == "x11vnc" else (options.selkies,):
        if not shutil.which(program):
            raise RuntimeError(f"program not found: {program}")
    if options.kind == "x11vnc" and not os.path.exists(f"{NOVNC}/vnc.html"):
        raise RuntimeError(f"noVNC not found in {NOVNC}")


def versions(options):
    if options.kind == "x11vnc":
        packages = ["x11vnc", "novnc", "websockify"]
        asked = ["dpkg-query", "--show", "--showformat", "${Package} ${Version}, ", *packages]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip(", ")
    script = "import importlib.metadata as m; print('Selkies', m.version('selkies'), 'pixelflux', m.version('pixelflux'))"
    # Beside the program is the Python of its packages.
    python = os.path.join(os.path.dirname(os.path.realpath(shutil.which(options.selkies))), "python3")
    return subprocess.run([python, "-c", script], capture_output=True, text=True, check=False).stdout.strip()


def await_port(port, processes):
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline:
        for process in processes:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args[0]} ended with status {process.returncode}")
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"nothing listens at port {port} after {START_TIMEOUT} s")


def run(options):
    check(options)
    lines, ports, page = commands(options)
    processes = []
    try:
        for line, port in zip(lines, ports):
            processes.append(subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=sys.stderr))
            await_port(port, processes)
        print(f"http://127.0.0.1:{ports[-1]}/{page}", flush=True)
        processes[0].wait()
        raise RuntimeError(f"{lines[0][0]} ended with status {processes[0].returncode}")
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        if options.check:
            check(options)
        elif options.describe:
            print(versions(options))
        else:
            run(options)
    except (OSError, RuntimeError) as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()

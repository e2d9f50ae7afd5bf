#!/usr/bin/env python3
"""A headless browser with one page, driven line by line: Chromium by the DevTools protocol, Firefox by WebDriver BiDi.

Commands are JSON objects, one a line, of the FIFO that --commands names; each is answered on standard output by a line
{"result": …} or {"error": "…"}:

    {"do": "open", "url": …}                    navigates, and does not wait
    {"do": "evaluate", "script": …}             what an expression gives; with "activated": true, as if the user acted
    {"do": "until", "script": …, "seconds": …}  waits until it is true, and gives it
    {"do": "press", "key": …}                   a key, as a person presses it: a character, or one of KEYS
    {"do": "click", "selector": …}              presses the pointer's button in the middle of an element, if that is what is there
    {"do": "point", "x": …, "y": …}             moves the pointer
    {"do": "drag", "selector": …, "from": [x, y], "to": [x, y]}   presses, moves and releases it, in parts of an element
    {"do": "resize", "width": …, "height": …, "ratio": …, "touch": …}
    {"do": "photograph", "file": …}             a PNG of the page
    {"do": "console"}                           what the console showed of errors since the last time
    {"do": "tab", "number": …}                  drives this tab; the next number opens one in front; Chromium only
    {"do": "block", "files": [pattern, …]}      fails requests for these files from now on; Chromium only
    {"do": "close"}                             closes the tab, and another one must be driven; Chromium only
    {"do": "audit"}                             violations of WCAG 2 A and AA, in light and dark, by axe-core; Chromium only

The profile is fresh, and no switch but --block-video touches WebRTC or the rules for sound and video. Each page has
`watched`: its connections, its sound elements, and `firstPicture`, the milliseconds from the navigation to the first decoded picture.
"""

import argparse
import asyncio
import base64
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

import websockets

from browser import FIREFOX_PREFERENCES, PROGRAMS
from browser import stop as stop_browser

# Keys without a character of their own: the code of Windows, the text that they enter, and the character of WebDriver.
KEYS = {
    "Enter": (13, "\r", "\ue006"), "Escape": (27, "", "\ue00c"), "Tab": (9, "", "\ue004"), "Backspace": (8, "", "\ue003"),
    "ArrowRight": (39, "", "\ue014"), "ArrowLeft": (37, "", "\ue012"),
}  # fmt: skip

# The middle of an element, which must not be covered by another.
MIDDLE = """((selector) => {
  const element = document.querySelector(selector);
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const there = document.elementFromPoint(x, y);
  if (!element.contains(there)) throw new Error(`${selector} is covered by ${there?.outerHTML.slice(0, 100)}`);
  return [x, y];
})"""

# A place in an element, in parts of its width and height.
PLACE = """((selector, [x, y]) => {
  const element = document.querySelector(selector);
  element.scrollIntoView({ block: "center", behavior: "instant" });
  const { left, top, width, height } = element.getBoundingClientRect();
  return [left + x * width, top + y * height];
})"""

START_TIMEOUT = 90  # seconds, on a busy machine
COMMAND_TIMEOUT = 60

WATCHING = """(() => {
  const watched = window.watched = { connections: [], sounds: [], firstPicture: null };
  const Connection = window.RTCPeerConnection, Sound = window.Audio;
  window.RTCPeerConnection = class extends Connection {
    constructor(...given) { super(...given); watched.connections.push(this); }
  };
  window.Audio = class extends Sound {
    constructor(...given) { super(...given); watched.sounds.push(this); }
  };
  addEventListener("loadeddata", (event) => {
    if (event.target.localName === "video") watched.firstPicture ??= performance.now();
  }, true);
})()"""


AUDIT = """(async (rules) => {
  const { violations } = await axe.run(document, {
    runOnly: rules, resultTypes: ["violations"], ancestry: true, iframes: false, preload: false,
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`));
})"""
STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def axe_script():
    """axe-core's source. The package is not imported, as that would need Playwright."""
    folder = importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0]
    with open(os.path.join(folder, "axe.min.js"), encoding="utf-8") as file:
        return file.read()


class Browser:
    """What both protocols have in common: messages with numbers, and their answers."""

    def __init__(self, folder, languages="en-US,en", blocks_video=False):
        self.languages = languages
        self.blocks_video = blocks_video
        self.profile = tempfile.mkdtemp(prefix="page-profile-", dir=folder)
        self.log = os.path.join(folder, f"{self.name}.log")
        self.process = None
        self.socket = None
        self.readers = []
        self.count = 0
        self.waiting = {}
        self.complaints = []

    def launch(self, arguments):
        found = [path for path in map(shutil.which, PROGRAMS[self.name]) if path]
        if not found:
            raise RuntimeError(f"no {self.name} in PATH")
        outside = ("DISPLAY", "WAYLAND_DISPLAY")
        environment = {key: value for key, value in os.environ.items() if key not in outside}
        environment["HOME"] = self.profile
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [found[0], *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                start_new_session=True,
            )  # fmt: skip

    async def started(self, find, what):
        for _ in range(START_TIMEOUT * 10):
            found = find()
            if found:
                return found
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode} before {what}")
            await asyncio.sleep(0.1)
        raise RuntimeError(f"{self.name}: no {what} within {START_TIMEOUT} s")

    async def connect(self, address):
        # A browser that a test stops for a while is not gone.
        self.socket = await websockets.connect(address, max_size=None, ping_interval=None)
        self.readers.append(asyncio.create_task(self.read(self.socket)))

    async def send(self, method, **parameters):
        self.count += 1
        answer = self.waiting[self.count] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        return await asyncio.wait_for(answer, COMMAND_TIMEOUT)

    async def read(self, socket):
        async for text in socket:
            message = json.loads(text)
            answer = self.waiting.pop(message.get("id"), None)
            if answer is None:
                self.hear(message)
            elif "error" in message:
                answer.set_exception(RuntimeError(f"{message['error']} {message.get('message', '')}"[:400]))
            else:
                answer.set_result(message["result"])

    async def until(self, script, seconds):
        deadline = asyncio.get_running_loop().time() + seconds
        while True:
            try:
                value = await self.evaluate(script)
            except RuntimeError:  # the page may be on its way to the next
                value = None
            if value:
                return value
            if asyncio.get_running_loop().time() > deadline:
                seen = await self.evaluate(
                    "`${location.href} is ${document.body.dataset.state}: ${document.body.innerText.slice(0, 300)}`")
                raise RuntimeError(f"not within {seconds} s: {script}; {seen} {' '.join(self.complaints)[:600]}")
            await asyncio.sleep(0.05)

    async def click(self, selector):
        await self.press_at(*await self.evaluate(f"{MIDDLE}({json.dumps(selector)})"))

    async def drag(self, selector, begin, end):
        places = [await self.evaluate(f"{PLACE}({json.dumps(selector)}, {place})") for place in (begin, end)]
        await self.move_pressed(*places)

    def close(self):
        if self.process:
            stop_browser(self.process)
        shutil.rmtree(self.profile, ignore_errors=True)


class Chromium(Browser):
    name = "chromium"

    def __init__(self, *options):
        super().__init__(*options)
        self.tabs = {}

    async def start(self):
        self.launch([
            "--headless=new",
            "--no-sandbox",  # Chromium refuses to run as root with its sandbox, and containers are root
            "--remote-debugging-port=0",
            f"--user-data-dir={self.profile}",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--disable-component-update",
            "--disable-background-networking",
            "--disable-sync",
            "--password-store=basic",
            "--window-size=1280,800",
            f"--accept-lang={self.languages}",
            "about:blank",
        ])  # fmt: skip
        await self.started(self.port, "its port")
        await self.attach(next(target for target in self.targets() if target["type"] == "page"))

    def targets(self, path="", method="GET"):
        address = f"http://127.0.0.1:{self.port()}/json{path}"
        with urllib.request.urlopen(urllib.request.Request(address, method=method)) as response:
            return json.load(response)

    async def tab(self, number):
        if number in self.tabs:
            self.target, self.socket = self.tabs[number]
        else:
            await self.attach(self.targets("/new?about:blank", "PUT"))

    async def close_tab(self):
        await self.send("Target.closeTarget", targetId=self.target)

    async def attach(self, target):
        await self.connect(target["webSocketDebuggerUrl"])
        self.target = target["id"]
        self.tabs[len(self.tabs)] = (self.target, self.socket)
        for domain in ("Page", "Runtime", "Log"):
            await self.send(f"{domain}.enable")
        await self.send("Page.addScriptToEvaluateOnNewDocument", source=WATCHING)
        await self.resize(1280, 800, 1, False)

    def port(self):
        try:
            with open(os.path.join(self.profile, "DevToolsActivePort"), encoding="ascii") as file:
                lines = file.read().split("\n")
        except FileNotFoundError:
            return None
        return lines[0] if len(lines) > 1 else None

    def hear(self, message):
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                words = [str(entry.get("value", entry.get("description"))) for entry in parameters["args"]]
                self.complaints.append(" ".join(words))
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(parameters["exceptionDetails"])[:400])
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.complaints.append(f"{parameters['entry']['text']} {parameters['entry'].get('url')}")

    async def open(self, url):
        # The same document with another fragment would not be loaded.
        await self.send("Page.navigate", url="about:blank")
        # A network that was set up just before can still change.
        while (await self.send("Page.navigate", url=url)).get("errorText") == "net::ERR_NETWORK_CHANGED":
            await asyncio.sleep(0.2)

    async def block(self, files):
        await self.send("Network.enable")
        await self.send("Network.setBlockedURLs", urls=files)

    async def evaluate(self, script, activated=False):
        result = await self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=activated)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:400])
        return result["result"].get("value")

    async def press(self, key):
        code, text, _ = KEYS.get(key) or (ord(key.upper()), key, key)
        event = {"key": key, "code": key if key in KEYS else "", "windowsVirtualKeyCode": code}
        await self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        await self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    async def point(self, x, y):
        await self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    async def press_at(self, x, y):
        await self.point(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            await self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def move_pressed(self, begin, end):
        await self.point(*begin)
        for kind, (x, y) in (("mousePressed", begin), ("mouseMoved", end), ("mouseReleased", end)):
            pressed = 0 if kind == "mouseReleased" else 1
            await self.send(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=pressed, clickCount=1)

    async def resize(self, width, height, ratio, touch):
        await self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=touch)
        await self.send("Emulation.setTouchEmulationEnabled", enabled=touch)

    async def photograph(self):
        return (await self.send("Page.captureScreenshot", format="png"))["data"]

    async def audit(self):
        if not await self.evaluate("Boolean(window.axe)"):
            await self.evaluate(axe_script() + "; true")
        found = []
        # The scheme changes nothing but colors.
        for scheme, rules in (("dark", ["color-contrast"]), ("light", STANDARD)):
            feature = {"name": "prefers-color-scheme", "value": scheme}
            await self.send("Emulation.setEmulatedMedia", features=[feature])
            found += [f"{scheme}: {entry}" for entry in await self.evaluate(f"{AUDIT}({json.dumps(rules)})")]
        return found


class Firefox(Browser):
    name = "firefox"
    context = None

    async def start(self):
        # Those for a page of the tests' own let sound play without a click; this one is to ask for it.
        kept = [line for line in FIREFOX_PREFERENCES.splitlines() if "media.autoplay" not in line]
        kept.append(f'user_pref("intl.accept_languages", "{self.languages}");')
        if self.blocks_video:
            kept.append('user_pref("media.autoplay.default", 5);')
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
            file.write("\n".join([*kept, 'user_pref("focusmanager.testmode", true);', ""]))
        self.launch([
            "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0", "about:blank",
        ])  # fmt: skip
        await self.connect(await self.started(self.address, "its port") + "/session")
        await self.send("session.new", capabilities={})
        await self.send("session.subscribe", events=["log.entryAdded"])
        await self.send("script.addPreloadScript", functionDeclaration=f"() => {WATCHING}")
        self.context = (await self.send("browsingContext.getTree"))["contexts"][0]["context"]
        await self.send("browsingContext.activate", context=self.context)
        await self.resize(1280, 800, 1, False)

    def address(self):
        with open(self.log, "rb") as file:
            found = re.search(rb"WebDriver BiDi listening on (ws://\S+)", file.read())
        return found and found[1].decode()

    def hear(self, message):
        entry = message.get("params", {})
        if message.get("method") == "log.entryAdded" and entry["level"] in ("error", "warn"):
            self.complaints.append(str(entry.get("text")))

    async def open(self, url):
        for address in ("about:blank", url):
            await self.send("browsingContext.navigate", context=self.context, url=address, wait="none")

    async def evaluate(self, script, activated=False):
        result = await self.send(
            "script.evaluate", expression=f"(async () => JSON.stringify(await ({script})))()",
            target={"context": self.context}, awaitPromise=True, userActivation=activated,
        )  # fmt: skip
        if result["type"] == "exception":
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:400])
        return json.loads(result["result"].get("value") or "null")

    async def act(self, kind, actions, **more):
        source = {"type": kind, "id": kind, "actions": actions, **more}
        await self.send("input.performActions", context=self.context, actions=[source])

    async def press(self, key):
        value = KEYS[key][2] if key in KEYS else key
        await self.act("key", [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}])

    async def point(self, x, y):
        await self.act("pointer", [{"type": "pointerMove", "x": int(x), "y": int(y)}])

    async def press_at(self, x, y):
        presses = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        await self.act("pointer", [{"type": "pointerMove", "x": int(x), "y": int(y)}, *presses])

    async def move_pressed(self, begin, end):
        moves = [{"type": "pointerMove", "x": int(x), "y": int(y)} for x, y in (begin, end)]
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        await self.act("pointer", [moves[0], down, moves[1], up])

    async def resize(self, width, height, ratio, _touch):
        viewport = {"width": width, "height": height}
        await self.send(
            "browsingContext.setViewport", context=self.context, viewport=viewport, devicePixelRatio=ratio)

    async def photograph(self):
        return (await self.send("browsingContext.captureScreenshot", context=self.context))["data"]


async def perform(browser, command):
    match command:
        case {"do": "open", "url": url}:
            return await browser.open(url)
        case {"do": "evaluate", "script": script, **more}:
            return await browser.evaluate(script, more.get("activated", False))
        case {"do": "until", "script": script, "seconds": seconds}:
            return await browser.until(script, seconds)
        case {"do": "press", "key": key}:
            return await browser.press(key)
        case {"do": "click", "selector": selector}:
            return await browser.click(selector)
        case {"do": "point", "x": x, "y": y}:
            return await browser.point(x, y)
        case {"do": "drag", "selector": selector, "from": begin, "to": end}:
            return await browser.drag(selector, begin, end)
        case {"do": "resize", "width": width, "height": height, **more}:
            return await browser.resize(width, height, more.get("ratio", 1), more.get("touch", False))
        case {"do": "photograph", "file": path}:
            with open(path, "wb") as file:
                file.write(base64.b64decode(await browser.photograph()))
            return None
        case {"do": "console"}:
            complaints, browser.complaints = browser.complaints, []
            return complaints
        case {"do": "tab", "number": number}:
            return await browser.tab(number)
        case {"do": "block", "files": files}:
            return await browser.block(files)
        case {"do": "close"}:
            return await browser.close_tab()
        case {"do": "audit"}:
            return await browser.audit()
    raise ValueError(f"no such command: {command}")


def say(answer):
    print(json.dumps(answer), flush=True)


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", choices=sorted(PROGRAMS), required=True)
    parser.add_argument("--commands", required=True, help="the FIFO that commands come by")
    parser.add_argument("--languages", default="en-US,en", help="what the browser asks pages for")
    parser.add_argument("--block-video", action="store_true", help="start no video without a click; Firefox only")
    parser.add_argument("--out", required=True, help="the folder for the profile and the browser's log")
    options = parser.parse_args()
    task = asyncio.current_task()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    browser = {"chromium": Chromium, "firefox": Firefox}[options.browser](
        options.out, options.languages, options.block_video)
    try:
        await browser.start()
        say({"result": "ready"})
        reader = asyncio.StreamReader(limit=1 << 20)
        # Open for both: between two writers there would be an end.
        pipe = os.fdopen(os.open(options.commands, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while line := await reader.readline():
            try:
                say({"result": await perform(browser, json.loads(line))})
            except (RuntimeError, ValueError, OSError, TimeoutError) as error:
                say({"error": f"{type(error).__name__}: {error}"})
    finally:
        browser.close()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        sys.exit(143)
    except (RuntimeError, OSError) as error:
        sys.exit(f"{type(error).__name__}: {error}")

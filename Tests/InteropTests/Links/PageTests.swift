import Foundation
import RTCSharePeerConnection
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// The page behind a link of `rtcshare serve`, in browsers as people have them.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.has(.chromium) && Peers.has(.firefox) && Peers.canDriveBrowsers,
            "needs Chromium, Firefox, and a Python with aiortc, numpy, pillow and websockets (RTCSHARE_PYTHON)"))
    struct PageTests {
        @Test(
            "The statistics name the codec, in the words of people",
            arguments: [("vp8", "VP8"), ("av1", "AV1"), ("h264", "H.264")])
        func codec(option: String, name: String) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--codec", option], in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            try await page.press("s")
            let row = "document.querySelector('[data-text=\"statistics.codec\"]')"
            try await page.wait(until: "\(row).nextElementSibling.textContent === '\(name)'")
            #expect(try await page.evaluate("\(row).textContent") as? String == "Codec")
            #expect(try await page.complaints() == [])
        }

        @Test(
            "A link shows the picture, thirty times a second, with sound after one key",
            arguments: [Viewer.chromium, .firefox])
        func pictureAndSound(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: share.link)
            try await page.wait(until: "watched.firstPicture")
            // How long it takes is told, not judged: other tests keep the machine busy.
            let time = try await page.evaluate("watched.firstPicture") as? Double
            print("\(browser.rawValue): first picture after \(time ?? .nan) ms")
            try await page.wait(state: "live")
            #expect(try await page.evaluate("document.title") as? String == "alice – Live")

            var best = 0.0
            for _ in 0..<8 where best < 28 {
                let (begin, before) = (ContinuousClock.now, try await page.received("framesDecoded", of: "video"))
                try await Task.sleep(for: .seconds(2))
                let after = try await page.received("framesDecoded", of: "video")
                best = max(best, (after - before) / ((ContinuousClock.now - begin) / .seconds(1)))
            }
            #expect(best >= 28, "\(best) frames a second at the best of times")

            let isSilent = "watched.sounds.length > 0 && watched.sounds.every((sound) => sound.muted)"
            #expect(try await page.evaluate(isSilent) as? Bool == true, "sound comes when it is asked for")
            try await page.press("m")
            try await page.wait(until: "watched.sounds.every((sound) => !sound.muted && sound.currentTime > 0.5)")
            #expect(try await page.received("totalAudioEnergy", of: "audio") > 0)
            #expect(try await page.complaints() == [])
        }

        @Test(
            "A page that did not get one of its files is loaded again", arguments: ["main.js", "tile.js", "viewer.css"])
        func missingFile(name: String) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.block(["*/\(name)"])
            try await page.go(to: share.link)
            try await page.wait(until: "performance.getEntriesByType('navigation')[0]?.type === 'reload'")
            try await page.block([])
            try await page.wait(state: "live")
        }

        @Test("The page says what the presenter does", arguments: [Viewer.chromium, .firefox])
        func presentersDoing(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--microphone", "tone"], in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            try await share.ask("pause")
            try await page.wait(state: "paused")
            #expect(
                try await page.evaluate("document.body.classList.contains('shows-picture')") as? Bool == true,
                "the last picture stays")
            // While the share goes elsewhere it is not being connected to, and what is elsewhere is not paused here.
            try await share.ask("subgroup", "join", "design")
            try await share.ask("destination", "design")
            try await page.wait(state: "nothing")
            // The microphone's sound is for all viewers: without a picture, its button and its key are there alone.
            let shown = "[...document.querySelectorAll('#bar button')].filter((button) => button.checkVisibility())"
            try await page.wait(until: "\(shown).map((button) => button.dataset.does).join() === 'sound'")
            try await page.press("m")
            try await page.wait(until: "watched.sounds.length > 0 && watched.sounds.every((sound) => !sound.muted)")
            try await page.click("[data-does=sound]")
            try await page.wait(until: "watched.sounds.every((sound) => sound.muted)")
            try await share.ask("destination", "main")
            try await page.wait(state: "paused")
            try await share.ask("resume")
            try await page.wait(state: "live")
            #expect(try await page.complaints() == [])

            // Shortcuts of a single key can be switched off, and stay so.
            try await page.press("s")
            try await page.wait(until: "!document.getElementById('statistics').hidden")
            // Nor does a key that belongs to the browser or to a field do anything.
            for (place, more) in [
                ("body", "ctrlKey: true"), ("body", "metaKey: true"), ("body", "altKey: true"),
                ("body", "shiftKey: true, key: 'S'"), ("#keys", ""),
            ] {
                let event = "new KeyboardEvent('keydown', { bubbles: true, key: 's', \(more) })"
                _ = try await page.evaluate("document.querySelector('\(place)').dispatchEvent(\(event))")
                #expect(
                    try await page.evaluate("!document.getElementById('statistics').hidden") as? Bool == true,
                    "\(place), \(more)")
            }
            _ = try await page.evaluate("document.getElementById('keys').click()")
            try await page.press("s")
            #expect(try await page.evaluate("!document.getElementById('statistics').hidden") as? Bool == true)
            #expect(try await page.evaluate("localStorage.getItem('rtcshare.keys')") as? String == "off")

            let viewer = try #require(try await share.status().viewers.first)
            try await share.ask("kick", "\(viewer.id)")
            try await page.wait(state: "removed")
            try await share.ask("lock")
            try await page.go(to: share.link)
            try await page.wait(state: "locked")
            // Nobody presses anything.
            try await share.ask("unlock")
            try await page.wait(state: "live")
            _ = try await page.complaints()
            try await share.ask("stop")
            try await page.wait(state: "ended")
            #expect(try await page.complaints() == [], "nobody is told of an end that they told themselves")
            #expect(try await share.program.outcome(timeout: .seconds(20)).status == 0)
        }

        @Test("A page whose viewer was removed does not come back, even if no event told it")
        func removalWithoutEvents() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.block(["*/events"])
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            let viewer = try #require(try await share.status().viewers.first)
            try await share.ask("kick", "\(viewer.id)")
            try await page.wait(state: "removed")
        }

        @Test(
            "A viewer who is removed while its path is down does not come back with the path",
            arguments: [0, 31_000])
        func removalWithoutPath(outage: Int) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.block(["*/events"])
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            try await page.block(["*"])
            _ = try await page.evaluate("dispatchEvent(new Event('online'))")
            try await page.wait(state: "lost")
            // After 30 seconds, the page asks for a new session instead of an ICE restart.
            let clock = "performance.now = () => now.call(performance) + \(outage)"
            _ = try await page.evaluate("(({ now }) => { \(clock); return true; })(performance)")
            let viewer = try #require(try await share.status().viewers.first)
            try await share.ask("kick", "\(viewer.id)")
            try await page.block([])
            try await page.wait(state: "removed")
            #expect(try await share.status().viewers == [])
        }

        @Test("Candidates that still wait when ICE is restarted are not sent after the restart")
        func lateCandidates() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            // A session of the page's own kind, whose first candidates wait until ICE has restarted.
            let fragments = """
                (async () => {
                  const load = (file) => import(new URL(file, document.baseURI).href);
                  const [{ Session }, { readLink }, { attribute }] =
                    await Promise.all(["session.js", "link.js", "sdp.js"].map(load));
                  const until = async (isMet) => {
                    while (!isMet()) await new Promise((resolve) => setTimeout(resolve, 10));
                  };
                  const send = window.fetch, sent = [];
                  let isRestarted = false;
                  window.fetch = async (url, request) => {
                    if (request.method === "PATCH") {
                      sent.push(attribute(request.body, "ice-ufrag"));
                      if (sent.length === 1) await until(() => isRestarted);
                    }
                    return send(url, request);
                  };
                  const session = new Session(readLink(), { step() {}, track() {}, state() {} });
                  await session.open();
                  const former = attribute(session.connection.localDescription.sdp, "ice-ufrag");
                  await until(() => sent.length === 1);
                  session.connection.onicecandidate({ candidate: null });
                  await new Promise((resolve) => setTimeout(resolve, 200));
                  await session.restart();
                  const before = sent.length;
                  isRestarted = true;
                  const current = attribute(session.connection.localDescription.sdp, "ice-ufrag");
                  await until(() => sent.slice(before).includes(current));
                  session.close();
                  return former !== current && !sent.slice(before).includes(former);
                })()
                """
            #expect(try await page.evaluate(fragments) as? Bool == true)
        }

        @Test(
            "A video that the browser does not start by itself starts after a click, or when the browser starts it",
            arguments: ["click", "media key"])
        func blockedVideo(action: String) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.firefox, blocksVideo: true, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "blocked")
            // The browser itself acts on a media key: the page gets no event of it.
            if action == "click" {
                try await page.click("#notice")
            } else {
                _ = try await page.evaluate("document.querySelector('video').play()", isActivated: true)
            }
            try await page.wait(state: "live")
            #expect(try await page.evaluate("document.querySelector('video').paused") as? Bool == false)
        }

        @Test("Who has to be let in waits, and sees the picture then", arguments: [Viewer.chromium, .firefox])
        func waiting(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--ask", "--max-viewers", "1"], in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "waiting")
            #expect(try await page.received("framesDecoded", of: "video") == 0, "nothing is sent before")
            let status = try await share.wait(for: "who waits") {
                $0.first.map { $0.isWaiting && $0.state == .connected } == true
            }
            try await share.ask("admit", "\(try #require(status.viewers.first).id)")
            try await page.wait(state: "live")
        }

        @Test("Who finds all places taken joins when one is free", arguments: [Viewer.chromium, .firefox])
        func full(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--max-viewers", "1"], in: folder)
            defer { share.stop() }
            let first = try share.view()
            defer { first.stop() }
            try await share.wait(for: "the first viewer") { $0.first?.state == .connected }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "full")
            first.interrupt()
            try await page.wait(state: "live", seconds: 40)
        }

        @Test(
            "A presenter who is back after a failure or a restart is seen again without a reload",
            arguments: [Viewer.chromium, .firefox], [SIGKILL, SIGTERM])
        func presenterReturns(browser: Viewer, signal: Int32) async throws {
            let folder = try TemporaryFolder()
            _ = try folder.write("a-token-of-the-test-0123456789\n", to: "token")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.file("token").path)
            let options = ["--link-token-file", folder.file("token").path]
            let share = try await ServedShare(options, in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            _ = try await page.evaluate("Boolean(window.isSame = true)")
            kill(share.program.processIdentifier, signal)
            try await page.wait(state: signal == SIGKILL ? "lost" : "ended")
            #expect(
                try await page.evaluate("document.body.classList.contains('shows-picture')") as? Bool
                    == (signal == SIGKILL),
                "the last picture stays after a failure")
            _ = try await share.program.outcome(timeout: .seconds(20))
            let again = try await ServedShare(options, port: share.port, in: folder)
            defer { again.stop() }
            #expect(again.link == share.link)
            try await page.wait(state: "live")
            #expect(try await page.evaluate("window.isSame") as? Bool == true, "the page was not loaded again")
        }

        @Test("A tab that rested over the end of its share joins the next share of the link")
        func restedTab() async throws {
            let folder = try TemporaryFolder()
            let token = try folder.write("a-token-of-the-test-0123456789\n", to: "token").path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token)
            let share = try await ServedShare(["--link-token-file", token], in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            // The events of a page that is kept for going back, and shown again.
            func event(_ name: String) -> String {
                "dispatchEvent(new PageTransitionEvent('\(name)', { persisted: true }))"
            }
            _ = try await page.evaluate(event("pagehide"))
            try await share.wait(for: "the end of its session", until: \.isEmpty)
            try await share.ask("stop")
            _ = try await share.program.outcome(timeout: .seconds(20))
            _ = try await page.evaluate(event("pageshow"))
            try await page.wait(state: "lost")
            let next = try await ServedShare(["--link-token-file", token], port: share.port, in: folder)
            defer { next.stop() }
            try await next.wait(for: "the tab") { $0.first?.state == .connected }
            try await page.wait(state: "live")
        }

        @Test(
            "A link has a path of its own, or no token; a wrong token is told", arguments: [Viewer.chromium, .firefox])
        func linksOfEachKind(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let page = try await BrowserPage(browser, in: folder)
            do {
                let share = try await ServedShare(["--no-token", "--base-path", "/office"], in: folder)
                defer { share.stop() }
                #expect(share.link.hasSuffix("/office/"), "\(share.link)")
                // Without the slash at its end, as people type it.
                try await page.go(to: String(share.link.dropLast()))
                try await page.wait(state: "live")
                #expect(try await page.complaints() == [])
            }
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            try await page.go(to: share.address + "#not-this-share")
            try await page.wait(state: "refused")
            try await page.go(to: share.address)
            try await page.wait(until: "document.title.includes('This link is incomplete')")
            try await page.go(to: share.address + "%23" + share.token)
            try await page.wait(state: "live")
            #expect(try await page.evaluate("location.href") as? String == share.link)
            try await page.go(to: share.address + "none/such")
            try await page.wait(until: "document.querySelector('h1')?.textContent === 'There is nothing here'")
        }
    }
}

import Foundation
import RTCSharePeerConnection
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// The page with which a presenter controls a running share, in real browsers.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.has(.chromium) && Peers.has(.firefox) && Peers.canDriveBrowsers,
            "needs Chromium, Firefox, and a Python with aiortc, numpy, pillow and websockets (RTCSHARE_PYTHON)"))
    struct PresenterPageTests {
        private static let headline = "document.getElementById('headline').textContent"
        private static let access = "document.querySelector('input[name=access]:checked').value"

        /// A share with viewers who must be admitted, and its page.
        private static func share(
            _ options: [String] = [], in folder: TemporaryFolder
        ) async throws -> (ServedShare, String) {
            // Recordings without a name go to the user's folder.
            let home = folder.file("home")
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            let share = try await ServedShare(["--ask"] + options, environment: ["HOME": home.path], in: folder)
            let page = try await share.presenterPage()
            return (share, page)
        }

        /// Types a SPEC in the dialog for another source, and switches to it.
        private static func choose(_ spec: String, in page: BrowserPage) async throws {
            try await page.click("#source-change")
            try await page.wait(until: "document.getElementById('picker-other').open")
            try await Self.type(spec, in: page)
            try await page.click("#source-switch")
        }

        private static func limit(to kilobits: String, in page: BrowserPage) async throws {
            _ = try await page.evaluate(
                "bitrate.value = '\(kilobits)', bitrate.dispatchEvent(new Event('change', { bubbles: true }))")
        }

        static func type(_ spec: String, in page: BrowserPage) async throws {
            _ = try await page.evaluate(
                "(spec.value = '\(spec)', spec.dispatchEvent(new Event('input', { bubbles: true })))")
        }

        @Test("A presenter controls the share by clicks", arguments: [Viewer.chromium, .firefox])
        func clicks(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let (share, link) = try await Self.share(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: link)
            try await page.wait(until: "\(Self.headline) === 'Nobody is watching yet'")
            #expect(try await page.evaluate("location.hash") as? String == "")
            try await page.wait(until: "document.querySelector('#link-url code').textContent === '\(share.link)'")

            let viewer = try share.view(["--no-window"])
            defer { viewer.stop() }
            try await page.wait(until: "document.title.startsWith('(1) ')")
            try await page.click("#admission [data-does=admit]")
            try await page.wait(until: "\(Self.headline) === '1 person is watching'")
            try await share.wait(for: "the viewer") { $0.first.map { !$0.isWaiting && $0.state == .connected } == true }
            try await page.wait(until: "document.querySelector('#viewers .figures').textContent.includes('direct')")

            try await page.click("#pause")
            try await page.wait(until: "\(Self.headline) === 'Paused'")
            #expect(try await share.status().isSlateShown == false)
            try await page.click("#slate")
            try await page.wait(
                until: "document.getElementById('situation').innerText.includes('instead of the')")
            #expect(try await share.status().isSlateShown)
            // The slate stays until the share resumes, and the next pause is without it.
            try await page.click("#slate")
            try await page.wait(until: "document.getElementById('slate').ariaChecked === 'false'")
            #expect(try await share.status().isSlateShown)
            try await page.click("#pause")
            try await page.wait(until: "\(Self.headline) === '1 person is watching'")
            try await page.click("#mute")
            try await page.wait(until: "document.getElementById('sounds').ariaChecked === 'false'")
            #expect(try await share.status().isAudioMuted)

            try await page.click("#access label:nth-child(3)")
            try await page.wait(until: "document.querySelector('#top .wire').innerHTML.includes('M70 5V23')")
            #expect(try await share.status().isLocked == true)
            try await page.click("#access label:nth-child(1)")
            try await share.wait { $0.isLocked == false && $0.needsApproval == false }
            let hint = "document.querySelector('[name=hint]:checked').value"
            let choices = "`${\(hint)}, ${bitrate.selectedOptions[0].label}`"
            #expect(try await page.evaluate(choices) as? String == ", Automatic (2.5 Mbit/s)")
            try await page.click("#hint label:nth-child(4)")
            try await share.wait { $0.hint == .motion }
            try await Self.limit(to: "1000", in: page)
            try await share.wait { $0.maxBitrate == 1000 && !$0.isBitrateAutomatic }
            try await page.wait(until: "\(choices) === 'motion, 1 Mbit/s'")
            try await page.click("#hint label:nth-child(1)")
            try await share.wait { $0.hint == nil }
            try await Self.limit(to: "", in: page)
            try await share.wait { $0.maxBitrate == 2500 && $0.isBitrateAutomatic }
            try await page.wait(until: "\(choices) === ', Automatic (2.5 Mbit/s)'")

            try await Self.choose("nothing:1", in: page)
            try await page.wait(until: "!document.getElementById('problem').hidden")
            try await Self.choose("test:320x180@15", in: page)
            try await share.wait { $0.source == "test:320x180@15" }
            try await page.wait(until: "document.getElementById('problem').hidden")

            try await page.click("#record")
            try await share.wait { $0.recording != nil }
            try await page.wait(until: "document.getElementById('recording').textContent.includes('.webm')")
            try await page.click("#record")
            try await share.wait { $0.recording == nil }

            try await page.click("#viewers [data-does=remove]")
            try await page.wait(until: "\(Self.headline) === 'Nobody is watching yet'")
            try await page.wait(until: "document.querySelectorAll('.graphs figure').length === 4", seconds: 30)
            try await page.click("#stop")
            try await page.click("#stop-dialog [value=stop]")
            try await page.wait(state: "ended")
            #expect(try await share.program.outcome(timeout: .seconds(20)).status == 0)
            // Browsers log each refused request.
            let complaints = try await page.complaints().filter { !$0.contains("status of 4") }
            #expect(complaints == [])
        }

        @Test(
            "A presenter controls the share by keys, and the focus stays in the list",
            arguments: [Viewer.chromium, .firefox])
        func keys(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let (share, link) = try await Self.share(["--microphone", "tone"], in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: link)
            try await page.wait(state: "during")
            let viewers = try (0..<3).map { _ in try share.view(["--no-window"]) }
            defer { viewers.forEach { $0.stop() } }
            try await page.wait(until: "document.title.startsWith('(3) ')")
            try await page.press("a")
            try await page.wait(until: "document.title.startsWith('(2) ')")
            try await page.press("d")
            try await page.wait(until: "document.title.startsWith('(1) ')")
            // Of the list that becomes empty, the focus goes to the heading.
            _ = try await page.evaluate("document.querySelector('#admission [data-does=decline]').focus(), 1")
            try await activate(in: page, browser)
            try await page.wait(
                until: "document.activeElement.id === 'headline' && document.getElementById('admission').hidden")
            #expect(try await share.status().viewers.count == 1)
            try await page.press("p")
            try await page.wait(until: "\(Self.headline) === 'Paused'")
            try await page.press("p")
            try await page.wait(until: "\(Self.headline) === '1 person is watching'")
            let (muted, heard) = ("ariaChecked === 'false'", "ariaChecked === 'true'")
            try await page.press("m")
            try await page.wait(until: "sounds.\(muted) && microphone.\(muted)")
            #expect(try await share.status().isMicrophoneMuted)
            try await page.press("m")
            try await page.wait(until: "sounds.\(heard) && microphone.\(heard)")
            // The page also unmutes what another client has muted.
            _ = try await share.ask("mute")
            try await page.wait(until: "sounds.\(muted) && microphone.\(muted)")
            try await page.press("m")
            try await page.wait(until: "sounds.\(heard) && microphone.\(heard)")
            // A microphone that a switch has turned off stays off.
            for control in ["microphone", "sounds"] {
                try await page.click("#\(control)")
                try await page.wait(until: "\(control).\(muted)")
            }
            try await page.press("m")
            try await page.wait(until: "sounds.\(heard)")
            #expect(try await share.status().isMicrophoneMuted)
            try await page.press("l")
            try await page.wait(until: "\(Self.access) === 'locked'")
            try await page.press("l")
            try await page.wait(until: "\(Self.access) === 'ask'")
            // A letter that is typed is no shortcut.
            try await page.click("#source-change")
            try await page.wait(
                until: "document.getElementById('source-dialog').open && spec.value === 'test:640x360@30'")
            _ = try await page.evaluate("spec.focus(), 1")
            try await page.press("p")
            #expect(try await page.evaluate("spec.value") as? String == "test:640x360@30p")
            #expect(try await share.status().state == .sharing)
            try await page.press("Escape")
            try await page.wait(until: "document.activeElement.id === 'source-change'")
            try await page.press("?")
            try await page.wait(until: "document.getElementById('help').open")
            try await page.press("Escape")
            try await page.wait(until: "!document.getElementById('help').open")
            // One key stops nothing: the dialog begins with the button that keeps sharing.
            let isOpen = "document.getElementById('stop-dialog').open"
            _ = try await page.evaluate("document.getElementById('stop').focus(), 1")
            try await activate(in: page, browser)
            try await page.wait(until: isOpen)
            try await activate(in: page, browser)
            try await page.wait(until: "!\(isOpen) && document.activeElement.id === 'stop'")
            try await activate(in: page, browser)
            try await page.wait(until: isOpen)
            if browser == .firefox {
                _ = try await page.evaluate("document.querySelector('[value=stop]').focus(), 1")
            } else {
                try await page.press("Tab")
            }
            try await activate(in: page, browser)
            try await page.wait(state: "ended")
            let complaints = try await page.complaints()
            #expect(complaints == [])
        }

        /// Presses Enter on the focused button. A Firefox without windows has no active one, and delivers only the event.
        private func activate(in page: BrowserPage, _ browser: Viewer) async throws {
            if browser == .firefox {
                _ = try await page.evaluate("document.activeElement.click(), 1")
            } else {
                try await page.press("Enter")
            }
        }

        @Test("The preview shows the share, and is not one of its viewers", arguments: [Viewer.chromium, .firefox])
        func preview(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let (share, link) = try await Self.share(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, in: folder)
            try await page.go(to: link)
            try await page.wait(state: "during")
            let size = "document.querySelector('#preview video:not([hidden])')?.videoWidth"
            // A share has at most four previews at a time.
            for _ in 0..<5 {
                try await page.click("#preview-show")
                try await page.wait(until: "\(size) > 0")
                let state = try await share.status()
                #expect(state.viewers.isEmpty && state.state == .waiting)
                try await page.click("#preview-show")
                try await page.wait(until: "\(size) === undefined")
            }
            try await page.click("#preview-show")
            try await page.wait(until: "\(size) > 0")
            try await share.ask("stop")
            try await page.wait(state: "ended")
            try await page.wait(until: "document.querySelector('#preview video').hidden")
        }

        @Test("Two pages show the same, and the end of a share that another command stops")
        func twoPages() async throws {
            let folder = try TemporaryFolder()
            let (share, link) = try await Self.share(in: folder)
            defer { share.stop() }
            let pages = [try await BrowserPage(.chromium, in: folder), try await BrowserPage(.firefox, in: folder)]
            for page in pages {
                try await page.go(to: link)
                try await page.wait(state: "during")
            }
            try await pages[0].click("#pause")
            for page in pages { try await page.wait(until: "\(Self.headline) === 'Paused'") }
            try await share.ask("resume")
            try await share.ask("lock")
            for page in pages {
                try await page.wait(
                    until: "\(Self.headline) === 'Nobody is watching yet' && \(Self.access) === 'locked'")
            }
            try await share.ask("stop")
            for page in pages {
                try await page.wait(state: "ended")
                let complaints = try await page.complaints()
                #expect(complaints == [])
            }
        }

        @Test("Of two hidden tabs the first follows the share, and the second one after the first is closed")
        func tabs() async throws {
            let folder = try TemporaryFolder()
            let (share, link) = try await Self.share(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            for tab in 0...1 {
                try await page.tab(tab)
                try await page.go(to: link)
                try await page.wait(state: "during")
            }
            try await share.ask("pause")
            for tab in 0...1 {
                try await page.tab(tab)
                try await page.wait(until: "\(Self.headline) === 'Paused' && document.hidden === \(tab == 0)")
            }
            try await page.tab(2)
            try await page.tab(1)
            // Without events, the title claims nothing.
            try await page.wait(until: "document.hidden && document.title === 'rtcshare'")
            try await share.ask("resume")
            try await page.tab(0)
            try await page.wait(until: "\(Self.headline) === 'Nobody is watching yet'")
            try await page.tab(1)
            #expect(try await page.evaluate(Self.headline) as? String == "Paused")
            try await page.tab(0)
            try await page.closeTab()
            try await page.tab(1)
            try await page.wait(until: "document.hidden && document.title.startsWith('Nobody is watching yet')")
            #expect(try await page.evaluate(Self.headline) as? String == "Nobody is watching yet")
            try await share.ask("pause")
            try await page.wait(until: "document.hidden && \(Self.headline) === 'Paused'")
            let complaints = try await page.complaints()
            #expect(complaints == [])
        }

        @Test("A page that is reloaded still controls the share, and one with another secret reports it")
        func secret() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--public-url", "https://share.example/"], in: folder)
            defer { share.stop() }
            let link = try await share.presenterPage()
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.go(to: link)
            try await page.wait(state: "during")
            _ = try await page.evaluate("(document.body.dataset.state = 'old', location.reload(), 1)")
            try await page.wait(state: "during")
            // A QR code is for a link that other machines can open.
            try await page.wait(until: "document.querySelector('#link-code img').naturalWidth > 0")
            try await page.go(to: String(link.prefix { $0 != "#" }) + "#wrong")
            try await page.wait(state: "stranger")
            let code = "document.querySelector('#notice-command code').textContent"
            #expect(try await page.evaluate(code) as? String == "rtcshare present")
        }

        @Test(
            "No state violates WCAG 2 A or AA, in light or dark, and no text is cut off on a phone in any language",
            .enabled(if: Peers.hasAxe, "needs axe-playwright-python in that Python"))
        func everyState() async throws {
            let folder = try TemporaryFolder()
            let (share, link) = try await Self.share(in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.resize(width: 360, height: 740)
            try await page.go(to: String(link.prefix { $0 != "#" }) + "#wrong")
            try await page.wait(state: "stranger")
            try await check(page, "stranger")
            try await page.go(to: link)
            try await page.wait(state: "during")
            try await check(page, "nobody")
            let viewers = try (0..<2).map { _ in try share.view(["--no-window"]) }
            defer { viewers.forEach { $0.stop() } }
            try await page.wait(until: "document.title.startsWith('(2) ')")
            try await page.press("a")
            try await page.wait(until: "document.title.startsWith('(1) ')")
            try await page.wait(until: "document.querySelector('#viewers .figures').textContent.includes('direct')")
            try await page.click("#record")
            try await page.wait(until: "!document.getElementById('recording').hidden")
            try await Self.choose("nothing:1", in: page)
            try await page.wait(until: "!document.getElementById('problem').hidden")
            try await page.wait(until: "document.querySelectorAll('.graphs figure').length === 4", seconds: 30)
            _ = try await page.evaluate(
                "[...document.querySelectorAll('details')].map((element) => (element.open = true)).length")
            try await check(page, "watched")
            #expect(try await page.evaluate(Self.inEachLanguage) as? [String] == [])
            try await page.resize(width: 1280)
            try await check(page, "wide")
            try await page.resize(width: 360, height: 740)
            try await page.press("p")
            try await page.wait(until: "\(Self.headline) === 'Paused'")
            try await page.press("l")
            try await page.wait(until: "\(Self.access) === 'locked'")
            try await check(page, "paused and locked")
            _ = try await page.evaluate("document.documentElement.dir = 'rtl'")
            try await check(page, "from right to left")
            try await page.press("?")
            try await check(page, "help")
            try await page.press("Escape")
            try await page.click("#stop")
            try await check(page, "stop")
            try await page.click("#stop-dialog [value=stop]")
            try await page.wait(state: "ended")
            try await check(page, "ended")
        }

        func check(
            _ page: BrowserPage, _ state: String, _ location: SourceLocation = #_sourceLocation
        ) async throws {
            // A problem stays in sight, above what is scrolled below it.
            _ = try await page.evaluate("scrollTo(0, 0), 1")
            let violations = try await page.violations()
            #expect(violations == [], "\(state)", sourceLocation: location)
            #expect(try await page.evaluate(Self.cutOff) as? [String] == [], "\(state)", sourceLocation: location)
        }

        /// Elements that are wider than their place, or reach beyond the window.
        static let cutOff = """
            [...document.querySelectorAll("body *")]
              .filter((element) => !element.closest("svg, .unseen, .choices input, .table, #region-picture, noscript") && element.checkVisibility())
              .filter((element) => {
                const { left, right } = element.getBoundingClientRect();
                const isWide = getComputedStyle(element).display !== "inline" && element.scrollWidth > element.clientWidth + 1;
                return isWide || left < -1 || right > innerWidth + 1;
              })
              .map(({ localName, id, textContent }) => `${document.documentElement.lang}: ${localName}#${id} ${textContent.slice(0, 60)}`)
            """

        /// The same for the page and its dialogs in each language, with each sentence of a viewer in its list.
        private static let inEachLanguage = """
            (async () => {
              const load = (name) => import(new URL(name, document.baseURI));
              const { LANGUAGES } = await load("language.js");
              const { condition } = await load("words.js");
              const troubles = ["silent", "lossy", "slow", "late", "stuck"];
              const figures = { lossy: 0.123, slow: 900, late: 0.45, stuck: 17 };
              const found = [];
              for (const code of [...Object.keys(LANGUAGES), "en"]) {
                language.value = code;
                language.dispatchEvent(new Event("change"));
                const { default: texts } = await load(`texts/${code}.js`);
                while (document.getElementById("content-title").textContent !== texts.content) await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
                for (const trouble of troubles) {
                  document.querySelector("#viewers .condition").textContent = condition({ state: "connected", trouble, troubleFigure: figures[trouble] });
                  found.push(...\(cutOff));
                }
                for (const id of ["help", "stop-dialog", "source-dialog"]) {
                  document.getElementById(id).showModal();
                  found.push(...\(cutOff));
                  document.getElementById(id).close();
                }
              }
              return found;
            })()
            """
    }
}

extension ServedShare {
    /// The link of the page for its presenter.
    fileprivate func presenterPage() async throws -> String { try await share.presenterPage() }

    fileprivate func wait(until condition: (ControlledShare) -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let status = try await status()
            if condition(status) { return }
            try #require(ContinuousClock.now < deadline, "\(status)")
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

extension Share {
    /// The link of the page for the presenter of the program that has the usual control socket.
    func presenterPage() async throws -> String {
        let socket = folder.file("run/rtcshare/share.sock").path
        let arguments = ["--silent", "--unix-socket", socket, "--request", "POST", "http://localhost/v1/page"]
        let outcome = try await RunningProgram.run(
            try #require(RunningProgram.find("curl")), arguments, in: folder, timeout: .seconds(30))
        let answer = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8)) as? [String: Any]
        return try #require(answer?["url"] as? String, "\(outcome.standardOutput)")
    }
}

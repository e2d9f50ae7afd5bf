import Foundation
import Testing
import TestSupport

@testable import RTCShareCapture
@testable import rtcshare

extension Interop {
    /// The page with which a presenter starts a share, in real browsers.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.has(.chromium) && Peers.has(.firefox) && Peers.canDriveBrowsers && XvfbDisplay.missing == nil
                && RunningProgram.find("openbox") != nil,
            """
            needs Xvfb, xterm, xclock, openbox, Chromium, Firefox, and a Python with aiortc, numpy, pillow and \
            websockets (RTCSHARE_PYTHON)
            """))
    struct StartPageTests {
        private static let chosen = "document.getElementById('chosen').textContent"
        private static let status = "document.body.dataset.state"

        /// `rtcshare present` on a desktop, without a browser.
        private struct Stage {
            let folder: TemporaryFolder
            let share: Share
            /// The display; nil on Wayland.
            var display: XvfbDisplay?

            /// Creates a display with clocks.
            init(windows: Int = 2, _ environment: [String: String] = [:]) async throws {
                let folder = try TemporaryFolder()
                let display = try await XvfbDisplay(width: 1280, height: 720, in: folder)
                try await display.startWindowManager()
                for number in 1...windows {
                    try display.start("xclock", ["-title", "Clock \(number)", "-geometry", "200x200"])
                }
                try self.init(in: folder, environment.merging(display.environment) { $1 })
                self.display = display
            }

            init(in folder: TemporaryFolder, _ environment: [String: String]) throws {
                self.folder = folder
                // A browser of the desktop would be the user's own.
                let program = try folder.write("#!/bin/sh\n", to: "bin/xdg-open")
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
                _ = try folder.write("[serve]\nlisten = \"127.0.0.1:0\"\n", to: "config/rtcshare/config.toml")
                for name in ["run", "home"] {
                    try FileManager.default.createDirectory(
                        at: folder.file(name), withIntermediateDirectories: true,
                        attributes: [.posixPermissions: 0o700])
                }
                let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
                let own = [
                    "PATH": "\(folder.file("bin").path):\(path)", "XDG_RUNTIME_DIR": folder.file("run").path,
                    "HOME": folder.file("home").path, "XDG_STATE_HOME": folder.file("state").path,
                    "XDG_VIDEOS_DIR": "", "PULSE_SERVER": "unix:\(folder.file("none").path)",
                ]
                var all = own.merging(environment) { $1 }
                all["XDG_CONFIG_HOME"] = folder.file("config").path
                share = try Share(environment: all, in: folder)
            }

            /// Starts the program, and opens its page.
            func present(in page: BrowserPage) async throws -> RunningProgram {
                let program = try share.start(["present"])
                try await program.wait(for: "the control socket", timeout: .seconds(30)) {
                    FileManager.default.fileExists(atPath: folder.file("run/rtcshare/share.sock").path)
                }
                try await page.go(to: try await share.presenterPage())
                try await page.wait(state: "before")
                return program
            }

            /// The stored choices.
            var choices: String {
                (try? String(contentsOf: folder.file("state/rtcshare/present.json"), encoding: .utf8)) ?? ""
            }

            func state() async throws -> ControlledShare {
                let outcome = try await share.run(["status", "--json"], timeout: .seconds(30))
                try #require(outcome.status == 0, "\(outcome.standardError)")
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return try decoder.decode(ControlledShare.self, from: Data(outcome.standardOutput.utf8))
            }
        }

        /// The card of a window.
        private static func card(_ title: String) -> String {
            "[...document.querySelectorAll('#picker-windows li')].find((item) => item.innerText.includes('\(title)'))"
        }

        /// Gives a field a value, as a person does.
        private static func set(_ field: String, to value: String, _ event: String, in page: BrowserPage) async throws {
            _ = try await page.evaluate(
                """
                ((field) => (field.value = "\(value)", field.dispatchEvent(new Event("\(event)", { bubbles: true }))))
                  (document.getElementById("\(field)"))
                """)
        }

        private static func choose(_ title: String, in page: BrowserPage) async throws {
            try await page.wait(until: "Boolean(\(card(title)))")
            _ = try await page.evaluate(
                "document.getElementById('wanted')?.removeAttribute('id'), \(card(title)).querySelector('.look').id = 'wanted'"
            )
            try await page.click("#wanted")
            try await page.wait(until: "\(chosen) === '\(title)'")
        }

        @Test(
            "A presenter shares a window by clicks, switches to another, stops, and shares again",
            arguments: [Viewer.chromium, .firefox])
        func clicks(browser: Viewer) async throws {
            let stage = try await Stage()
            let page = try await BrowserPage(browser, in: stage.folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            // The screen is chosen at first.
            try await page.wait(until: "document.querySelector('#picker-screens [name=pick]').checked")
            try await page.wait(until: "document.querySelectorAll('#picker-windows img:not([hidden])').length === 2")
            try await Self.choose("Clock 1", in: page)
            try await page.click("#start .choices label:nth-child(2)")
            _ = try await page.evaluate("attendee.value = 'Ada', 1")
            try await page.click("#begin")
            try await page.wait(state: "during")
            let state = try await stage.state()
            #expect(state.source.hasPrefix("window:0x") && state.attendee == "Ada" && state.needsApproval == true)
            #expect(try await page.evaluate("document.getElementById('source').textContent") as? String == "Clock 1")

            try await page.click("#source-change")
            try await Self.choose("Clock 2", in: page)
            try await page.click("#source-switch")
            try await page.wait(until: "document.getElementById('source').textContent === 'Clock 2'")
            #expect(try await stage.state().source != state.source)

            try await page.click("#stop")
            try await page.click("#stop-dialog [value=stop]")
            try await page.wait(state: "ended")
            try await page.wait(until: "!document.getElementById('again').hidden")
            try await page.click("#again")
            try await page.wait(until: "\(Self.status) === 'before' && attendee.value === 'Ada'")
            #expect(try await page.evaluate("start.elements.approval.value") as? String == "ask")
            try await page.wait(until: "\(Self.chosen) === 'Clock 2'")
            try await page.click("#begin")
            try await page.wait(state: "during")
            let complaints = try await page.complaints()
            #expect(complaints == [])
        }

        @Test("A presenter draws a region, types it, and shares it by keys only")
        func region() async throws {
            let stage = try await Stage()
            let page = try await BrowserPage(.chromium, in: stage.folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            let fields = "[...document.querySelectorAll('#region input')].map(({ value }) => value).join()"
            try await page.wait(until: "document.querySelector('#picker-screens [name=pick]').checked")
            // The arrows move from card to card.
            _ = try await page.evaluate("document.querySelector('#picker-screens [name=pick]').focus(), 1")
            try await page.press("ArrowRight")
            try await page.wait(until: "document.querySelector('#region-picture img').naturalWidth > 0")
            try await page.drag("#region-picture", from: [0.25, 0.25], to: [0.5, 0.75])
            let drawn = try #require(try await page.evaluate(fields) as? String)
            let numbers = drawn.split(separator: ",").compactMap { Double($0) }
            for (number, expected) in zip(numbers, [320.0, 180, 320, 360]) { #expect(abs(number - expected) <= 4) }

            _ = try await page.evaluate(
                """
                ["100", "50", "640", "9000"].forEach((value, index) => {
                  const field = document.querySelectorAll("#region input")[index];
                  field.value = value;
                  field.dispatchEvent(new Event("input", { bubbles: true }));
                })
                """)
            // In a field, Enter shares nothing.
            _ = try await page.evaluate("document.querySelector('#region input').focus(), 1")
            try await page.press("Enter")
            #expect(try await page.evaluate(Self.status) as? String == "before")
            _ = try await page.evaluate("document.getElementById('begin').focus(), 1")
            try await page.press("Enter")
            try await page.wait(state: "during")
            #expect(try await stage.state().source == "region:640x670+100+50")
            #expect(try await page.evaluate("document.activeElement.id") as? String == "headline")
        }

        @Test("A share that can't start is reported in the words of the program, and the choices stay")
        func failure() async throws {
            let stage = try await Stage(["RTCSHARE_ASK": "true", "RTCSHARE_HINT": "text"])
            let page = try await BrowserPage(.chromium, in: stage.folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            // A choice that was never made is that of the configuration.
            try await page.wait(until: "start.elements.approval.value === 'ask'")
            #expect(try await page.evaluate("start.elements.optimization.value") as? String == "text")
            try await page.click("#start [name=optimization][value=auto] + span")
            try await page.click("#picker-other summary")
            try await PresenterPageTests.type("tset:320x180@15", in: page)
            try await page.click("#begin")
            try await page.wait(until: "!document.getElementById('refusal').hidden")
            let words = try #require(try await page.evaluate("refusal.querySelector('p').textContent") as? String)
            #expect(words.contains("tset:320x180@15"))
            try await page.wait(until: "document.getElementById('begin').ariaDisabled === 'false'")
            try await PresenterPageTests.type("test:320x180@15", in: page)
            try await page.click("#begin")
            try await page.wait(state: "during")
            let state = try await stage.state()
            #expect(state.source == "test:320x180@15" && state.hint == nil)

            // The next share has no problem of this one.
            try await page.click("#source-change")
            try await page.wait(until: "document.getElementById('picker-other').open")
            try await PresenterPageTests.type("nothing:1", in: page)
            try await page.click("#source-switch")
            try await page.wait(until: "!document.getElementById('problem').hidden")
            #expect(try await stage.share.run(["stop"]).status == 0)
            try await page.wait(until: "!document.getElementById('again').hidden")
            try await page.click("#again")
            try await page.wait(
                until: "spec.value === 'test:320x180@15' && document.getElementById('begin').ariaDisabled === 'false'")
            try await page.click("#begin")
            try await page.wait(state: "during")
            #expect(try await page.evaluate("document.getElementById('problem').hidden") as? Bool == true)
        }

        @Test("The choices are there the next time, and no microphone is used before a click")
        func remembered() async throws {
            let folder = try TemporaryFolder()
            let pulse = try await PulseDaemon(in: folder)
            let tone = try pulse.play(hertz: 440, amplitude: 0.5, seconds: 60, into: "content")
            defer { tone.stop() }
            let loading = ["load-module", "module-remap-source", "source_name=desk", "master=content.monitor"]
            #expect(try await pulse.run("pactl", loading).status == 0)
            let recordings = { try await pulse.run("pactl", ["list", "short", "source-outputs"]).standardOutput }
            let unused = try await recordings()
            let stage = try await Stage(["PULSE_SERVER": try #require(pulse.environment["PULSE_SERVER"])])
            let page = try await BrowserPage(.chromium, in: stage.folder)
            var program = try await stage.present(in: page)
            defer { program.stop() }
            try await Self.choose("Clock 2", in: page)
            for (list, value) in [("start-audio", "system"), ("start-microphone", "microphone")] {
                try await page.wait(until: "[...document.getElementById('\(list)').options].length > 1")
                try await Self.set(list, to: value, "change", in: page)
            }
            try await page.click("#start [name=optimization][value=motion] + span")
            try await page.click("#begin")
            try await page.wait(state: "during")
            let state = try await stage.state()
            #expect(state.hint == .motion && state.microphone?.spec == "microphone")
            #expect(state.sounds?.map(\.spec) == ["system"])
            try await page.click("#slate")
            try await Self.set("language", to: "de", "change", in: page)
            try await page.wait(until: "document.documentElement.lang === 'de'")
            // The next page has another origin, so the browser has no choices for it.
            try await program.wait(for: "the stored language", timeout: .seconds(20)) {
                stage.choices.contains("\"language\":\"de\"")
            }
            program.interrupt()
            _ = try await program.outcome(timeout: .seconds(20))

            program = try await stage.present(in: page)
            try await page.wait(until: "\(Self.chosen) === 'Clock 2'")
            let values = ["start.elements.optimization", "window['start-audio']", "window['start-microphone']"]
            let form = "[\(values.map { "\($0).value" }.joined(separator: ", "))].join()"
            #expect(try await page.evaluate(form) as? String == "motion,system,microphone")
            #expect(try await recordings() == unused)
            // More often than there can be streams of sources at a time.
            for _ in 0..<3 {
                try await page.click("#microphone-try")
                try await page.wait(until: "document.getElementById('level').value > -20")
                #expect(try await recordings() != unused)
                try await page.click("#microphone-try")
                try await page.wait(until: "document.getElementById('microphone-trial').hidden")
            }
            #expect(try await page.evaluate("document.documentElement.lang") as? String == "de")
            try await page.click("#begin")
            try await page.wait(state: "during")
            #expect(try await page.evaluate("document.getElementById('slate').ariaChecked") as? String == "true")
        }

        @Test(
            "An audio server and cameras that are there later are listed",
            .enabled(if: WaylandDesktop.missing == nil, "needs \(WaylandDesktop.missing ?? "")"))
        func laterServers() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            _ = try desktop.startCamera("front", "YUY2")
            let pulse = try await PulseDaemon(in: folder)
            let server = try #require(pulse.environment["PULSE_SERVER"]?.dropFirst("unix:".count))
            let loading = ["load-module", "module-remap-source", "source_name=desk", "master=content.monitor"]
            #expect(try await pulse.run("pactl", loading).status == 0)
            let (sound, video) = (folder.file("sound").path, folder.file("video").path)
            let remotes = ["PULSE_SERVER": "unix:\(sound)", "PIPEWIRE_REMOTE": video]
            let stage = try Stage(in: folder, desktop.environment.merging(remotes) { $1 })
            let page = try await BrowserPage(.chromium, in: folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            let counts = "['camera', 'microphone'].map((kind) => window[`start-${kind}`].options.length).join()"
            try await page.wait(until: "\(counts) === '1,2' && !window['sounds-reason'].hidden")
            try FileManager.default.createSymbolicLink(atPath: sound, withDestinationPath: String(server))
            try FileManager.default.createSymbolicLink(atPath: video, withDestinationPath: desktop.pipeWireSocket)
            try await page.wait(until: "\(counts) === '2,3' && window['sounds-reason'].hidden")
        }

        @Test("The screen is not shared in the place of a window that is gone")
        func goneWindow() async throws {
            let stage = try await Stage(windows: 1)
            let choices = try stage.folder.write(
                "{\"source\":\"window:title=Closed\"}", to: "state/rtcshare/present.json")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: choices.path)
            let page = try await BrowserPage(.chromium, in: stage.folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            try await page.wait(until: "document.querySelectorAll('#picker-windows li').length === 1")
            #expect(try await page.evaluate("document.getElementById('begin').ariaDisabled") as? String == "true")
            #expect(try await page.evaluate("document.querySelectorAll('[name=pick]:checked').length") as? Int == 0)
        }

        @Test(
            "On Wayland the desktop asks, a no is reported in words, and a camera is used only after a click",
            .enabled(if: WaylandDesktop.missing == nil, "needs \(WaylandDesktop.missing ?? "")"))
        func wayland() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.none, in: folder)
            let portal = try await ScriptedPortal(on: desktop)
            _ = try desktop.startCamera("front", "YUY2")
            let session = ["XDG_SESSION_TYPE": "wayland", "WAYLAND_DISPLAY": "wayland-1"]
            let stage = try Stage(in: folder, desktop.environment.merging(session) { $1 })
            let page = try await BrowserPage(.chromium, in: folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            try await page.wait(until: "\(Self.chosen) === 'Choose on the desktop'")
            // With an earlier choice, too.
            let token = try folder.write("token", to: "home/.local/state/rtcshare/portal-any.token").path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: token)
            try portal.set(["Start": .uint32(1)])
            try await page.click("#begin")
            try await page.wait(until: "!document.getElementById('refusal').hidden")
            let asked = try portal.asked()
            #expect(asked.contains { $0.contains("SelectSources") }, "\(asked)")
            #expect(!asked.contains { $0.contains("restore_token") }, "\(asked)")
            #expect(try await page.evaluate(Self.status) as? String == "before")

            try await page.wait(until: "document.querySelectorAll('#picker-cameras li').length === 1")
            try await page.click("#picker-cameras .look")
            #expect(try await page.evaluate("document.querySelector('#picker-cameras img').hidden") as? Bool == true)
            try await page.click("#camera-show")
            try await page.wait(until: "document.querySelector('#picker-cameras img').naturalWidth > 0")
            // The share opens the camera that the preview has used.
            try await page.click("#begin")
            try await page.wait(state: "during")
            #expect(try await stage.state().source.hasPrefix("camera"))
            _ = try portal.asked()
            #expect(try await stage.share.run(["switch", "portal"]).status == 77)
            let askedAgain = try portal.asked()
            #expect(askedAgain.contains { $0.contains("SelectSources") }, "\(askedAgain)")
            #expect(!askedAgain.contains { $0.contains("restore_token") }, "\(askedAgain)")
        }

        @Test(
            "On sway and on GNOME, the desktop's choice is shared, and a person sees it in another browser",
            .enabled(if: WaylandDesktop.missing == nil, "needs \(WaylandDesktop.missing ?? "")"),
            arguments: [WaylandDesktop.Kind.sway, .gnome])
        func compositor(kind: WaylandDesktop.Kind) async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(kind, in: folder)
            try desktop.start("foot", ["sh", "-c", "ls -l /; sleep 600"])
            let session = ["XDG_SESSION_TYPE": "wayland", "XDG_RUNTIME_DIR": folder.file("run").path]
            let stage = try Stage(in: folder, desktop.environment.merging(session) { $1 })
            let page = try await BrowserPage(.chromium, in: folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            try await page.wait(until: "\(Self.chosen) === 'Choose on the desktop'")
            try await page.click("#begin")
            // The dialog takes its time to be there, and nothing happens when somebody clicks where it will be.
            while kind == .gnome, try await page.evaluate(Self.status) as? String == "before",
                try await page.evaluate("document.getElementById('refusal').hidden") as? Bool == true
            {
                try await desktop.point("640,386,click", "852,233,click")
            }
            try await page.wait(state: "during")
            let shown = "document.querySelector('#link-url code').textContent"
            try await page.wait(until: "\(shown) !== ''")
            let link = try #require(try await page.evaluate(shown) as? String)
            let viewer = try await BrowserPage(.firefox, in: folder)
            try await viewer.go(to: link)
            try await viewer.wait(until: "document.querySelector('video')?.videoWidth === 1280")
            try await page.wait(until: "document.querySelectorAll('#viewers li').length === 1")
        }

        @Test("Windows are found by their words, and one that closes is no longer chosen")
        func windows() async throws {
            let stage = try await Stage(windows: 10)
            let page = try await BrowserPage(.chromium, in: stage.folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            try await page.wait(until: "document.querySelectorAll('#picker-windows li').length === 10")
            try await Self.set("picker-search", to: "clock 10", "input", in: page)
            let names = "[...document.querySelectorAll('#picker-windows li:not([hidden]) strong')]"
            let found = "\(names).map(({ textContent }) => textContent).join()"
            #expect(try await page.evaluate(found) as? String == "Clock 10")
            try stage.display?.start("xterm", ["-T", "Notes", "-e", "sleep", "15"])
            try await Self.set("picker-search", to: "", "input", in: page)
            try await Self.choose("Notes", in: page)
            try await page.wait(until: "\(Self.chosen) === 'Choose what to share.'")
            #expect(try await page.evaluate("document.getElementById('begin').ariaDisabled") as? String == "true")
        }

        @Test(
            "The form and the dialog violate no WCAG 2 A or AA, and no text is cut off on a phone in any language",
            .enabled(if: Peers.hasAxe, "needs axe-playwright-python in that Python"))
        func everyState() async throws {
            let stage = try await Stage(windows: 10)
            let page = try await BrowserPage(.chromium, in: stage.folder)
            let program = try await stage.present(in: page)
            defer { program.stop() }
            try await page.wait(until: "document.querySelectorAll('#picker-windows img:not([hidden])').length === 10")
            let checks = PresenterPageTests()
            try await checks.check(page, "before")
            try await page.resize(width: 360, height: 740)
            _ = try await page.evaluate("document.querySelector('#picker-other summary').click()")
            try await PresenterPageTests.type("nothing:1", in: page)
            try await page.click("#begin")
            try await page.wait(until: "!document.getElementById('refusal').hidden")
            _ = try await page.evaluate("document.querySelector('[name=pick][value=region]').click()")
            try await page.wait(until: "document.querySelector('#region-picture img').naturalWidth > 0")
            try await checks.check(page, "refused")
            #expect(try await page.evaluate(Self.inEachLanguage) as? [String] == [])
            _ = try await page.evaluate("document.documentElement.dir = 'rtl'")
            try await checks.check(page, "from right to left")
            _ = try await page.evaluate("document.documentElement.dir = 'ltr'")
            try await page.click("#begin")
            try await page.wait(state: "during")
            try await page.click("#source-change")
            try await page.wait(until: "document.querySelectorAll('#source-dialog img:not([hidden])').length > 9")
            try await checks.check(page, "dialog")
            #expect(try await page.evaluate(Self.inEachLanguage) as? [String] == [])
        }

        private static let inEachLanguage = """
            (async () => {
              const { LANGUAGES } = await import(new URL("language.js", document.baseURI));
              const found = [];
              for (const code of [...Object.keys(LANGUAGES), "en"]) {
                language.value = code;
                language.dispatchEvent(new Event("change"));
                const { default: texts } = await import(new URL(`texts/${code}.js`, document.baseURI));
                while (document.getElementById("before-title").textContent !== texts["before.title"]) await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
                found.push(...\(PresenterPageTests.cutOff));
              }
              return found;
            })()
            """
    }
}

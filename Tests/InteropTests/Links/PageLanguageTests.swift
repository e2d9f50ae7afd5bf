import Foundation
import RTCSharePeerConnection
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// The page in other languages, and for people who use it otherwise than with eyes, mouse and a wide screen.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.has(.chromium) && Peers.has(.firefox) && Peers.canDriveBrowsers,
            "needs Chromium, Firefox, and a Python with aiortc, numpy, pillow and websockets (RTCSHARE_PYTHON)"))
    struct PageLanguageTests {
        /// The name of a button in the bar.
        private static let button = "document.querySelector('[data-does=statistics]').getAttribute('aria-label')"

        @Test(
            "A German browser shows the page in German, or in the language chosen",
            arguments: [Viewer.chromium, .firefox])
        func germanBrowser(browser: Viewer) async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--base-path", "/office"], in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(browser, languages: "de-AT,de,en", in: folder)
            try await page.go(to: share.address + "none/such")
            try await page.wait(until: "document.querySelector('h1')?.textContent === 'Hier gibt es nichts'")
            #expect(try await page.evaluate("document.documentElement.lang") as? String == "de")
            // An unknown language changes nothing.
            try await page.go(to: share.address + "?lang=xx#" + share.token)
            try await page.wait(state: "live")
            #expect(try await page.evaluate(Self.button) as? String == "Statistik")
            #expect(try await page.evaluate("document.documentElement.lang") as? String == "de")
            let viewers = try await page.evaluate("document.getElementById('who-viewers').textContent")
            #expect(viewers as? String == "1 Person sieht zu")

            // A text that German lacks is English.
            _ = try await page.evaluate(
                """
                import(new URL("languages/de.js", document.baseURI)).then(async ({ default: german }) => {
                  delete german.statistics;
                  const { choose, translate } = await import(new URL("language.js", document.baseURI));
                  await choose("");
                  translate();
                })
                """)
            let titles = "['statistics', 'help'].map((id) => document.getElementById(`${id}-title`).textContent).join()"
            #expect(try await page.evaluate(titles) as? String == "Statistics,Hilfe und Einstellungen")

            // The link's choice stays for other links; the page's own changes what is there.
            try await page.go(to: share.address.dropLast() + "?lang=ru#" + share.token)
            try await page.wait(state: "live")
            try await page.go(to: share.link)
            try await page.wait(state: "live")
            #expect(try await page.evaluate(Self.button) as? String == "Статистика")
            for (choice, name) in [("ja", "統計"), ("", "Statistik")] {
                _ = try await page.evaluate(
                    "language.value = '\(choice)', language.dispatchEvent(new Event('change')), document.body.dataset.state"
                )
                try await page.wait(until: "\(Self.button) === '\(name)'")
            }
            #expect(try await page.complaints().filter { !$0.contains("404") } == [])
        }

        @Test(
            "No state violates WCAG 2 A or AA, in light or dark, and no text is cut off on a phone in any language",
            .enabled(if: Peers.hasAxe, "needs axe-playwright-python in that Python"))
        func everyState() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--ask", "--camera", "test:160x120@5"], in: folder)
            defer { share.stop() }
            let page = try await BrowserPage(.chromium, in: folder)
            try await page.resize(width: 360, height: 740)
            try await page.go(to: share.address + "none/such")
            try await page.wait(until: "document.querySelector('h1') !== null")
            try await check(page, "nothing there")
            try await page.go(to: share.address)
            try await page.wait(state: "refused")
            try await check(page, "refused")
            #expect(try await page.evaluate(Self.cutOffNotices) as? [String] == [])
            try await page.wait(until: "document.body.dataset.state === 'connecting'")
            try await check(page, "connecting")

            try await page.go(to: share.link)
            try await page.wait(state: "waiting")
            try await check(page, "waiting")
            let status = try await share.wait(for: "the viewer") {
                $0.first.map { $0.isWaiting && $0.state == .connected } == true
            }
            try await share.ask("admit", "\(try #require(status.viewers.first).id)")
            try await page.wait(state: "live")
            // The bar stays while it has the focus.
            let focus = "document.querySelector('[data-does=statistics]').focus({ focusVisible: true })"
            _ = try await page.evaluate(focus)
            try await page.wait(until: "getComputedStyle(bar).opacity === '1'")
            try await check(page, "live")
            try await page.press("s")
            try await check(page, "statistics")
            #expect(try await page.evaluate(Self.cutOffControls) as? [String] == [])
            _ = try await page.evaluate("document.documentElement.dir = 'rtl'")
            try await check(page, "from right to left")
            try await page.press("?")
            try await check(page, "help")
            try await page.press("?")
            try await share.ask("pause")
            try await page.wait(state: "paused")
            try await check(page, "paused")
            try await share.ask("stop")
            try await page.wait(state: "ended")
            try await check(page, "ended")
        }

        private func check(
            _ page: BrowserPage, _ state: String, _ location: SourceLocation = #_sourceLocation
        ) async throws {
            let violations = try await page.violations()
            #expect(violations == [], "\(state)", sourceLocation: location)
            let cutOff = try await page.evaluate(Self.cutOff) as? [String]
            #expect(cutOff == [], "\(state)", sourceLocation: location)
        }

        /// Elements that are wider than their place, or reach beyond the window.
        private static let cutOff = """
            [...document.querySelectorAll("body *")]
              .filter((element) => !element.closest("svg, #stage, .unseen, noscript") && element.checkVisibility())
              .filter((element) => {
                const { left, right } = element.getBoundingClientRect();
                const isWide = getComputedStyle(element).display !== "inline" && element.scrollWidth > element.clientWidth + 1;
                return isWide || left < -1 || right > innerWidth + 1;
              })
              .map(({ localName, id, textContent }) => `${document.documentElement.lang}: ${localName}#${id} ${textContent.slice(0, 60)}`)
            """

        /// The same for each state's words in each language. The page then says that it is connecting, in English.
        private static let cutOffNotices = """
            (async () => {
              const load = (name) => import(new URL(name, document.baseURI));
              const { LANGUAGES, choose, translate } = await load("language.js");
              const { describe, NO_WEBRTC } = await load("words.js");
              const { NOT_A_SHARE, Problem } = await load("whep.js");
              const notice = new (await load("notice.js")).Notice(() => {});
              const types = { 403: ["locked", "foreign"], 503: ["full", "crowded"] };
              const statuses = [0, 401, 403, 406, 409, 429, 500, 503, NO_WEBRTC, NOT_A_SHARE];
              const problems = statuses.flatMap((status) => (types[status] ?? ["none"]).map(
                (type) => ({ kind: "problem", problem: new Problem(status, { type: `urn:rtcshare:${type}`, detail: "a detail" }) })));
              const steps = ["asking", "picture", "paths"].map((step) => ({ kind: "connecting", step }));
              const situations = [...problems, ...["lost", "nopath", "ended", "removed", "declined"].map((kind) => ({ kind })), { kind: "on" }];
              const shares = [{}, { state: "paused", name: "alice" }, { state: "waiting", name: "alice" }, { tiles: [{ state: "off" }] }, { blocked: true }];
              const found = [];
              for (const code of [...Object.keys(LANGUAGES), "en"]) {
                await choose(code);
                translate();
                for (const situation of [...situations, ...steps]) {
                  for (const isOffline of [true, false]) for (const share of situation.kind === "on" ? shares : shares.slice(0, 1)) {
                    const facts = { isOffline, isSlow: true, hasToken: isOffline, hasPicture: false, isBlocked: share.blocked === true };
                    const words = describe(situation, share, facts);
                    notice.show(words, false, words.canRetry ? performance.now() + 9000 : undefined);
                    found.push(...\(cutOff));
                  }
                }
              }
              return found;
            })()
            """

        /// The same for the bar, the statistics and the help in each language.
        private static let cutOffControls = """
            (async () => {
              const { LANGUAGES } = await import(new URL("language.js", document.baseURI));
              const found = [];
              for (const code of [...Object.keys(LANGUAGES), "en"]) {
                language.value = code;
                language.dispatchEvent(new Event("change"));
                const { default: texts } = await import(new URL(`languages/${code}.js`, document.baseURI));
                while (document.querySelector("#help-title").textContent !== texts.help) await new Promise(requestAnimationFrame);
                found.push(...\(cutOff));
                help.showModal();
                found.push(...\(cutOff));
                help.close();
              }
              return found;
            })()
            """
    }
}

import Foundation
import Testing

@testable import rtcshare

extension Interop {
    /// The page in other languages.
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
                  (await import(new URL("language.js", document.baseURI))).translate();
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
    }
}

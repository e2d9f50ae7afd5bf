import Foundation
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import rtcshare

extension Interop {
    /// Pages of real shares, in a browser.
    @Suite(.serialized)
    struct ReportPageTests {
        @Test("A failed report ends with the status of the failure, and prints it only to standard error")
        func statuses() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(in: folder)
            _ = try folder.write("", to: "empty.jsonl")
            for (start, file) in [(1_000_000, "early.jsonl"), (1_050_000, "late.jsonl")] {
                let reports = [start, start + 1000].map { time in
                    #"[{"id": "T0", "type": "transport", "iceState": "connected", "timestamp": \#(time)}]"# + "\n"
                }
                _ = try folder.write(reports.joined(), to: file)
            }
            for (arguments, status, words) in [
                (["empty.jsonl"], 65, "empty.jsonl"), (["missing.jsonl"], 66, "no such file"),
                (["."], 66, "can't read"),
                (["early.jsonl", "late.jsonl"], 65, "different times"), (["early.jsonl", "early.jsonl"], 64, "twice"),
                (["a", "b", "c"], 64, "one file"), ([], 64, "FILE is missing"),
            ] as [([String], Int32, String)] {
                let outcome = try await share.run(["report"] + arguments)
                #expect(outcome.status == status && outcome.standardOutput.isEmpty, "\(arguments): \(outcome)")
                #expect(outcome.standardError.contains(words), "\(outcome.standardError)")
            }
            let outcome = try await share.run(["report", "early.jsonl"])
            #expect(outcome.status == 0 && outcome.standardError.isEmpty)
            #expect(
                outcome.standardOutput.hasPrefix("<!DOCTYPE html>") && outcome.standardOutput.hasSuffix("</html>\n"))
        }

        @Test(
            "A share and its viewer are shown in Chromium, at the width of a telephone too, without a complaint",
            .enabled(if: Peers.has(.chromium) && Peers.hasCommandLine && Peers.canDriveBrowsers, "a peer is missing"))
        func realShare() async throws {
            let folder = try TemporaryFolder()
            let served = try await ServedShare(["--stats", folder.file("serve.jsonl").path], in: folder)
            defer { served.stop() }
            let viewer = try served.view(["--stats", folder.file("view.jsonl").path])
            defer { viewer.stop() }
            try await served.wait(for: "the viewer") { $0.contains { $0.state == .connected } }
            try await Task.sleep(for: .seconds(4))
            try await served.ask("switch", "test:320x240@15")
            try await Task.sleep(for: .seconds(3))
            try await served.ask("stop")
            _ = try await viewer.outcome(timeout: .seconds(30))
            let made = try await served.share.run([
                "report", folder.file("serve.jsonl").path, folder.file("view.jsonl").path,
            ])
            try #require(made.status == 0, "\(made.standardError)")
            #expect(made.standardOutput.contains("the source changed from test:640x360@30 to test:320x240@15"))
            let page = try folder.write(made.standardOutput, to: "report.html")

            let browser = try await BrowserPage(.chromium, in: folder)
            try await browser.go(to: page.absoluteString)
            try await browser.wait(until: "document.getElementById('cursor')?.hidden === false")
            #expect((try await browser.evaluate("document.querySelectorAll('.graph svg').length") as? Int ?? 0) >= 12)
            // The slider's time is that of every graph.
            let known = """
                (() => {
                  const slider = document.getElementById("time");
                  slider.value = Number(slider.max) / 2;
                  slider.dispatchEvent(new Event("input"));
                  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
                    done([...document.querySelectorAll(".graph output")].filter(({ textContent }) => /[0-9]/.test(textContent)).length))));
                })()
                """
            #expect((try await browser.evaluate(known) as? Int ?? 0) >= 12)
            for width in [320, 1280] {
                try await browser.resize(width: width)
                let isWithin = "document.documentElement.scrollWidth <= \(width)"
                #expect(try await browser.evaluate(isWithin) as? Bool == true, "\(width) pixels")
            }
            #expect(try await browser.complaints() == [])
        }
    }
}

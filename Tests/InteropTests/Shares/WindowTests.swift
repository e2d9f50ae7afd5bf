import Foundation
import Testing
import TestSupport

extension Interop {
    /// One window of a display with a window manager, through the command line.
    @Suite(.serialized)
    struct WindowTests {
        private static let isInstalled =
            Peers.mustRun
            || Peers.hasCommandLine && XvfbDisplay.missing == nil
                && ["openbox", "xdotool"].allSatisfy { RunningProgram.find($0) != nil }

        private struct Sources: Decodable {
            struct Window: Decodable {
                let spec: String
                let title: String
                let application: String?
                let pid: Int32?
                let width: Int
                let height: Int
                let minimized: Bool
            }

            let windows: [Window]
        }

        @Test(
            "A window is found, shared under another one, paused while it is minimized, and its end ends the share",
            .timeLimit(.minutes(3)),
            .enabled(if: isInstalled, "needs rtcshare, Xvfb, xterm, xclock, ImageMagick, openbox and xdotool"))
        func sharedWindow()
            async throws
        {
            let folder = try TemporaryFolder()
            let display = try await XvfbDisplay(width: 800, height: 600, in: folder)
            try await display.startWindowManager()
            let share = try Share(environment: display.environment, in: folder)
            try display.start("xclock", ["-update", "1", "-geometry", "300x200+100+100", "-title", "Shared clock"])
            var found: [Sources.Window] = []
            while found.isEmpty {
                let outcome = try await share.run(["sources", "--json"])
                try #require(outcome.status == 0, "rtcshare sources: \(outcome.standardError)")
                let listed = try JSONDecoder().decode(Sources.self, from: Data(outcome.standardOutput.utf8))
                found = listed.windows.filter { $0.title == "Shared clock" }
            }
            let window = try #require(found.first)
            #expect(window.application == "XClock")
            #expect(window.width == 300 && window.height == 200 && !window.minimized)
            let number = window.spec.dropFirst("window:".count)
            // It lies over the clock, and has the same title in part.
            try display.start("xterm", ["-geometry", "80x30+90+90", "-T", "Shared cover", "-e", "cat"])
            let source = ["--source", "window:title=shared CLOCK"]
            try await share.offer(source)
            let viewing = try await share.view(["--snapshot", "seen.png"])
            let sending = try share.send(source)
            defer {
                sending.stop()
                viewing.stop()
            }
            func waitFor(_ sentence: String, _ program: RunningProgram) async throws {
                try await program.wait(for: sentence, timeout: .seconds(30)) {
                    program.standardError.contains(sentence)
                }
            }
            try await waitFor("is added: screen of alice, 300x200", viewing)
            try await control(display, "windowminimize", "\(number)", in: folder)
            try await waitFor("The video is paused: the window is minimized.", sending)
            try await waitFor("Video 1 is paused", viewing)
            try await control(display, "windowmap", "\(number)", in: folder)
            try await waitFor("The video continues.", sending)
            try await waitFor("continues", viewing)
            // As a person does it, of whom the last size is told.
            let sizes = [["310", "210"], ["320", "220"], ["340", "230"], ["360", "240"]]
            let steps = sizes.flatMap { ["windowsize", "\(number)"] + $0 + ["sleep", "0.15"] }
            try await control(display, steps, in: folder)
            try await waitFor("The source is now 360x240.", sending)
            try await waitFor("is now 360x240", viewing)
            try await control(display, "windowkill", "\(number)", in: folder)
            let sent = try await sending.outcome(timeout: .seconds(30))
            #expect(sent.status == 69)
            #expect(sent.standardError.contains("the window 'Shared clock' (\(number)) was closed"))
            #expect(sent.standardError.components(separatedBy: "The source is").count == 2, "\(sent.standardError)")
            let listed = try await share.run(["sources"])
            #expect(listed.standardOutput.contains("Shared cover"))
            #expect(!listed.standardOutput.contains("Shared clock"))
        }

        private func control(_ display: XvfbDisplay, _ arguments: String..., in folder: TemporaryFolder) async throws {
            try await control(display, arguments, in: folder)
        }

        private func control(_ display: XvfbDisplay, _ arguments: [String], in folder: TemporaryFolder) async throws {
            let xdotool = try #require(RunningProgram.find("xdotool"))
            let outcome = try await RunningProgram.run(
                xdotool, arguments, environment: display.environment, in: folder, timeout: .seconds(30))
            try #require(outcome.status == 0, "xdotool: \(outcome.standardError)")
        }
    }
}

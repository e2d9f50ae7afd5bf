import Foundation
import Testing
import TestSupport

extension Interop {
    /// A real screen, through the command line, to receivers that other people wrote.
    ///
    /// What is printed are the figures; the bounds leave room for a machine that is busy with something else.
    @Suite(.serialized)
    struct ScreenTests {
        static let display: ConditionTrait = .enabled(
            if: Peers.hasDisplayAndPython,
            "needs Xvfb, xterm, xclock, ImageMagick, and a Python with aiortc, numpy and pillow (RTCSHARE_PYTHON)")

        @Test(
            "Chromium shows a moving screen as alice's content, at its size and speed",
            display, .enabled(if: Peers.has(.chromium), "chromium is not installed"))
        func motionInChromium() async throws {
            try await showMovingScreen(to: .chromium)
        }

        @Test(
            "aiortc shows a moving screen as alice's content, at its size and speed",
            display, .enabled(if: Peers.has(.aiortc), "RTCSHARE_PYTHON has no aiortc"))
        func motionInAiortc() async throws {
            try await showMovingScreen(to: .aiortc)
        }

        @Test(
            "Firefox shows a moving screen as alice's content, at its size and speed",
            display, .enabled(if: Peers.has(.firefox), "firefox-esr is not installed"))
        func motionInFirefox() async throws {
            try await showMovingScreen(to: .firefox)
        }

        @Test(
            "GStreamer shows a moving screen as alice's content, at its size and speed",
            display, .enabled(if: Peers.has(.gstreamer), "/usr/bin/python3 has no GStreamer with webrtcbin"))
        func motionInGStreamer() async throws {
            try await showMovingScreen(to: .gstreamer)
        }

        @Test(
            "Chromium's picture of still text is like the screen after two seconds",
            display, .enabled(if: Peers.has(.chromium), "chromium is not installed"))
        func stillTextInChromium() async throws {
            try await showStillScreen(to: .chromium)
        }

        @Test(
            "aiortc's picture of still text is like the screen after two seconds",
            display, .enabled(if: Peers.has(.aiortc), "RTCSHARE_PYTHON has no aiortc"))
        func stillTextInAiortc() async throws {
            try await showStillScreen(to: .aiortc)
        }

        @Test(
            "Viewers show still text in each codec that they have",
            display,
            arguments: [
                (Viewer.chromium, "av1"), (.chromium, "h264"), (.firefox, "av1"), (.aiortc, "h264"),
                (.gstreamer, "h264"),
            ].filter { Peers.has($0.0) })
        func stillText(in viewer: Viewer, codec: String) async throws {
            let folder = try await showStillScreen(
                to: viewer, sendWith: ["--codec", codec, "--stats", "sent.jsonl"],
                watchWith: viewer == .gstreamer ? ["--codec", codec] : [])
            let statistics = try String(contentsOf: folder.file("sent.jsonl"), encoding: .utf8)
            let used = statistics.split(separator: "\n").last { $0.contains(#""mimeType":"video/"#) }
            #expect(used?.contains(#""mimeType":"video/\#(codec.uppercased())""#) == true, "\(used ?? "none")")
        }

        private func showMovingScreen(to viewer: Viewer) async throws {
            let folder = try TemporaryFolder()
            let display = try await XvfbDisplay(width: 1280, height: 720, in: folder)
            try await display.showMovingText()
            let share = try Share(environment: display.environment, in: folder)
            let (report, firstFrame) = try await share.show(to: viewer, seconds: 8, source: ["--source", "display"])
            let fps = try #require(report.steadyFps)
            print("\(report.viewer): first frame \(Int(firstFrame)) ms after send, \(fps) frames a second")
            #expect(report.tracks.filter { $0.kind == "video" }.map(\.streams) == [["alice#content"]])
            #expect(report.width == 1280 && report.height == 720)
            // 30 on an idle machine.
            #expect(fps >= 20, "of a screen that changes all the time, at 30 frames a second")
            #expect(firstFrame < 3000, "milliseconds to the first frame")
        }

        @discardableResult
        private func showStillScreen(
            to viewer: Viewer, sendWith options: [String] = [], watchWith more: [String] = []
        ) async throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            let display = try await XvfbDisplay(width: 1280, height: 720, in: folder)
            try await display.showStillText()
            try await display.screenshot("screen.png")
            let share = try Share(environment: display.environment, in: folder)
            let (report, firstFrame) = try await share.show(
                to: viewer, seconds: 4, source: ["--source", "display"], sendWith: options, watchWith: more)
            let picture = try #require(report.snapshots.first)
            let similarity = try await Peers.similarity(
                folder.file("screen.png"), folder.file("\(viewer.rawValue)/\(picture.file)"), in: folder)
            print("\(report.viewer): SSIM \(similarity), first frame \(Int(firstFrame)) ms after send")
            #expect(similarity >= 0.95)
            return folder
        }
    }
}

import Foundation
import RTCShareCapture
import RTCShareMedia
import RTCShareVideoCoding
import TestSupport
import Testing
import TestSupport

extension Interop {
    @Suite(
        "Wayland desktops", .serialized, .timeLimit(.minutes(5)),
        .enabled(if: Peers.mustRun || WaylandDesktop.missing == nil, "needs sway, mutter, PipeWire and their portals"))
    struct WaylandTests {
        /// Shows text that stands still, white on black.
        private static let stillText = ["sh", "-c", "ls -ld /usr/bin/* | cut -c1-120 | head -40; exec sleep 1000"]
        private static let movingText = ["sh", "-c", "while :; do date +%N; sleep 0.05; done"]

        private func share(_ desktop: WaylandDesktop, in folder: TemporaryFolder) throws -> Share {
            try Share(environment: desktop.environment, in: folder)
        }

        /// Waits until a program has said something.
        private func wait(_ program: RunningProgram, for words: String) async throws {
            try await program.wait(for: words, timeout: .seconds(60)) { program.standardError.contains(words) }
        }

        @Test("Chromium sees sway's screen as it is, from --source display, and nobody is asked")
        func chromium() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.sway, in: folder)
            try desktop.start("foot", Self.stillText)
            try await Task.sleep(for: .seconds(2))
            let seen = try await share(desktop, in: folder).show(
                to: .chromium, seconds: 5, snapshotAt: "4", source: ["--source", "display"])
            #expect(seen.report.width == 1280 && seen.report.height == 720)
            let screen = try await desktop.screenshot("screen.png")
            let similarity = try await Peers.similarity(screen, folder.file("chromium/frame-0.png"), in: folder)
            #expect(similarity > 0.98)
            // The second start needs no question where the desktop has such tokens: it is kept for nobody else.
            let token = folder.file("home/.local/state/rtcshare/portal-monitor.token")
            let attributes = try FileManager.default.attributesOfItem(atPath: token.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }

        @Test("A screen that stands still, of which sway gives a second share no picture, is waited for in words")
        func noPicture() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.sway, in: folder)
            let share = try share(desktop, in: folder)
            func begin() async throws -> (viewer: RunningProgram, sender: RunningProgram) {
                try await share.offer(["--source", "display"])
                return (try await share.view(), try share.send())
            }
            let first = try await begin()
            defer { [first.viewer, first.sender].forEach { $0.stop() } }
            try await wait(first.viewer, for: "1280x720")
            let second = try await begin()
            defer { [second.viewer, second.sender].forEach { $0.stop() } }
            try await wait(second.sender, for: "when something on the screen changes")
            // For longer than a source may be silent.
            try await Task.sleep(for: .seconds(6))
            #expect(second.sender.isRunning, "\(second.sender.standardError)")
            try desktop.start("foot", Self.movingText)
            try await wait(second.sender, for: "The video continues.")
            try await wait(second.viewer, for: "1280x720")
        }

        @Test("Sizes and turns are followed, and a compositor that is killed ends the share until it is back")
        func changes() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.sway, in: folder)
            try desktop.start("foot", Self.movingText)
            let share = try share(desktop, in: folder)
            try await share.offer(["--source", "portal:monitor"])
            let viewer = try await share.view()
            defer { viewer.stop() }
            let sender = try share.send()
            defer { sender.stop() }
            try await wait(viewer, for: "1280x720")
            try await desktop.tell("output", "HEADLESS-1", "resolution", "1600x900")
            try await wait(viewer, for: "is now 1600x900")
            try await desktop.tell("output", "HEADLESS-1", "transform", "90")
            try await wait(viewer, for: "is now 900x1600")
            // As its own process, not as that of the tests' user namespace.
            desktop.compositor?.stop()
            let outcome = try await sender.outcome(timeout: .seconds(20))
            #expect(outcome.status == 69, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("the desktop's video was lost"))
            viewer.stop()

            // Once it is back, so is its screen for who starts again.
            try await desktop.restart()
            try desktop.start("foot", Self.movingText)
            try await share.offer(["--source", "portal:monitor"])
            let other = try await share.view()
            defer { other.stop() }
            let again = try share.send()
            defer { again.stop() }
            try await wait(other, for: "1280x720")
        }

        @Test("A compositor that is killed ends a share that nobody looks at, too")
        func lossWithoutViewers() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.sway, in: folder)
            try desktop.start("foot", Self.movingText)
            let served = try await ServedShare(source: "display", environment: desktop.environment, in: folder)
            defer { served.stop() }
            let viewer = try served.view(["--no-window"])
            defer { viewer.stop() }
            try await wait(viewer, for: "1280x720")
            viewer.interrupt()
            try await served.wait(for: "nobody", until: \.isEmpty)
            desktop.compositor?.stop()
            let outcome = try await served.program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 69, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("who gave the pictures is gone"))
        }

        @Test("What a desktop offers is listed and examined; its XWayland gives windows, and never its screen")
        func listing() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.sway, in: folder)
            let share = try share(desktop, in: folder)
            let plain = try await share.run(["sources"])
            #expect(plain.standardOutput.contains("portal:monitor") && !plain.standardOutput.contains("portal:window"))
            let window = try await share.run(["send", "--source", "portal:window"])
            #expect(
                window.status == 64 && window.standardError.contains("it offers monitor"), "\(window.standardError)")

            // sway starts XWayland for the first that asks.
            var byX = share
            byX.environment["DISPLAY"] = ":\(try await Self.xwayland(of: desktop, in: folder))"
            #expect(DisplaySource.isXWayland(display: byX.environment["DISPLAY"]))
            let both = try await byX.run(["sources"])
            #expect(both.standardOutput.contains("portal:monitor") && !both.standardOutput.contains("display"))
            let doctor = try await byX.run(["doctor"])
            #expect(doctor.standardOutput.contains("which is XWayland"), "\(doctor.standardOutput)")
            let region = try await byX.run(["send", "--source", "region:64x64+0+0"])
            #expect(region.status == 64 && region.standardError.contains("portal:monitor"), "\(region.standardError)")
        }

        /// The number of sway's XWayland.
        private static func xwayland(of desktop: WaylandDesktop, in folder: TemporaryFolder) async throws -> Int {
            let file = folder.file("display")
            try await desktop.tell("exec", "sh -c 'echo $DISPLAY > \(file.path)'")
            var text = ""
            try await #require(desktop.compositor).wait(for: "the display's number", timeout: .seconds(20)) {
                text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
                return text.hasSuffix("\n")
            }
            return try #require(Int(text.dropFirst().dropLast()))
        }

        @Test("The window of view is Wayland's on sway, and shows what is shared")
        func window() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.sway, in: folder)
            let picture = TestPattern.render(frame: 7, size: PixelSize(width: 1280, height: 720))
            let film = try Y4MWriter(path: folder.file("still.y4m").path, size: picture.size, framesPerSecond: 5)
            for _ in 0..<5 { try film.write(picture) }
            try film.close()
            try PNGWriter.write(picture, to: folder.file("still.png").path)
            let served = try await ServedShare(["--max-bitrate", "6000"], source: "file:still.y4m:loop", in: folder)
            defer { served.stop() }
            let viewer = try desktop.start(
                served.share.rtcshare.path, ["view", served.link], more: ["PULSE_SERVER": "unix:/nonexistent"])
            try await wait(viewer, for: "Keys in the window")
            var similarity = 0.0
            for attempt in 0..<20 where similarity < 0.97 {
                let seen = try await desktop.screenshot("seen-\(attempt).png")
                similarity = try await Peers.similarity(folder.file("still.png"), seen, in: folder)
            }
            #expect(similarity >= 0.97)
            let windows = try await desktop.tell("--type", "get_tree")
            #expect(windows.contains("\"alice - rtcshare\"") && windows.contains("xdg_shell"))
            // As its person closes it.
            try await desktop.tell("[app_id=rtcshare]", "kill")
            let outcome = try await viewer.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
        }

        @Test("GNOME asks its person once: a yes is remembered, a no is no failure, and the pointer is in the picture")
        func gnome() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await WaylandDesktop(.gnome, in: folder)
            let share = try share(desktop, in: folder)
            func begin(_ more: [String] = []) async throws -> (viewer: RunningProgram, sender: RunningProgram) {
                try await share.offer(["--source", "portal"])
                try? FileManager.default.removeItem(at: folder.file("seen.png"))
                let viewer = try await share.view(["--snapshot", "seen.png"])
                return (viewer, try share.send(more))
            }
            let first = try await begin()
            try await wait(first.sender, for: "Choose what to share")
            // The window takes its time to be there; where it isn't, a click does nothing.
            while first.sender.isRunning, !first.sender.standardError.contains("Connect") {
                try await desktop.point("640,386,click", "852,233,click")
            }
            try await wait(first.viewer, for: "1280x720")
            let staying = try desktop.start(
                "/usr/bin/python3", [Peers.script("gnome_pointer.py"), "--stay", "60", "1200,650"])
            defer { staying.stop() }
            try await Task.sleep(for: .seconds(2))
            first.viewer.interrupt()
            _ = try await first.viewer.outcome(timeout: .seconds(20))
            first.sender.interrupt()
            _ = try await first.sender.outcome(timeout: .seconds(20))
            try FileManager.default.moveItem(at: folder.file("seen.png"), to: folder.file("pointed.png"))
            staying.stop()
            try await desktop.point("100,100")

            let second = try await begin()
            try await wait(second.viewer, for: "1280x720")
            #expect(!second.sender.standardError.contains("Choose what to share"))
            try await Task.sleep(for: .seconds(1))
            second.viewer.interrupt()
            _ = try await second.viewer.outcome(timeout: .seconds(20))
            second.sender.interrupt()
            _ = try await second.sender.outcome(timeout: .seconds(20))
            // A pointer's worth of pixels is all that differs, and that differs.
            let difference = try await RunningProgram.run(
                try #require(RunningProgram.find("compare")),
                ["-metric", "AE", "-fuzz", "20%", "-extract", "60x60+1180+630", "pointed.png", "seen.png", "null:"],
                in: folder, timeout: .seconds(60))
            let pixels = try #require(Double(difference.standardError), "\(difference.standardError)")
            #expect(pixels > 20 && pixels < 600, "\(pixels)")

            let third = try await begin(["--choose"])
            try await wait(third.sender, for: "Choose what to share")
            while third.sender.isRunning { try await desktop.point("430,233,click") }
            let declined = try await third.sender.outcome(timeout: .seconds(5))
            #expect(declined.status == 77 && declined.standardError.contains("declined"))
            third.viewer.stop()
        }
    }
}

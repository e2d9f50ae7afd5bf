import Foundation
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import RTCShareCapture
@testable import rtcshare

extension Interop {
    /// The notifications, shortcuts and inhibited sleep of a share on a scripted desktop.
    @Suite(
        "The desktop takes part in a share", .serialized, .timeLimit(.minutes(2)),
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"),
        .enabled(if: Peers.mustRun || ScriptedDesktop.missing == nil, "needs dbus-daemon, dbus-send and python3-gi"))
    struct DesktopTests {
        private static let asks = "A viewer asks to watch"
        private static let sharing = "You are sharing"
        private static let paused = "Your share is paused"
        private static let source = "test:640x360@30"
        private static let buttons = "|stop=Stop|pause=Pause|page=Open page"

        private static func share(
            _ options: [String] = [], on desktop: ScriptedDesktop, in folder: TemporaryFolder
        ) async throws -> ServedShare {
            try await ServedShare(["--console"] + options, environment: desktop.environment, in: folder)
        }

        @Test("A click on the notification about a waiting viewer admits it, and sleep is inhibited until it leaves")
        func admission() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications", "portal", "inhibit"], in: folder)
            let share = try await Self.share(["--ask"], on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.wait(for: "the question") { shown in
                shown.contains { $0.hasPrefix("\(Self.asks)|Viewer 1 (rtcshare)|admit=Admit|decline=Decline") }
            }
            let before = try desktop.asked()
            #expect(before.contains("Notify \(Self.asks) urgency=2 expiry=0"))
            #expect(!before.contains("Inhibit 12"))
            try desktop.press(Self.asks, "admit")
            try await share.wait(for: "the admitted viewer") { $0.contains { !$0.isWaiting && $0.state == .connected } }
            try await desktop.wait(for: "the end of the question") { $0.count == 1 && $0[0].hasPrefix(Self.sharing) }
            let calls = try await desktop.waits(forCalls: ["Inhibit 12"])
            // The viewer was known before, so it does not come now.
            #expect(!calls.contains { $0.contains("is here") } && !calls.contains("Close"))
            let second = try share.view()
            defer { second.stop() }
            try await desktop.wait(for: "the second question") { $0.count == 2 }
            try desktop.press(Self.asks, "admit")
            try await share.wait(for: "both") { $0.count { !$0.isWaiting && $0.state == .connected } == 2 }
            viewer.stop()
            try await share.wait(for: "the other") { $0.count == 1 }
            #expect(!(try desktop.asked().contains { ["Inhibit 12", "Close"].contains($0) }))
            second.stop()
            try await desktop.waits(forCalls: ["Close"])
        }

        @Test("A click declines a viewer")
        func refusal() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            let share = try await Self.share(["--ask"], on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.wait(for: "the question") { $0.contains { $0.hasPrefix(Self.asks) } }
            try desktop.press(Self.asks, "decline")
            let outcome = try await viewer.outcome(timeout: .seconds(30))
            #expect(outcome.status == 77, "\(outcome.standardError)")
            try await desktop.wait(for: "the end of the question") { $0.count == 1 }
        }

        @Test("A question that is answered elsewhere, or whose viewer has left, is closed")
        func answeredElsewhere() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            let share = try await Self.share(["--ask"], on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.wait(for: "the question") { $0.contains { $0.hasPrefix(Self.asks) } }
            try await share.ask("admit", "1")
            try await desktop.wait(for: "the end of the question") { $0.count == 1 }
            let other = try share.view()
            defer { other.stop() }
            try await desktop.wait(for: "the other question") { $0.contains { $0.contains("Viewer 2 (rtcshare)") } }
            other.stop()
            try await desktop.wait(for: "its end") { $0.count == 1 }
        }

        @Test("The notification of a share pauses, resumes and stops it, and ends with it")
        func sharing() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            try await desktop.wait(for: "the notification") {
                $0 == ["\(Self.sharing)|Source: \(Self.source)\(Self.buttons)"]
            }
            try desktop.press(Self.sharing, "pause")
            try await desktop.wait(for: "the pause") { $0.count == 1 && $0[0].hasPrefix(Self.paused) }
            #expect(try await share.status().state == .paused)
            try desktop.press(Self.paused, "resume")
            try await desktop.wait(for: "the resumed share") { $0.count == 1 && $0[0].hasPrefix(Self.sharing) }
            // Without a request of the person, it stays closed.
            try desktop.dismiss(Self.sharing)
            try await share.ask("pause")
            try await share.ask("resume")
            #expect(try desktop.shown().isEmpty)
            try await desktop.restart()
            try await desktop.wait(for: "the notification by another daemon") { $0.count == 1 }
            try desktop.press(Self.sharing, "stop")
            let outcome = try await share.program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            #expect(try desktop.shown().isEmpty)
        }

        @Test("The button for the page opens it in the browser")
        func openPage() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            let log = folder.file("opened")
            let program = try folder.write("#!/bin/sh\necho \"$@\" >> '\(log.path)'\n", to: "bin/xdg-open")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let browser = ["PATH": "\(folder.file("bin").path):\(path)", "DISPLAY": ":0"]
            let share = try await ServedShare(
                ["--console"], environment: desktop.environment.merging(browser) { $1 }, in: folder)
            defer { share.stop() }
            try await desktop.wait(for: "the notification") { $0.count == 1 }
            try desktop.press(Self.sharing, "page")
            try await share.program.wait(for: "the page", timeout: .seconds(20)) {
                (try? String(contentsOf: log, encoding: .utf8))?.hasPrefix("http://127.0.0.1:") == true
            }
        }

        @Test("A viewer who does not need to ask is reported")
        func arrival() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            try await desktop.wait(for: "the notification") { $0.count == 1 }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.wait(for: "the report") { $0.contains("A viewer is here|Viewer 1 (rtcshare)") }
        }

        @Test("A daemon without buttons gets words only")
        func withoutButtons() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            try desktop.set(["capabilities": .string("body")])
            let share = try await Self.share(["--ask"], on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.wait(for: "the words") { shown in
                shown.contains("\(Self.asks)|Viewer 1 (rtcshare)\nAdmit or decline the viewer on your page.")
                    && shown.contains("\(Self.sharing)|Source: \(Self.source)")
            }
        }

        @Test("A signal of another program is not a choice of the person")
        func forgery() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications", "portal", "shortcuts"], in: folder)
            let share = try await Self.share(["--ask"], on: desktop, in: folder)
            defer { share.stop() }
            try await desktop.waits(forCalls: ["BindShortcuts pause mute"])
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.wait(for: "the question") { $0.count == 2 }
            for number in 1...3 {
                try await desktop.forge(
                    "/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked",
                    ["uint32:\(number)", "string:admit"])
                try await desktop.forge(
                    "/org/freedesktop/Notifications", "org.freedesktop.Notifications.ActionInvoked",
                    ["uint32:\(number)", "string:stop"])
            }
            try await desktop.forge(
                "/org/freedesktop/DBus", "org.freedesktop.DBus.NameOwnerChanged",
                ["string:org.freedesktop.Notifications", "string:", "string::1.1"])
            // This signal arrives after the forged ones.
            try desktop.press(Self.sharing, "pause")
            try await desktop.wait(for: "the pause") { $0.contains { $0.hasPrefix(Self.paused) } }
            let state = try await share.status()
            #expect(state.viewers.map(\.isWaiting) == [true] && state.state == .paused)
        }

        @Test("The portal identifies the program, which registers first, and whose memory stays protected")
        func identification() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["portal", "shortcuts"], asPerson: true, in: folder)
            let share = try Share(
                environment: CommandLineTests.environment(folder).merging(desktop.environment) { $1 }, in: folder)
            let command = ScriptedPortal.withoutPrivileges([
                share.rtcshare.path, "serve", "--console", "--source", "test", "--listen", "127.0.0.1:0",
            ])
            let environment = share.environment.merging(["XDG_RUNTIME_DIR": folder.file("run").path]) { $1 }
            let program = try RunningProgram(
                URL(fileURLWithPath: command[0]), Array(command.dropFirst()), environment: environment, in: folder)
            defer { program.stop() }
            let calls = try await desktop.waits(forCalls: ["BindShortcuts pause mute"])
            #expect(
                calls == ["Register io.github.rtcshare", "CreateSession", "BindShortcuts pause mute"], "\(calls)")
            try await waitUntil { try !Self.isReadable(program.processIdentifier) }
        }

        /// Returns whether a program without privileges can read the root directory of a process.
        private static func isReadable(_ process: Int32) throws -> Bool {
            let command = ScriptedPortal.withoutPrivileges(["/bin/ls", "/proc/\(process)/root/"])
            let reading = Process()
            reading.executableURL = URL(fileURLWithPath: command[0])
            reading.arguments = Array(command.dropFirst())
            (reading.standardOutput, reading.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            try reading.runAlone()
            reading.waitUntilExit()
            return reading.terminationStatus == 0
        }

        @Test("Shortcuts pause and mute")
        func shortcuts() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["portal", "inhibit", "shortcuts"], in: folder)
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            try await desktop.waits(forCalls: ["BindShortcuts pause mute"])
            for (shortcut, isExpected) in [
                ("pause", { $0.state == .paused }), ("pause", { $0.state != .paused }), ("mute", { $0.isAudioMuted }),
                ("mute", { !$0.isAudioMuted }),
            ] as [(String, (ControlledShare) -> Bool)] {
                try desktop.activate(shortcut)
                try await waitUntil { isExpected(try await share.status()) }
            }
            // Another portal knows nothing of the shortcuts.
            try await desktop.restart()
            try await desktop.waits(forCalls: ["Register io.github.rtcshare", "BindShortcuts pause mute"])
            try desktop.activate("mute")
            try await waitUntil { try await share.status().isAudioMuted }
        }

        @Test("Without a portal, the screen saver is inhibited")
        func screenSaver() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["screensaver", "portal"], in: folder)
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.waits(forCalls: ["ScreenSaver.Inhibit rtcshare"])
            viewer.stop()
            try await desktop.waits(forCalls: ["UnInhibit 77"])
        }

        @Test(
            "A share works on a desktop without services, and on one whose services never answer",
            arguments: [[], ["notifications", "screensaver", "portal", "inhibit", "shortcuts"]])
        func silence(services: [String]) async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(services, in: folder)
            try desktop.set(["silent": .boolean(true)])
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await share.wait(for: "the viewer") { $0.contains { $0.state == .connected } }
            try await share.ask("stop")
            let outcome = try await share.program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0)
            for word in ["otification", "D-Bus", "portal", "desktop"] {
                #expect(!outcome.standardError.contains(word), "\(outcome.standardError)")
            }
        }

        @Test("A notification that the daemon rejects is shown after the next change")
        func rejected() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            try desktop.set(["rejected": .string("Notify")])
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            try await desktop.waits(forCalls: ["Notify rejected"])
            try desktop.set(["rejected": .string("")])
            try await share.ask("pause")
            try await desktop.wait(for: "the notification") { $0.count == 1 && $0[0].hasPrefix(Self.paused) }
        }

        @Test("A portal that is slow is told when nobody watches any more, and delays no notification")
        func slowPortal() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications", "portal", "inhibit", "screensaver"], in: folder)
            try desktop.set(["late": .string("Inhibit")])
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            let calls = try await desktop.waits(forCalls: ["Inhibit 12"])
            viewer.stop()
            try await desktop.waits(forCalls: ["Close"])
            #expect(!calls.contains { $0.hasPrefix("ScreenSaver") })
            let another = try share.view()
            defer { another.stop() }
            try await desktop.waits(forCalls: ["Inhibit 12"])
            try await share.ask("stop")
            _ = try await share.program.outcome(timeout: .seconds(20))
            #expect(try desktop.shown().isEmpty)
        }

        @Test("The threads of the desktop sleep while nothing changes")
        func rest() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications", "portal", "inhibit", "shortcuts"], in: folder)
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await desktop.waits(forCalls: ["Inhibit 12"])
            try await desktop.wait(for: "the report") { $0.count == 2 }
            let tasks = "/proc/\(share.program.processIdentifier)/task"
            let threads = try FileManager.default.contentsOfDirectory(atPath: tasks).filter { thread in
                try String(contentsOfFile: "\(tasks)/\(thread)/comm", encoding: .utf8) == "desktop\n"
            }
            try #require(threads.count == 2)
            func switches() throws -> [Substring] {
                try threads.map { thread in
                    let status = try String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
                    return try #require(
                        status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") })
                }
            }
            try await Task.sleep(for: .seconds(1))
            let before = try switches()
            try await Task.sleep(for: .seconds(3))
            #expect(try switches() == before)
        }

        @Test("A share outlives the session bus, and the presenter's program does not")
        func sessionEnd() async throws {
            let folder = try TemporaryFolder()
            let desktop = try await ScriptedDesktop(["notifications"], in: folder)
            let share = try await Self.share(on: desktop, in: folder)
            defer { share.stop() }
            try await desktop.wait(for: "the notification") { $0.count == 1 }
            var environment = share.share.environment
            environment["XDG_RUNTIME_DIR"] = folder.file("other").path
            let presenter = try Share(environment: environment, in: folder).start(["present"])
            defer { presenter.stop() }
            try await presenter.wait(for: "the link", timeout: .seconds(30)) {
                presenter.standardOutput.hasSuffix("\n")
            }
            desktop.stop()
            let outcome = try await presenter.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let viewer = try share.view()
            defer { viewer.stop() }
            try await share.wait(for: "the viewer") { $0.contains { $0.state == .connected } }
            #expect(share.program.isRunning)
        }
    }
}

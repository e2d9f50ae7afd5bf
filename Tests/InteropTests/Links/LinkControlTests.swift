import Foundation
import RTCSharePeerConnection
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// A share behind a link, asked and changed from the command line while viewers look on.
    @Suite(.serialized)
    struct LinkControlTests {
        @Test("A viewer is listed with where it is, what it is, since when, and how well it is sent to")
        func listedViewers() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            #expect(try await share.status().viewers == [])
            let begin = Date()
            let viewer = try share.view()
            defer { viewer.stop() }
            let status = try await share.wait(for: "its rates") { $0.first?.roundTripTime != nil }
            let seen = try #require(status.viewers.first)
            #expect(seen.state == .connected && seen.groups == ["main"] && status.isLocked == false)
            #expect(seen.address == "127.0.0.1" && seen.browser == "rtcshare" && seen.path == .direct)
            #expect(try #require(seen.since).timeIntervalSince(begin) > -1)
            #expect(try #require(seen.bitrate) > 0 && (0...1).contains(try #require(seen.fractionLost)))
            let told = try await share.ask("status")
            for words in ["viewer \(seen.id):", "rtcshare, 127.0.0.1, since", "kbit/s", "% lost", " ms", "direct"] {
                #expect(told.contains(words), "\(words) in \(told)")
            }
        }

        @Test("A viewer opens the link again after the share was restarted, and says why it is not let in")
        func restartedShare() async throws {
            let folder = try TemporaryFolder()
            let token = try folder.write("0123456789abcdefXYZ", to: "token")
            let other = try folder.write("another-token-of-it", to: "other")
            for file in [token, other] { try #require(chmod(file.path, 0o600) == 0) }
            let share = try await ServedShare(["--link-token-file", token.path], in: folder)
            defer { share.stop() }
            let film = folder.file("film.webm").path
            let viewer = try share.view(["--record", film])
            defer { viewer.stop() }
            try await viewer.wait(for: "a picture", timeout: .seconds(20)) {
                viewer.standardError.contains("Video 1 is added")
            }
            kill(share.program.processIdentifier, SIGKILL)
            let second = try await ServedShare(["--link-token-file", token.path], port: share.port, in: folder)
            defer { second.stop() }
            try await viewer.wait(for: "the second session", timeout: .seconds(30)) {
                viewer.standardError.components(separatedBy: "Video 1 is added").count == 3
            }
            kill(second.program.processIdentifier, SIGKILL)
            let third = try await ServedShare(["--link-token-file", other.path], port: share.port, in: folder)
            defer { third.stop() }
            let outcome = try await viewer.outcome(timeout: .seconds(30))
            #expect(outcome.status == 77, "\(outcome.standardError)")
            let told = outcome.standardError
            #expect(told.contains("the secret of this link is wrong") && !told.contains("offer"), "\(told)")
            #expect(FileManager.default.fileExists(atPath: film))
        }

        @Test("A viewer that is removed learns why, and a locked link admits nobody until it is unlocked")
        func kickAndLock() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            let status = try await share.wait(for: "a viewer") { $0.first?.state == .connected }
            try await share.ask("kick", "99", status: 66)
            try await share.ask("kick", "\(try #require(status.viewers.first).id)")
            let removed = try await viewer.outcome(timeout: .seconds(20))
            #expect(removed.status == 77, "\(removed.standardError)")
            #expect(
                removed.standardError.hasSuffix("rtcshare: the presenter removed you.\n"), "\(removed.standardError)")
            try await share.wait(for: "nobody", until: \.isEmpty)

            try await share.ask("lock")
            #expect(try await share.status().isLocked == true)
            let refused = try await share.view().outcome(timeout: .seconds(20))
            #expect(refused.status == 77 && refused.standardError.contains("the share is locked"))
            try await share.ask("unlock")
            let again = try share.view(["--duration", "1"])
            defer { again.stop() }
            #expect(try await again.outcome(timeout: .seconds(30)).status == 0, "\(again.standardError)")
        }

        @Test("Who waits to be let in is listed so, and sees nothing before")
        func admission() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--ask"], in: folder)
            defer { share.stop() }
            let viewer = try share.view(["--duration", "1"])
            defer { viewer.stop() }
            let status = try await share.wait(for: "who waits") {
                $0.first.map { $0.isWaiting && $0.state == .connected } == true
            }
            let id = try #require(status.viewers.first).id
            let asked = share.program.standardError.split(separator: "\n").filter { $0.hasPrefix("Viewer \(id)") }
            #expect(asked.count == 1 && asked[0].hasSuffix("is waiting to be admitted."))
            #expect(share.program.standardError.contains("\nRun: rtcshare admit \(id)\n"))
            #expect(status.state == .waiting && status.needsApproval == true)
            #expect(try await share.ask("status").contains("open, viewers need approval"))
            #expect(!viewer.standardError.contains("320x") && !viewer.standardError.contains("640x"))
            try await share.ask("admit", "\(id)")
            #expect(try await viewer.outcome(timeout: .seconds(30)).status == 0, "\(viewer.standardError)")
            try await share.ask("admit", "\(id)", status: 66)

            let declined = try share.view()
            defer { declined.stop() }
            let waiting = try await share.wait(for: "another who waits") {
                $0.contains { $0.isWaiting && $0.state == .connected }
            }
            try await share.ask("kick", "\(try #require(waiting.viewers.first(where: \.isWaiting)).id)")
            let outcome = try await declined.outcome(timeout: .seconds(20))
            #expect(outcome.status == 77, "\(outcome.standardError)")
            #expect(
                outcome.standardError.hasSuffix("rtcshare: the presenter did not admit you.\n"),
                "\(outcome.standardError)")
        }

        @Test("A change is printed in the same words where it was typed and by the share")
        func changesInWords() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--microphone", "tone"], in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            try await share.wait(for: "a viewer") { $0.first?.state == .connected }
            for (arguments, words) in [
                (["pause"], "The share is paused: viewers see the last frame."), (["resume"], "The share is resumed."),
                (["source", "test:320x180@10"], "The share now shows test:320x180@10."),
                (["mute"], "The audio and the microphone are muted."),
                (["unmute", "--audio"], "The audio is no longer muted."),
                (
                    ["set", "--max-bitrate", "900", "--size", "640x360", "--hint", "text"],
                    "The quality is now: at most 900 kbit/s per viewer, 30 frames per second, 640x360 pixels, hint text."
                ),
                (["subgroup", "join", "design"], "You joined the subgroup design."),
                (["destination", "design"], "The share now goes to the subgroup design."),
                (["destination", "main"], "The share now goes to the main room."),
                (["subgroup", "leave", "design"], "You left the subgroup design."),
                (["lock"], "The link is locked: new viewers can't join."),
                (["unlock"], "The link is open: new viewers can join."),
                (["kick", "1"], "Viewer 1 (rtcshare, 127.0.0.1) is disconnected."),
            ] as [([String], String)] {
                let typed = try await share.share.run(arguments, timeout: .seconds(30))
                #expect(typed.status == 0 && typed.standardError == words + "\n", "\(typed.standardError)")
                let printed = share.program.standardError.split(separator: "\n").count { $0 == words }
                #expect(printed == 1, "\(words): \(share.program.standardError)")
            }
            // Nothing changes by it.
            try await share.ask("pause")
            #expect(try await share.ask("pause") == "The share is already paused.\n")
            let refused = try await share.ask("source", "display", status: 69)
            #expect(refused.contains("in the process of the share (\(share.program.processIdentifier))"), "\(refused)")
            #expect(try await share.ask("stop") == "The share has stopped.\n")
            try await share.program.wait(for: "the end", timeout: .seconds(20)) {
                share.program.standardError.hasSuffix("The share has stopped.\n")
            }
            let told = share.program.standardError
            #expect(
                !told.contains("already paused") && !told.contains("Viewer 1 (rtcshare, 127.0.0.1) left"), "\(told)")
        }

        @Test("A watched status has a line of JSON for each change, until the share ends")
        func watchedStatus() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            let watching = try share.share.start(["status", "--watch", "--json"])
            defer { watching.stop() }
            func states() -> [ControlledShare.State] {
                watching.standardOutput.split(separator: "\n").compactMap { line in
                    try? ControlJSON.decode(ControlledShare.self, from: Array(line.utf8)).state
                }
            }
            for (command, state) in [("pause", ControlledShare.State.paused), ("resume", .waiting)] {
                try await share.ask(command)
                try await watching.wait(for: "\(state)", timeout: .seconds(20)) { states().last == state }
            }
            try await share.ask("stop")
            let outcome = try await watching.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0 && outcome.standardError == "The share has ended.\n", "\(outcome)")
            #expect(states().filter { $0 == .paused } == [.paused])
        }

        @Test("A share by a link joins its subgroups, and its viewers are in the main room")
        func subgroupsOfServe() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--subgroup", "design"], in: folder)
            defer { share.stop() }
            let viewer = try share.view()
            defer { viewer.stop() }
            let status = try await share.wait(for: "a viewer") { $0.first?.state == .connected }
            #expect(status.subgroups == ["design"] && status.viewers.map(\.groups) == [["main"]])
            #expect(try await share.share.run(["serve", "--no-main"]).status == 64)
        }

        @Test("A link is served by who is not root, whom the system refuses more")
        func withoutPrivileges() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: CommandLineTests.environment(folder), in: folder)
            let command = [
                share.rtcshare.path, "serve", "--source", "test:320x180@10", "--listen", "127.0.0.1:0", "--no-control",
            ]
            let alone = getuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : ["env"]
            let serving = try RunningProgram(
                try #require(RunningProgram.find(alone[0])), alone.dropFirst() + command,
                environment: share.environment,
                in: folder)
            defer { serving.stop() }
            try await serving.wait(for: "the link", timeout: .seconds(30)) { serving.standardOutput.hasSuffix("\n") }
            let link = String(try #require(serving.standardOutput.split(separator: "\n").first))
            let viewed = try await share.run(["view", link, "--no-window", "--duration", "1"])
            #expect(viewed.status == 0 && viewed.standardError.contains("320x180"), "\(viewed.standardError)")
        }

        @Test("The link is printed again; that of a subgroup leads there alone")
        func links() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(in: folder)
            defer { share.stop() }
            #expect(try await share.ask("link").hasPrefix(share.link + "\n"))
            try await share.ask("subgroup", "join", "design")
            let printed = try await share.ask("link", "--subgroup", "design")
            let own = String(try #require(printed.split(separator: "\n").first))
            #expect(own != share.link && own.hasPrefix(share.address + "#"))
            let viewer = try share.view(link: own)
            defer { viewer.stop() }
            try await share.wait(for: "a viewer of the subgroup") { $0.first?.groups == ["design"] }
            try await share.ask("destination", "design")
            try await viewer.wait(for: "the picture", timeout: .seconds(20)) {
                viewer.standardError.contains("screen of alice, 640x360")
            }
        }
    }
}

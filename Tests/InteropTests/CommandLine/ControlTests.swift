import Foundation
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import rtcshare

extension Interop {
    /// A share that is asked and changed while it runs, from the command line.
    @Suite(.serialized)
    struct ControlTests {
        @Test("What is shared, how well, and whether at all changes while the viewer looks on")
        func liveChanges() async throws {
            let room = try await Room(sending: ["--audio", "tone:440"])
            defer { room.stop() }
            let viewer = room.first
            let begun = try await room.status()
            #expect(begun.attendee == "alice" && begun.pid == room.sending.processIdentifier)
            #expect(begun.state == .sharing && begun.source == "test:640x360@15" && begun.destination == "main")
            let known = try #require(begun.viewers.first)
            #expect(known.id == 1 && known.state == .connected && !known.isWaiting && known.groups == ["main"])
            #expect(begun.viewers.count == 1)

            try await room.ask(["switch", "test:320x180@15"])
            try await viewer.wait(saying: "Video 1 is now 320x180")
            for (source, status) in [("nothing", 64), ("file:missing.y4m", 66), ("file:-", 64)] as [(String, Int32)] {
                try await room.ask(["switch", source], status: status)
            }
            try await room.ask(["set", "--size", "160x90", "--max-bitrate", "3000", "--hint", "motion"])
            try await viewer.wait(saying: "Video 1 is now 160x90")
            try await room.ask(["set", "--max-bitrate", "1"], status: 64)
            try await room.ask(["set"], status: 64)

            try await room.ask(["mute", "--audio"])
            try await room.ask(["mute", "--microphone"], status: 64)
            try await room.ask(["pause"])
            try await viewer.wait(saying: "Video 1 is paused")
            // What is to be shared after the pause is not shown before.
            try await room.ask(["switch", "test:640x360@15"])
            let paused = try await room.status()
            #expect(paused.state == .paused && !paused.isSlateShown && paused.isAudioMuted)
            #expect(paused.source == "test:640x360@15" && paused.maxBitrate == 3000 && paused.hint == .motion)
            try await room.ask(["resume"])
            try await viewer.wait(saying: "Video 1 continues")
            #expect(try await room.ask(["resume"]).contains("not paused"))
            try await room.ask(["unmute"])

            try await room.ask(["stop"])
            let sent = try await room.sending.outcome(timeout: .seconds(20))
            #expect(sent.status == 0 && sent.standardError.contains("The share has stopped."), "\(sent.standardError)")
            let seen = try await viewer.program.outcome(timeout: .seconds(20))
            #expect(seen.status == 0 && seen.standardError.contains("Video 1 is removed"), "\(seen.standardError)")
            #expect(!FileManager.default.fileExists(atPath: room.share.folder.file("run/rtcshare/share.sock").path))
            try await room.ask(["status"], status: 66)
        }

        @Test("A source that takes its time to open delays no other change, and does not replace a newer source")
        func slowSource() async throws {
            let room = try await Room()
            defer { room.stop() }
            let pipe = room.share.folder.file("pipe.y4m").path
            try #require(mkfifo(pipe, 0o600) == 0)
            let slow = try room.share.start(["source", "file:\(pipe)", "--name", "share"])
            defer { slow.stop() }
            // A pipe can be opened like this once the share waits for somebody to write.
            var film: Int32 = -1
            await waitUntil {
                film = open(pipe, O_WRONLY | O_NONBLOCK)
                return film >= 0
            }
            try await room.ask(["pause"])
            try await room.first.wait(saying: "Video 1 is paused")
            try await room.ask(["resume"])
            try await room.ask(["source", "test:320x180@15"])
            try await room.first.wait(saying: "Video 1 is now 320x180")
            let header = Array("YUV4MPEG2 W64 H64 F10:1 C420jpeg\n".utf8)
            #expect(write(film, header, header.count) == header.count)
            let outcome = try await slow.outcome(timeout: .seconds(20))
            #expect(outcome.status == 69 && outcome.standardError.contains("another source was chosen"), "\(outcome)")
            close(film)
            #expect(try await room.status().source == "test:320x180@15")
            #expect(room.sending.standardError.contains("Waiting for the video that is written to \(pipe)."))
        }

        @Test("A paused share shows a slate where that is asked")
        func slateWhilePaused() async throws {
            let room = try await Room(viewing: ["--snapshot", "seen.png", "--record", "seen.webm"])
            defer { room.stop() }
            try await room.ask(["pause", "--slate"])
            try await room.first.wait(saying: "Video 1 is paused")
            #expect(try await room.status().isSlateShown)
            // Who comes sees it too.
            let late = try await room.invite("late")
            try await late.wait(saying: "Video 1 is added: screen of alice, 640x360")
            try await late.wait(saying: "Video 1 is paused")
            try await room.ask(["stop"])
            _ = try await room.first.program.outcome(timeout: .seconds(20))
            let picture = try Data(contentsOf: room.share.folder.file("seen.png"))
            // The test pattern takes many times as much.
            #expect((500..<8000).contains(picture.count), "\(picture.count) bytes")
        }

        @Test("A share moves between subgroups, to those who are there")
        func subgroupMoves() async throws {
            let room = try await Room()
            defer { room.stop() }
            let designer = try await room.invite("designer", ["--subgroup", "design", "--no-main"])
            let both = try await room.invite("both", ["--subgroup", "design"])
            try await both.wait(saying: "Video 1 is added: screen of alice")
            try await room.ask(["destination", "design"], status: 64)
            try await room.ask(["destination", "a b"], status: 64)
            try await room.ask(["subgroup", "join", "design"])
            try await room.ask(["destination", "design"])
            try await room.first.wait(saying: "Video 1 is removed")
            try await designer.wait(saying: "Video 1 is added: screen of alice")
            let refused = try await room.ask(["subgroup", "leave", "design"], status: 69)
            #expect(refused.contains("rtcshare destination main"), "\(refused)")
            let status = try await room.status()
            #expect(status.destination == "design" && status.subgroups == ["design"])
            #expect(status.viewers.map(\.groups) == [["main"], ["design"], ["main", "design"]])
            try await room.ask(["destination", "main"])
            try await designer.wait(saying: "Video 1 is removed")
            try await room.first.wait(saying: "Video 2 is added: screen of alice")
            try await room.ask(["subgroup", "leave", "design"])
            #expect(!both.program.standardError.contains("removed"), "\(both.program.standardError)")

            // One after the other leaves; the share ends with the last.
            let leaving = [(designer, "Viewer 2 left."), (room.first, "Viewer 1 left."), (both, "no viewer is left")]
            for (viewer, words) in leaving {
                viewer.program.interrupt()
                try await room.sending.wait(for: words, timeout: .seconds(20)) {
                    room.sending.standardError.contains(words)
                }
            }
            let sent = try await room.sending.outcome(timeout: .seconds(20))
            #expect(sent.status == 0, "\(sent.standardError)")
        }

        @Test("An answer goes to who was invited")
        func invitations() async throws {
            let room = try await Room()
            defer { room.stop() }
            let folder = room.share.folder
            try await room.ask(["accept", folder.file("answer.sdp").path], status: 69)
            try await room.ask(["invite"])
            let invitation = try await room.share.run(["invite", "--json"])
            let object = try JSONSerialization.jsonObject(with: Data(invitation.standardOutput.utf8))
            let invited = try #require(object as? [String: Any])
            #expect(invited["viewer"] as? Int == 3 && invited["type"] as? String == "offer")
            #expect((invited["sdp"] as? String)?.hasPrefix("v=0\r\n") == true)
            try await room.ask(["accept", folder.file("answer.sdp").path], status: 65)
            try await room.ask(["accept", "--viewer", "9", folder.file("answer.sdp").path], status: 66)
            try await room.ask(["accept", "--viewer", "2", folder.file("none.sdp").path], status: 66)
            _ = try folder.write("hello\n", to: "text.sdp")
            try await room.ask(["accept", "--viewer", "2", folder.file("text.sdp").path], status: 65)
            // The answer to another offer has sections that this one has not, or the offer's own role.
            try await room.ask(["accept", "--viewer", "2", folder.file("offer.sdp").path], status: 65)
            #expect(try await room.status().viewers.map(\.state) == [.connected, .new, .new])
            try await room.ask(["invite", "--no-main"], status: 64)
            try await room.ask(["invite", "--subgroup", "main"], status: 64)
            try await room.ask(["stop"])
        }

        @Test("A command without a name is for the share that runs, not for a presenter page that shares nothing")
        func idlePage() async throws {
            let folder = try TemporaryFolder()
            var environment = Interop.CommandLineTests.environment(folder)
            environment["XDG_RUNTIME_DIR"] = folder.file("run").path
            let page = try Share(environment: environment, in: folder).start(["present"])
            defer { page.stop() }
            try await page.wait(for: "its link", timeout: .seconds(20)) { page.standardOutput.contains("http://") }
            let room = try await Room(environment: environment, number: 2)
            defer { room.stop() }
            try await room.ask(["pause"], byName: false)
            #expect(try await room.status().state == .paused)
            let link = try await room.share.run(["present"], timeout: .seconds(30)).standardOutput
            #expect(link.contains("http://") && link != page.standardOutput, "\(link)")
            try await room.ask(["stop"], byName: false)
            #expect(try await room.ask(["status"], status: 66, byName: false).contains("nothing is shared"))
        }

        @Test("Each share has its name, and a killed one leaves it to the next")
        func shareNames() async throws {
            let one = try await Room()
            defer { one.stop() }
            let other = try await Room(environment: one.share.environment, number: 2)
            defer { other.stop() }
            #expect(other.sending.standardError.contains("--name share-2"), "\(other.sending.standardError)")
            let ambiguous = try await one.ask(["status"], status: 64, byName: false)
            #expect(ambiguous.contains("share, share-2"), "\(ambiguous)")
            #expect(try await one.status().pid == one.sending.processIdentifier)
            #expect(try await other.status().pid == other.sending.processIdentifier)
            kill(one.sending.processIdentifier, SIGKILL)
            _ = try await one.sending.outcome(timeout: .seconds(10))
            try await one.ask(["status"], status: 66)
            // A share whose process is stopped is reported at once.
            let process = other.sending.processIdentifier
            kill(process, SIGSTOP)
            #expect(try await other.ask(["status"], status: 69).contains("Try: kill -CONT \(process)"))
            kill(process, SIGCONT)
            // The one that is left needs no name.
            let stopping = try one.share.start(["stop"])
            let second = try await one.share.run(["stop"]).status
            let statuses = [second, try await stopping.outcome(timeout: .seconds(20)).status]
            // Both stop the share, or one finds none any more.
            #expect(statuses.contains(0) && statuses.allSatisfy { $0 == 0 || $0 == 66 }, "\(statuses)")
            #expect(try await other.sending.outcome(timeout: .seconds(20)).status == 0)
            let third = try await Room(environment: one.share.environment)
            defer { third.stop() }
            #expect(try await third.status().name == "share")
        }
    }
}

/// A share that runs, with its viewers.
private struct Room {
    let share: Share
    let sending: RunningProgram
    let first: Onlooker
    /// Which of the shares in its folder for sockets it is.
    private let number: Int

    /// Somebody who views.
    final class Onlooker {
        let program: RunningProgram

        init(program: RunningProgram) { self.program = program }

        /// Nobody looks on longer than the test.
        deinit { program.stop() }

        func wait(saying words: String) async throws {
            try await program.wait(for: words, timeout: .seconds(30)) { program.standardError.contains(words) }
        }
    }

    init(
        sending options: [String] = [], viewing: [String] = [], environment: [String: String]? = nil, number: Int = 1
    ) async throws {
        let folder = try TemporaryFolder()
        var own = Interop.CommandLineTests.environment(folder)
        own["XDG_RUNTIME_DIR"] = folder.file("run").path
        share = try Share(environment: environment ?? own, in: folder)
        self.number = number
        try await share.offer(Interop.CommandLineTests.testPattern + options)
        let viewer = try await share.view(viewing)
        sending = try share.send()
        first = Onlooker(program: viewer)
        try await first.wait(saying: "Video 1 is added")
    }

    func stop() { sending.stop() }

    /// Asks the share for something, and returns what is said of it.
    @discardableResult
    func ask(
        _ arguments: [String], status: Int32 = 0, byName: Bool = true, _ location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let name = byName ? ["--name", number == 1 ? "share" : "share-\(number)"] : []
        let outcome = try await share.run(arguments + name, timeout: .seconds(30))
        #expect(outcome.status == status, "\(arguments): \(outcome.standardError)", sourceLocation: location)
        return outcome.standardError
    }

    func status() async throws -> ControlledShare {
        let outcome = try await share.run(
            ["status", "--json", "--name", number == 1 ? "share" : "share-\(number)"], timeout: .seconds(30))
        try #require(outcome.status == 0, "\(outcome.standardError)")
        return try ControlJSON.decode(ControlledShare.self, from: outcome.standardOutput.utf8)
    }

    /// Has one more viewer look on.
    func invite(_ name: String, _ options: [String] = []) async throws -> Onlooker {
        let offer = try await share.run(["invite"] + options, timeout: .seconds(30))
        try #require(offer.status == 0, "\(offer.standardError)")
        let file = try share.folder.write(offer.standardOutput, to: "\(name).offer")
        let viewer = try share.start(["view", "--offer", file.path])
        try await viewer.wait(for: "the whole answer", timeout: .seconds(30)) {
            viewer.standardOutput.contains("a=end-of-candidates")
                && viewer.standardOutput.utf8.last == UInt8(ascii: "\n")
        }
        let answer = try share.folder.write(viewer.standardOutput, to: "\(name).answer")
        let admission = try await share.run(["accept", answer.path], timeout: .seconds(30))
        try #require(admission.status == 0, "\(admission.standardError)")
        try await sending.wait(for: "the viewer", timeout: .seconds(30)) {
            sending.standardError.contains(/Viewer \d+ is connected/)
        }
        return Onlooker(program: viewer)
    }
}

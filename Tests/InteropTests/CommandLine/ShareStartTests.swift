import Foundation
import Testing
import TestSupport

@testable import rtcshare

/// The first lines that a share prints.
@Suite struct SourceIntroductionTests {
    @Test(
        "The start of a share names its sounds, and the option for a sound that is not shared",
        arguments: [
            ([], nil, ["Audio: none. To share audio, REMEDY."]), (["none"], nil, ["Audio: none."]),
            (["system", "tone"], nil, ["Audio: system, tone."]),
            ([], "microphone", ["Audio: none. To share audio, REMEDY.", "Microphone: microphone."]),
            (["beep"], "none", ["Audio: beep."]),
        ] as [([String], String?, [String])])
    func sounds(audio: [String], microphone: String?, lines: [String]) throws {
        let selection = SourceSelection(
            audio: try audio.map { try AudioSpecification($0) },
            microphone: try microphone.map { try AudioSpecification($0) })
        #expect(selection.soundLines(remedy: "REMEDY") == lines)
    }

    @Test("Without a source the start of a share names the one that was chosen")
    func preferredSource() {
        let test = SourceSpecification.preferred(environment: [:])
        #expect(
            test.specification.description == "test:1280x720" && test.sentence?.contains("no display was found") == true
        )
        let display = SourceSpecification.preferred(environment: ["DISPLAY": ":7"])
        #expect(display.sentence == "Source: display :7. To choose another source, add --source.")
    }
}

extension Interop {
    /// How `rtcshare serve` begins.
    @Suite(.serialized)
    struct ShareStartTests {
        private func share(in folder: TemporaryFolder) throws -> Share {
            let own = ["XDG_RUNTIME_DIR": folder.file("run").path, "WAYLAND_DISPLAY": ""]
            return try Share(environment: CommandLineTests.environment(folder).merging(own) { $1 }, in: folder)
        }

        @Test("At a terminal each link is printed once, and the last line says how to stop")
        func terminal() async throws {
            let folder = try TemporaryFolder()
            let share = try share(in: folder)
            let serving = try share.startAtTerminal(["serve", "--listen", "127.0.0.1:0", "--no-qr"])
            defer { serving.stop() }
            try await serving.wait(for: "the last line", timeout: .seconds(30)) {
                serving.standardOutput.contains("Press Ctrl-C to stop.")
            }
            let lines = serving.standardOutput.split(whereSeparator: \.isNewline).map(String.init)
            // The first line is broken between words, because the terminal has 80 columns.
            #expect(lines.count == 5, "\(lines)")
            #expect(lines.first?.hasPrefix("Source: a test pattern") == true && lines.allSatisfy { $0.count <= 80 })
            #expect(lines.dropFirst(2).first == "Audio: none. To share audio, add --audio system.")
            #expect(lines.count { $0.contains("http://") } == 1 && lines.last == "Press Ctrl-C to stop.")
            #expect(try await share.run(["stop"]).status == 0)
        }

        @Test("A signal ends a share that waits for the lock of the sockets' directory, and its files are closed")
        func locked() async throws {
            let folder = try TemporaryFolder()
            let sockets = folder.file("run/rtcshare")
            try FileManager.default.createDirectory(
                at: sockets, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let lock = open(sockets.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(lock) }
            try #require(flock(lock, LOCK_EX) == 0)
            let serving = try share(in: folder).start([
                "serve", "--listen", "127.0.0.1:0", "--record", folder.file("film.webm").path,
            ])
            defer { serving.stop() }
            try await serving.wait(for: "the wait for the lock", timeout: .seconds(30)) {
                let locks = (try? kernelTable("/proc/locks")) ?? ""
                return locks.split(separator: "\n").contains {
                    $0.contains("-> FLOCK") && $0.contains(" \(serving.processIdentifier) ")
                }
            }
            kill(serving.processIdentifier, SIGTERM)
            let outcome = try await serving.outcome(timeout: .seconds(30))
            #expect(outcome.status == 0, "\(outcome)")
            for line in ["The share has stopped.", "Nothing was recorded"] {
                #expect(outcome.standardError.contains(line), "\(outcome)")
            }
        }

        @Test("A signal before the answer ends a share, and its empty recording is removed")
        func unanswered() async throws {
            let folder = try TemporaryFolder()
            let answer = folder.file("answer")
            try #require(mkfifo(answer.path, 0o600) == 0)
            let share = try share(in: folder)
            // The pipe is opened for reading and writing, so that it does not end.
            let line = "exec \"$0\" send --bind 127.0.0.1 --record film.webm <> answer"
            let sending = try RunningProgram(
                URL(fileURLWithPath: "/bin/bash"), ["-c", line, share.rtcshare.path], environment: share.environment,
                in: folder)
            defer { sending.stop() }
            try await sending.wait(for: "the offer", timeout: .seconds(30)) {
                sending.standardOutput.contains("a=end-of-candidates")
            }
            #expect(FileManager.default.fileExists(atPath: folder.file("film.webm").path))
            kill(sending.processIdentifier, SIGTERM)
            let outcome = try await sending.outcome(timeout: .seconds(30))
            #expect(outcome.status == 0 && outcome.standardError.contains("Nothing was recorded"), "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("film.webm").path))
        }

        @Test("A share that can't start does not print what it shares")
        func takenPort() async throws {
            let folder = try TemporaryFolder()
            let first = try await ServedShare(in: folder)
            defer { first.stop() }
            let second = try await share(in: folder).run(["serve", "--listen", "127.0.0.1:\(first.port)"])
            #expect(second.status == 69 && second.standardOutput.isEmpty)
            #expect(second.standardError.hasPrefix("rtcshare: can't listen on"), "\(second.standardError)")
        }
    }
}

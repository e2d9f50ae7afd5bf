import Foundation
import RTCSharePeerConnection
import Testing
import TestSupport

@testable import rtcshare

extension Interop.CommandLineTests {
    /// What ends a share, and what does not.
    @Suite("Ends", .timeLimit(.minutes(1)))
    struct EndTests {
        @Test(
            "Signals of one request are one, and a later one ends the process at once, but for a terminal that hangs up"
        )
        func signals() {
            let start = ContinuousClock.now
            for (first, second, delay, effect) in [
                (SIGTERM, SIGTERM, Duration.zero, RequestedEnd.Effect.continue),
                (SIGINT, SIGTERM, .milliseconds(999), .continue), (SIGINT, SIGINT, .seconds(1), .atOnce),
                (SIGHUP, SIGTERM, .seconds(2), .atOnce), (SIGTERM, SIGHUP, .seconds(2), .continue),
            ] {
                var end = RequestedEnd()
                #expect(end.receive(first, at: start) == .begin)
                #expect(end.receive(second, at: start + delay) == effect, "\(first), then \(second)")
                #expect(end.receive(SIGINT, at: start + .seconds(3)) == .atOnce)
            }
        }

        private func serve(
            _ options: [String], after command: [String] = ["env"], in folder: TemporaryFolder
        ) throws -> RunningProgram {
            let share = try Share(environment: Interop.CommandLineTests.environment(folder), in: folder)
            let arguments = [
                share.rtcshare.path, "serve", "--source", "test:160x120@10", "--audio", "none", "--listen",
                "127.0.0.1:0", "--no-control",
            ]
            return try RunningProgram(
                try #require(RunningProgram.find(command[0])), command.dropFirst() + arguments + options,
                environment: share.environment, in: folder)
        }

        private func link(of program: RunningProgram) async throws -> String {
            try await program.wait(for: "the link", timeout: .seconds(30)) { program.standardOutput.contains("\n") }
            return program.standardOutput.trimmed
        }

        /// A terminal that is closed, and a request that comes twice, end a share cleanly.
        private func repeatSignal(_ number: Int32) async throws {
            let folder = try TemporaryFolder()
            let program = try serve([], after: ["env", "--default-signal=HUP"], in: folder)
            defer { program.stop() }
            _ = try await link(of: program)
            for _ in 0..<3 { kill(program.processIdentifier, number) }
            let outcome = try await program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0 && outcome.standardError.contains("The share has stopped."), "\(outcome)")
        }

        @Test("The end of a source that no connected viewer is sent ends the share")
        func endOutsideDestination() async throws {
            let folder = try TemporaryFolder()
            let pipe = folder.file("pipe.y4m")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            // Opened for reading and writing: opening only for writing would wait for the share.
            let film = try FileHandle(forUpdating: pipe)
            try film.write(contentsOf: Data("YUV4MPEG2 W64 H64 F10:1 C420jpeg\n".utf8))
            let served = try await ServedShare(["--subgroup", "sub"], source: "file:\(pipe.path)", in: folder)
            defer { served.stop() }
            let view = try served.view(["--no-window"])
            defer { view.stop() }
            try await served.wait(for: "the viewer") { $0.contains { $0.state == .connected } }
            try await served.ask("destination", "sub")
            try film.close()
            let outcome = try await served.program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0 && outcome.standardError.contains("its source has ended."), "\(outcome)")
        }

        /// Together they take as long as the longest, the silent source's.
        @Test("Signals end a share cleanly; statistics, recordings and sources that fail end none")
        func ends() async throws {
            async let closedTerminal: Void = repeatSignal(SIGHUP)
            async let doubledRequest: Void = repeatSignal(SIGTERM)
            async let hangUp: Void = ignoreHangUp()
            async let statistics: Void = fillStatistics()
            async let recording: Void = fillRecording()
            async let source: Void = awaitSilentSource()
            _ = try await (closedTerminal, doubledRequest, hangUp, statistics, recording, source)
        }

        /// Under nohup a share outlives its terminal.
        private func ignoreHangUp() async throws {
            let folder = try TemporaryFolder()
            let program = try serve(["--duration", "2"], after: ["env", "--ignore-signal=HUP"], in: folder)
            defer { program.stop() }
            _ = try await link(of: program)
            kill(program.processIdentifier, SIGHUP)
            let outcome = try await program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0 && outcome.standardError.contains("has ended after 2 seconds."), "\(outcome)")
        }

        /// Statistics that can't be written end neither a share nor a view, which say so once, and by their status.
        private func fillStatistics() async throws {
            let folder = try TemporaryFolder()
            let program = try serve(["--stats", "/dev/full"], in: folder)
            defer { program.stop() }
            let view = try Share(environment: Interop.CommandLineTests.environment(folder), in: folder).start([
                "view", try await link(of: program), "--no-window", "--duration", "2", "--stats", "/dev/full",
                "--record", "film.webm", "--snapshot", "seen.png",
            ])
            defer { view.stop() }
            let reason = "can't write statistics to /dev/full: the disk is full"
            for (program, activity) in [(view, "viewing"), (program, "the share")] {
                // The view has its duration; the share continues until it is stopped.
                if activity == "the share" { program.interrupt() }
                let outcome = try await program.outcome(timeout: .seconds(30))
                let notice = "Warning: the statistics have ended, and \(activity) continues: \(reason)"
                #expect(
                    outcome.status == 74 && outcome.standardError.components(separatedBy: notice).count == 2,
                    "\(outcome)")
            }
            #expect(program.standardError.contains("The share has stopped."))
            for name in ["film.webm", "seen.png"] {
                #expect(FileManager.default.fileExists(atPath: folder.file(name).path), "\(name)")
            }
        }

        /// A view of what `program` serves, begun by a line of a shell.
        private func view(
            _ program: RunningProgram, by line: String, _ options: [String], in folder: TemporaryFolder
        ) async throws -> RunningProgram {
            let share = try Share(environment: Interop.CommandLineTests.environment(folder), in: folder)
            return try RunningProgram(
                URL(fileURLWithPath: "/bin/bash"),
                ["-c", line, share.rtcshare.path, "view", try await link(of: program), "--no-window"] + options,
                environment: share.environment, in: folder)
        }

        @Test(
            "A view whose standard output or error is closed ends as any other",
            arguments: [">&-", "2>&-", ">&- 2>&- <&-"])
        func closedStreams(redirections: String) async throws {
            let folder = try TemporaryFolder()
            let program = try serve([], in: folder)
            defer { program.stop() }
            let view = try await view(
                program, by: "exec \"$0\" \"$@\" " + redirections, ["--duration", "1"], in: folder)
            defer { view.stop() }
            #expect(try await view.outcome(timeout: .seconds(30)).status == 0)
        }

        /// A recording that can't be written ends no view.
        private func fillRecording() async throws {
            let folder = try TemporaryFolder()
            let program = try serve([], in: folder)
            defer { program.stop() }
            let view = try await view(
                program, by: RunningProgram.line(largestFile: 1),
                ["--duration", "2", "--record", "film.webm"], in: folder)
            defer { view.stop() }
            let outcome = try await view.outcome(timeout: .seconds(30))
            #expect(outcome.status == 74 && outcome.standardError.contains("viewing continues: "), "\(outcome)")
        }

        /// A source that is silent at first ends no share; its end does, although nobody is there any more.
        private func awaitSilentSource() async throws {
            let folder = try TemporaryFolder()
            let pipe = folder.file("pipe.y4m")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            // Opened for reading and writing: opening only for writing would wait for the share.
            let film = try FileHandle(forUpdating: pipe)
            let picture = Data("FRAME\n".utf8) + Data(repeating: 128, count: 64 * 64 * 3 / 2)
            try film.write(contentsOf: Data("YUV4MPEG2 W64 H64 F10:1 C420jpeg\n".utf8))
            let program = try serve(["--source", "file:\(pipe.path)"], in: folder)
            defer { program.stop() }
            let view = try Share(environment: Interop.CommandLineTests.environment(folder), in: folder).start([
                "view", try await link(of: program), "--no-window", "--duration", "0.2",
            ])
            defer { view.stop() }
            try await program.wait(for: "a word about the silence", timeout: .seconds(20)) {
                program.standardError.contains(
                    "The source has given no frame for 5 seconds. The share waits for one.")
            }
            #expect(view.standardError.contains("Waiting for the first frame"))
            try film.write(contentsOf: picture)
            #expect(try await view.outcome(timeout: .seconds(20)).status == 0)
            try await program.wait(for: "the viewer's leaving", timeout: .seconds(20)) {
                program.standardError.contains(" left.")
            }
            try film.close()
            let outcome = try await program.outcome(timeout: .seconds(20))
            #expect(outcome.status == 0 && outcome.standardError.contains("its source has ended."), "\(outcome)")
        }
    }
}

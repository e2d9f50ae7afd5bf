import Foundation
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// Films that `--record FILE.webm` makes, judged by FFmpeg and by Chromium.
    @Suite(
        .serialized,
        .enabled(
            if: Peers.mustRun || Peers.hasCommandLine && Peers.python != nil && RunningProgram.find("ffprobe") != nil,
            "needs ffmpeg, and a Python with aiortc, numpy and pillow (RTCSHARE_PYTHON)"))
    struct FilmTests {
        /// What `Peers/film_player.py` tells.
        struct Played: Decodable {
            struct Seek: Decodable {
                let wanted: Double
                let reached: Double
                let counter: Int?
            }

            let duration: Double
            let seeks: [Seek]
            let error: String?
        }

        @Test(
            "A share and its view are films with all tracks, in lip sync, through a change of the source, a mute and a pause"
        )
        func bothSides() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(
                [
                    "--record", "sent.webm", "--audio", "beep", "--camera", "test:320x180@15",
                    "--microphone", "tone:880",
                ], in: folder)
            defer { share.stop() }
            let viewer = try share.view(["--record", "seen.webm"])
            defer { viewer.stop() }
            try await viewer.wait(for: "the content", timeout: .seconds(30)) {
                viewer.standardError.contains("screen of alice")
            }
            // Three flashes with their beeps, undisturbed.
            try await Task.sleep(for: .seconds(4))
            try await share.ask("switch", "test:320x240@30")
            try await share.ask("mute", "--audio")
            try await Task.sleep(for: .seconds(1))
            try await share.ask("pause")
            try await Task.sleep(for: .milliseconds(1500))
            try await share.ask("resume")
            let status = try await share.status()
            let recording = try #require(status.recording)
            #expect(recording.file == "sent.webm" && recording.seconds > 5)
            try await Task.sleep(for: .milliseconds(700))
            viewer.interrupt()
            let seen = try await viewer.outcome(timeout: .seconds(20))
            #expect(seen.status == 0 && seen.standardError.contains("seen.webm"), "\(seen.standardError)")
            share.program.interrupt()
            let sent = try await share.program.outcome(timeout: .seconds(20))
            #expect(sent.status == 0 && sent.standardError.contains("sent.webm"), "\(sent.standardError)")
            for film in ["sent.webm", "seen.webm"] { try check(try await RecordedFilm.report(film, in: folder), film) }
        }

        private func check(_ report: RecordedFilm.Report, _ film: String) throws {
            #expect(report.failures == 0, "\(film)")
            #expect(
                report.tracks.map { "\($0.name) \($0.codec)" } == [
                    "alice#content vp8", "alice#content opus", "alice vp8", "alice opus",
                ], "\(film)")
            let content = try #require(report.tracks.first { $0.name == "alice#content" && $0.kind == "video" })
            #expect(
                content.sizes.first == [640, 360] && content.sizes.last == [320, 240], "\(film): \(content.sizes)")
            #expect(content.longestGapMs > 1000, "the pause is there")
            // Players play packets one after the other.
            for sound in report.tracks where sound.kind == "audio" { #expect(sound.longestGapMs <= 2, "\(film)") }
            let offsets = try #require(report.offsetsMs["alice#content"], "\(film)").sorted()
            print("\(film): the beep is \(offsets) ms after the flash")
            #expect(offsets.count >= 2 && abs(offsets[offsets.count / 2]) <= 40, "\(film): \(offsets)")
        }

        @Test(
            "Chromium finds any second of a film, and shows what was taken then",
            .enabled(if: Peers.has(.chromium), "chromium is not installed"))
        func seek() async throws {
            let folder = try TemporaryFolder()
            let share = try await ServedShare(["--record", "film.webm", "--duration", "5"], in: folder)
            defer { share.stop() }
            let outcome = try await share.program.outcome(timeout: .seconds(30))
            try #require(outcome.status == 0, "\(outcome.standardError)")
            let watching = try await RunningProgram.run(
                try #require(RunningProgram.find("python3")),
                [
                    Peers.script("film_player.py"), "--film", folder.file("film.webm").path, "--log",
                    folder.file("browser.log").path, "--seek", "4", "1", "3", "2", "0.5", "3.5", "1.5",
                ], in: folder, timeout: .seconds(120))
            try #require(watching.status == 0, "\(watching.standardError)")
            let played = try JSONDecoder().decode(Played.self, from: Data(watching.standardOutput.utf8))
            try #require(played.error == nil)
            #expect(played.duration > 4 && played.duration < 6 && played.seeks.count == 7)
            // A frame's number is its time, from somewhere on.
            let starts = try played.seeks.map { Double(try #require($0.counter)) / 30 - $0.reached }
            let spread = try #require(starts.max()) - (try #require(starts.min()))
            #expect(spread <= 0.1, "\(starts)")
        }

        @Test("Of a share that is killed all but the last second is there, whenever that is")
        func killed() async throws {
            let folder = try TemporaryFolder()
            var missing: [Double] = []
            for batch in 0..<5 {
                let shares = try await withThrowingTaskGroup(of: Double.self) { group in
                    for number in 0..<10 {
                        group.addTask { try await killShare("film-\(batch)-\(number).webm", in: folder) }
                    }
                    return try await group.reduce(into: [Double]()) { $0.append($1) }
                }
                missing += shares
            }
            print("killed: \(missing.max() ?? 0) s are missing at most")
            #expect(missing.count == 50 && missing.allSatisfy { $0 <= 1 }, "\(missing)")
        }

        /// Kills a share after its film has begun, at random; returns how many seconds the film lacks of what was shared.
        private func killShare(_ film: String, in folder: TemporaryFolder) async throws -> Double {
            let share = try Share(environment: CommandLineTests.environment(folder), in: folder)
            let program = try share.start([
                "serve", "--source", "test:160x120@10", "--microphone", "tone:880", "--no-control", "--listen",
                "127.0.0.1:0", "--record", film,
            ])
            defer { program.stop() }
            let path = folder.file(film).path
            try await program.wait(for: "the film", timeout: .seconds(30)) {
                let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int
                return size ?? 0 > 40_000
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...700)))
            kill(program.processIdentifier, SIGKILL)
            let end = Date().timeIntervalSince1970
            _ = try await program.outcome(timeout: .seconds(10))
            return end - (try await lastPacket(of: path, in: folder))
        }

        private struct Probe: Decodable {
            struct Packet: Decodable {
                let ptsTime: String
            }

            struct Format: Decodable {
                struct Tags: Decodable {
                    let creationTime: String
                }

                let tags: Tags
            }

            let packets: [Packet]
            let format: Format
        }

        /// When the last packet of a film was taken, since 1970, as ffprobe reads it.
        private func lastPacket(of path: String, in folder: TemporaryFolder) async throws -> Double {
            let outcome = try await RunningProgram.run(
                try #require(RunningProgram.find("ffprobe")),
                [
                    "-v", "error", "-of", "json", "-show_entries", "packet=pts_time:format_tags=creation_time", path,
                ], in: folder, timeout: .seconds(30))
            try #require(outcome.status == 0, "\(outcome.standardError)")
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let probe = try decoder.decode(Probe.self, from: Data(outcome.standardOutput.utf8))
            // The date to the second, and its fraction, of which there are six digits.
            let parts = probe.format.tags.creationTime.dropLast().split(separator: ".").map(String.init)
            let begin = try Date("\(parts[0])Z", strategy: .iso8601).timeIntervalSince1970
            let fraction = parts.count > 1 ? Double("0." + parts[1]) ?? 0 : 0
            return begin + fraction + (try #require(probe.packets.compactMap { Double($0.ptsTime) }.max()))
        }

        @Test("A film that can't be made is told of at once, with what is wrong")
        func unwritable() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: CommandLineTests.environment(folder), in: folder)
            _ = try folder.write("mine", to: "there.webm")
            _ = try folder.write("v=0\r\n", to: "offer.sdp")
            let rows: [(file: String, status: Int32, words: String)] = [
                ("there.webm", 73, "exists already"), ("missing/film.webm", 73, "film.webm"),
                ("film.mp4", 64, "ends in .webm"),
            ]
            let commands = [
                ["serve", "--source", "test", "--listen", "127.0.0.1:0"], ["send", "--source", "test"],
                ["view", "http://127.0.0.1:9/#x"],
            ]
            for command in commands {
                for row in rows {
                    // A view without anybody to view fails of that, where its film is not what fails first.
                    guard command[0] != "view" || row.status == 64 else { continue }
                    let outcome = try await share.run(command + ["--record", row.file])
                    #expect(outcome.status == row.status, "\(command) \(row.file): \(outcome.standardError)")
                    #expect(outcome.standardError.contains(row.words), "\(outcome.standardError)")
                    #expect(outcome.standardOutput.isEmpty)
                }
            }
            #expect(try String(contentsOf: folder.file("there.webm"), encoding: .utf8) == "mine")
        }

        @Test("Where the disk is full the film ends, with a sentence, and the share goes on")
        func fullDisk() async throws {
            let folder = try TemporaryFolder()
            let share = try Share(environment: CommandLineTests.environment(folder), in: folder)
            let shell = [
                "-c", RunningProgram.line(largestFile: 200), share.rtcshare.path, "serve", "--source",
                "test:640x360@30", "--audio", "beep", "--listen", "127.0.0.1:0", "--no-control", "--duration", "4",
                "--record", "film.webm",
            ]
            let program = try RunningProgram(
                URL(fileURLWithPath: "/bin/bash"), shell, environment: share.environment, in: folder)
            defer { program.stop() }
            let outcome = try await program.outcome(timeout: .seconds(30))
            #expect(outcome.status == 74, "\(outcome.standardError)")
            #expect(outcome.standardError.contains("Warning: the recording has ended, and the share continues"))
            #expect(outcome.standardError.contains("has ended after 4 seconds."), "the share went on")
            let report = try await RecordedFilm.report("film.webm", in: folder)
            #expect(report.failures == 0 && report.tracks.count == 2 && report.seconds > 0.1)
        }
    }
}

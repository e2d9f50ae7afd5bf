import Foundation
import Testing
import TestSupport

extension Interop {
    /// The benchmark of whole senders, as short as it can be: that its figures are of what it says.
    @Suite(.serialized)
    struct ScreenBenchmarkTests {
        private struct Written: Decodable {
            struct Report: Decodable {
                let results: [Result]
            }
            struct Result: Decodable {
                let peer: String
                let senderProcessor: Double
                let bitrate: Double
                let changeRate: Double
                let restSimilarity: Double?
                let latencies: [Double]
                let unreadablePictures: Int
            }
            let report: Report
        }

        private static let isInstalled: ConditionTrait = .enabled(
            if: Peers.mustRun || Peers.rtcbench != nil && RunningProgram.find("Xvfb") != nil,
            "needs Xvfb and a built rtcbench")

        @Test("Our sender is measured, and what came is what was drawn", isInstalled)
        func ourSenderMeasured() async throws {
            try await measure("ours")
        }

        @Test(
            "GStreamer is measured as a sender, and what came is what was drawn",
            isInstalled, .enabled(if: Peers.has(.gstreamer), "/usr/bin/python3 has no GStreamer with webrtcbin"))
        func gstreamerMeasured() async throws {
            try await measure("gstreamer")
        }

        @Test("A benchmark that is interrupted leaves no sender, no X server and no folder behind", isInstalled)
        func interruption() async throws {
            let folder = try TemporaryFolder()
            let program = try start(["--seconds", "60", "--peers", "ours"], in: folder)
            let children = "/proc/\(program.processIdentifier)/task/"
            func started() -> [String] {
                let threads = (try? FileManager.default.contentsOfDirectory(atPath: children)) ?? []
                return threads.flatMap { thread in
                    (try? String(contentsOfFile: children + thread + "/children", encoding: .utf8))?
                        .split(separator: " ").map(String.init) ?? []
                }
            }
            try await program.wait(for: "an X server and a sender", timeout: .seconds(60)) { started().count == 2 }
            let pids = started()
            kill(program.processIdentifier, SIGINT)
            let outcome = try await program.outcome(timeout: .seconds(30))
            #expect(outcome.status == 128 + SIGINT)
            #expect(pids.allSatisfy { kill(pid_t($0) ?? 0, 0) != 0 })
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(!left.contains { $0.hasPrefix("rtcbench-") && !$0.hasSuffix(".out") && !$0.hasSuffix(".err") })
        }

        private func start(_ options: [String], in folder: TemporaryFolder) throws -> RunningProgram {
            try RunningProgram(
                try #require(Peers.rtcbench),
                [
                    "encode", "--contents", "typing", "--sizes", "1024x600", "--rounds", "1", "--warm-up", "1",
                    "--executable", try #require(Peers.rtcshare).path, "--scripts", Peers.script(""),
                ] + options, environment: ["TMPDIR": folder.url.path], in: folder)
        }

        private func measure(_ peer: String) async throws {
            let folder = try TemporaryFolder()
            let report = folder.file("report.json")
            let outcome = try await start(
                ["--seconds", "2", "--peers", peer, "--json", report.path], in: folder
            ).outcome(timeout: .seconds(120))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let written = try JSONDecoder().decode(Written.self, from: Data(contentsOf: report))
            let result = try #require(written.report.results.first)
            #expect(result.peer == peer)
            #expect(result.senderProcessor > 0)
            #expect(result.bitrate > 0)
            #expect(result.changeRate > 1)
            #expect(!result.latencies.isEmpty)
            // The time that the X server takes to confirm a change is all that a picture can be early by.
            #expect(result.latencies.allSatisfy { $0 > -10 })
            #expect(result.unreadablePictures == 0)
            #expect(try #require(result.restSimilarity) > 0.8)
        }
    }
}

import Foundation
import Testing
import TestSupport

extension Interop {
    /// What a browser shows of our screen, as short as it can be: that the figures are of what it says.
    @Suite(.serialized)
    struct ViewerBenchmarkTests {
        private struct Record: Decodable {
            struct Second: Decodable {
                let similarity: Double?
                let ownSimilarity: Double?
                let frames: Int
                let bitrate: Double
                let processor: Double
            }
            struct Total: Decodable {
                let latency: Double?
                let firstPicture: Double?
                let memory: Double?
                let unreadablePictures: Int
                let size: String
            }
            let seconds: [Second]
            let total: Total
        }

        private static let isInstalled: ConditionTrait = .enabled(
            if: Peers.mustRun
                || Peers.rtcbench != nil && Peers.networkRelay != nil && RunningProgram.find("Xvfb") != nil,
            "needs Xvfb and a built rtcbench")

        private func run(_ options: [String], in folder: TemporaryFolder) async throws -> RunningProgram.Outcome {
            try await RunningProgram(
                try #require(Peers.rtcbench),
                [
                    "viewer", "--size", "1024x600", "--executable", try #require(Peers.rtcshare).path, "--scripts",
                    Peers.script(""), "--python", try #require(Peers.python).path,
                ] + options, environment: ["TMPDIR": folder.url.path], in: folder
            ).outcome(timeout: .seconds(200))
        }

        @Test(
            "What a browser or aiortc shows of our screen is judged for each second, kept, and told again", isInstalled,
            .enabled(if: Peers.has(.chromium) && Peers.has(.aiortc), "needs chromium, and a Python with aiortc"),
            arguments: ["chromium", "aiortc"])
        func ourScreenJudged(receiver: String) async throws {
            let folder = try TemporaryFolder()
            let (history, picture) = (folder.file("history.jsonl"), folder.file("seconds.svg"))
            let outcome = try await run(
                [
                    "--contents", "editor", "--senders", "ours", "--receivers", receiver, "--paths",
                    "20ms-j2-1%-bursts2",
                    "--seconds", "3", "--history", history.path, "--svg", picture.path,
                ], in: folder)
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let lines = try String(contentsOf: history, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 1)
            let record = try JSONDecoder().decode(Record.self, from: Data(try #require(lines.first).utf8))
            #expect(record.seconds.count == 3)
            #expect(record.seconds.map(\.frames).reduce(0, +) > 3)
            #expect(try #require(record.seconds.last?.ownSimilarity) > 0.8)
            #expect(record.seconds.allSatisfy { $0.processor > 0 })
            #expect(record.seconds.map(\.bitrate).reduce(0, +) > 0)
            // The path alone takes 20 ms.
            #expect(try #require(record.total.latency) > 20)
            #expect(try #require(record.total.firstPicture) > 20)
            #expect(record.total.size == "1024x600")
            #expect(try String(contentsOf: picture, encoding: .utf8).hasSuffix("</svg>\n"))
            let shown = try await run(["--show", history.path], in: folder)
            #expect(shown.status == 0)
            #expect(shown.standardOutput.contains("editor, 20ms-j2-1%-bursts2, 1500 kbit/s, 1024x600"))
        }

        @Test(
            "The table of rivals has a row for each number of viewers, and for a program that is not installed",
            isInstalled,
            .enabled(if: Peers.has(.chromium) && Peers.canDriveBrowsers, "needs chromium, and a Python with websockets")
        )
        func rivalsCompared() async throws {
            struct Row: Decodable {
                let record: Record?
                let obstacle: String?
            }
            let folder = try TemporaryFolder()
            let rows = folder.file("rows.jsonl")
            let outcome = try await RunningProgram(
                try #require(Peers.rtcbench),
                [
                    "rivals", "--contents", "typing", "--senders", "served,selkies", "--selkies", "not-installed",
                    "--sizes", "1024x600", "--framerates", "30", "--viewers", "1,2", "--seconds", "3", "--json",
                    rows.path, "--executable", try #require(Peers.rtcshare).path, "--scripts", Peers.script(""),
                    "--python", try #require(Peers.python).path,
                ], environment: ["TMPDIR": folder.url.path], in: folder
            ).outcome(timeout: .seconds(200))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            let lines = try String(contentsOf: rows, encoding: .utf8).split(separator: "\n")
            let found = try lines.map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
            #expect(found.map { $0.record == nil } == [false, true, false, true], "\(outcome.standardError)")
            for record in found.compactMap(\.record) {
                #expect(record.seconds.allSatisfy { $0.processor > 0 })
                #expect(try #require(record.total.firstPicture) > 0)
                #expect(try #require(record.total.memory) > 1)
                #expect(try #require(record.seconds.last?.ownSimilarity) > 0.8)
            }
            #expect(outcome.standardOutput.contains("| typing | 1024x600, 30/s | 2 | rtcshare serve |"))
            #expect(outcome.standardOutput.contains("not installed: program not found: not-installed"))
        }

        @Test("A path that is none is refused", isInstalled, arguments: ["swift", "200%", "40", "bursts0"])
        func noPath(name: String) async throws {
            let folder = try TemporaryFolder()
            #expect(try await run(["--paths", name], in: folder).status == 64)
        }
    }
}

import Foundation
import Testing
import TestSupport

extension Interop {
    /// The soak, as short as it can be: that what it says would happen happens, and is seen.
    @Suite(.serialized)
    struct SoakTests {
        /// What happens, with the viewer to whom.
        private struct Step: Hashable {
            let time: Double
            let name: String
            let viewer: Int?

            init(line: Substring) throws {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                let action = try #require(object?["action"] as? [String: Any])
                time = try #require((object?["time"] as? NSNumber)?.doubleValue)
                name = try #require(action.keys.first)
                viewer = (action[name] as? [String: Any])?["viewer"] as? Int
            }
        }

        private static let isBuilt: ConditionTrait = .enabled(
            if: Peers.mustRun || Peers.rtcbench != nil, "needs a built rtcbench")

        private func run(_ options: [String], in folder: TemporaryFolder) async throws -> RunningProgram.Outcome {
            try await RunningProgram(try #require(Peers.rtcbench), ["soak"] + options, in: folder)
                .outcome(timeout: .seconds(240))
        }

        private func plan(seed: Int, hours: Double) async throws -> [Step] {
            let folder = try TemporaryFolder()
            let outcome = try await run(["--plan", "--seed", "\(seed)", "--hours", "\(hours)"], in: folder)
            #expect(outcome.status == 0, "\(outcome.standardError)")
            return try outcome.standardOutput.split(separator: "\n").map(Step.init)
        }

        @Test("What happens in a soak follows from its seed", isBuilt)
        func seededPlan() async throws {
            let steps = try await plan(seed: 7, hours: 0.2)
            #expect(steps == (try await plan(seed: 7, hours: 0.2)))
            #expect(steps != (try await plan(seed: 8, hours: 0.2)))
        }

        @Test(
            "In an hour everything happens, to viewers who are there, of whom there are at most six",
            isBuilt, arguments: [1, 2, 3])
        func oneHour(
            seed: Int
        ) async throws {
            let steps = try await plan(seed: seed, hours: 1)
            let all: Set<String> = [
                "join", "leave", "vanish", "dismiss", "move", "lose", "outage", "restartICE", "requestKeyFrames",
                "source", "adaptOutputFormat", "hint", "limit", "volume", "pause", "destination", "ebb",
            ]
            #expect(Set(steps.map(\.name)) == all)
            #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.time <= $1.time })
            var present: Set<Int> = []
            var known: Set<Int> = []
            for step in steps {
                switch (step.name, step.viewer) {
                case ("join", let viewer?):
                    #expect(known.insert(viewer).inserted)
                    present.insert(viewer)
                case ("leave", let viewer?), ("vanish", let viewer?), ("dismiss", let viewer?):
                    #expect(present.remove(viewer) != nil)
                case ("ebb", _): present = []
                case (_, let viewer?): #expect(present.contains(viewer))
                case (_, nil): break
                }
                #expect(present.count <= 6)
            }
            #expect(steps.last?.name == "ebb")
            #expect(steps.last?.time == 3600)
            // Their connections are to be gone when everybody has left.
            let ebbs = steps.filter { $0.name == "ebb" }.map(\.time)
            #expect(ebbs.count == 21)
            for step in steps where step.name == "vanish" {
                #expect(ebbs.contains { $0 >= step.time + 30 } && !ebbs.contains { (step.time..<step.time + 30) ~= $0 })
            }
        }

        @Test("A short soak sees all viewers served and nothing left behind, and draws it", isBuilt)
        func shortSoak() async throws {
            let folder = try TemporaryFolder()
            let (samples, picture) = (folder.file("samples.json"), folder.file("soak.svg"))
            let outcome = try await run(
                ["--hours", "0.005", "--seed", "2", "--json", samples.path, "--svg", picture.path], in: folder)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\n\(outcome.standardError)")
            #expect(outcome.standardOutput.contains("\npassed"))
            let lines = try String(contentsOf: samples, encoding: .utf8).split(separator: "\n")
            let last = try #require(lines.last)
            let sample = try #require(
                try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
            for name in ["framesSent", "picturesSeen"] {
                #expect(try #require(sample[name] as? Int) > 0)
            }
            let sharing = try #require(sample["sharing"] as? [String: Int])
            for name in ["resident", "allocated", "descriptors", "threads", "timers"] {
                #expect(try #require(sharing[name]) > 0)
            }
            #expect(try String(contentsOf: picture, encoding: .utf8).hasSuffix("</svg>\n"))
        }

        @Test("A soak of no time is refused", isBuilt)
        func noTime() async throws {
            let folder = try TemporaryFolder()
            #expect(try await run(["--hours", "0"], in: folder).status == 64)
        }
    }
}

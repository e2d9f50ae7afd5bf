internal import ArgumentParser
internal import Foundation
internal import RTCShareCongestionControl
internal import RTCShareWireFormat

/// Congestion control with a real receiver, on a worse network than the machine's own.
struct PathCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "path",
        abstract: "Share to Chromium over a narrow path, with and without what differs from libwebrtc.",
        discussion: """
            A run is rtcshare send, a program that forwards its datagrams with rate, queue, delay and loss (NetworkRelay, \
            which is built with the tests), and a headless Chromium. Each case is run with everything, and without each \
            of what congestion control does otherwise than libwebrtc, or without what --without names. They take turns; \
            figures are the medians of the rounds.

            Cases: \(PathCase.all.map { "\($0.name) (\($0.title))" }.joined(separator: "; ")).

            Use is of the path from its sixth second on, waits are those of datagrams in its queue. Freezes are pauses of \
            the picture of more than 300 ms. A picture's time is that from its first packet to its \
            last at the browser, the mean of those that are several packets.
            """)

    @Argument(help: "Names of cases; all where none is given.")
    var cases: [String] = []

    @Option(
        help: ArgumentHelp(
            "What to leave out, beside runs with everything: names of rtcbench network --without. By default each in turn, and all.",
            valueName: "name"))
    var without: [String] = []

    @Option(help: "Rounds; each has every case in every way.")
    var rounds = 3

    @Option(help: ArgumentHelp("The rtcshare to measure. By default the one beside this program.", valueName: "path"))
    var executable: String?

    @Option(help: ArgumentHelp("The NetworkRelay to use. By default the one beside this program.", valueName: "path"))
    var relay: String?

    @Option(
        help: ArgumentHelp(
            "Where chromium_viewer.py is. By default Tests/InteropTests/Peers here.", valueName: "folder"))
    var scripts = "Tests/InteropTests/Peers"

    @Option(help: ArgumentHelp("The Python that runs it.", valueName: "path"))
    var python = "python3"

    @Option(help: ArgumentHelp("Write all figures as JSON.", valueName: "file"))
    var json: String?

    func validate() throws {
        _ = try chosen()
        guard Deviations(without: without) != nil else {
            throw ValidationError("--without: there is none of a name; rtcbench network --help has them all")
        }
        guard rounds >= 1 else { throw ValidationError("give at least one round") }
    }

    private func chosen() throws -> [PathCase] {
        guard !cases.isEmpty else { return PathCase.all }
        return try cases.map { name in
            guard let found = PathCase.all.first(where: { $0.name == name }) else {
                throw ValidationError("there is no case \(name)")
            }
            return found
        }
    }

    func run() async throws {
        let folder = try TemporaryFolder()
        let interruption = Interruption(folder)
        defer {
            interruption.cancel()
            folder.remove()
        }
        let run = PathRun(
            executable: executable ?? beside("rtcshare"), relay: relay ?? beside("NetworkRelay"), scripts: scripts,
            python: python, folder: folder)
        let variants = [[]] + (without.isEmpty ? Deviations.named.map(\.key) + ["all"] : without).map { [$0] }
        var results: [PathRun.Result] = []
        for round in 1...rounds {
            for plan in try chosen() {
                for variant in variants {
                    ScreenBenchmark.say(
                        "round \(round) of \(rounds): \(plan.name), without \(variant.first ?? "anything left out")")
                    do {
                        results.append(try await run.run(plan, without: variant))
                    } catch {
                        ScreenBenchmark.say("\(error)")
                    }
                }
            }
        }
        print(MachineDescription())
        print(try table(results, variants))
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(results).write(to: URL(fileURLWithPath: json))
        }
        if results.count < rounds * variants.count * (try chosen().count) { throw ExitCode(1) }
    }

    private func beside(_ name: String) -> String {
        Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent(name).path ?? name
    }

    private func table(_ results: [PathRun.Result], _ variants: [[String]]) throws -> String {
        let rows = try chosen().flatMap { plan in
            variants.map { variant -> [String] in
                let found = results.filter { $0.name == plan.name && $0.without == variant }
                func middle(_ figure: (PathRun.Result) -> Double?) -> Double? { found.compactMap(figure).median }
                return [
                    plan.name, variant.first ?? "–", middle(\.path.use).text(0), middle(\.path.wait95).text(0),
                    middle(\.path.longestWait).text(0), middle(\.path.loss).text(1), middle(\.framesPerSecond).text(1),
                    middle { Double($0.freezes) }.text(0), middle(\.longestFreeze).text(0), middle(\.assembly).text(1),
                ]
            }
        }
        let titles = [
            "case", "without", "use %", "95 % wait ms", "longest", "lost %", "pictures/s", "freezes", "longest ms",
            "picture ms",
        ]
        return Table(titles: titles, rows: rows, leading: 2).description
    }
}

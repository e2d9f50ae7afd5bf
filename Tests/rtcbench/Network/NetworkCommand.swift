internal import ArgumentParser
internal import Foundation
internal import RTCShareCongestionControl
internal import RTCShareWireFormat

/// Congestion control in simulated networks.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network",
        abstract: "Send whole connections through simulated networks, and see what they make of them.",
        discussion: """
            The cases are those of RFC 8867 (5.1 to 5.8), a path of 3 Mbit/s and 50 ms with what may happen to it \
            (start, steady, quarter, loss-5, loss-20, fair, tcp, outage, outage-narrower, pauses, no-padding, reports, idle, idle-narrower), and a still picture over the \
            narrow ones (still-…). Give names to run only those; a name with a star at its end stands for all that \
            begin so.

            Each share is two connections with everything but sockets: ICE, DTLS, SRTP, RTCP with transport-wide \
            feedback, over a network in virtual time. Its source has an encoder's sizes of frames, and follows its \
            target. Seeds are fixed: each run gives the same figures.

            Rates are of bytes on the wire, IPv4 and UDP headers included. A share's use is what comes at the viewer.

            What congestion control does otherwise than libwebrtc has a switch each (--without). With --compare each case \
            is run with all that is left on, and without each of it, over several seeds, and the means are told: a star \
            marks what is visibly other, by more than a twentieth and by more than twice the standard error.

            Exits with 1 where a bar is missed.
            """)

    @Argument(help: "Names of cases; all where none is given.")
    var cases: [String] = []

    @Option(help: ArgumentHelp("Write figures and curves as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a picture of each case.", valueName: "folder"))
    var svg: String?

    @Option(help: "Simulate no more than so many seconds of each case; what they don't show is not judged.")
    var seconds: Double?

    @Option(help: "Where randomness begins: loss, jitter and the sizes of frames differ with each.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp(
            "Do as libwebrtc does in this: \(Deviations.named.map(\.key).joined(separator: ", "))."
                + " all is all of them. May be given several times.", valueName: "name"))
    var without: [String] = []

    @Flag(help: "Run the cases with everything and without each, and tell what is visibly other.")
    var compare = false

    @Option(help: "How many seeds each case is compared with.")
    var seeds = 5

    @Flag(help: "Name the cases.")
    var list = false

    private static func chosen(_ names: [String]) throws -> [NetworkCase] {
        let all = NetworkCases.all
        guard !names.isEmpty else { return all }
        return try names.flatMap { name in
            let found = all.filter {
                name.hasSuffix("*") ? $0.name.hasPrefix(name.dropLast()) : $0.name == name
            }
            guard !found.isEmpty else {
                throw ValidationError("there is no case \(name); --list names them all")
            }
            return found
        }
    }

    func validate() throws {
        _ = try Self.chosen(cases)
        guard seconds.map({ $0 >= 1 }) ?? true else { throw ValidationError("give at least one second") }
        guard (1...1000).contains(seeds) else { throw ValidationError("--seeds \(seeds): give 1 to 1000") }
        _ = try deviations()
    }

    private func deviations() throws -> Deviations {
        guard let deviations = Deviations(without: without) else {
            throw ValidationError("--without: there is none of a name; --help has them all")
        }
        return deviations
    }

    private func compare(_ cases: [NetworkCase]) throws {
        var comparison = try NetworkComparison(deviations(), seeds: (0..<UInt64(seeds)).map { seed &+ $0 })
        for plan in cases {
            try comparison.run(plan, seconds: seconds)
            if let result = comparison.cases.last { print(NetworkComparison.table(result, comparison.variants) + "\n") }
        }
        print("Visibly other, with → without:\n" + comparison.summary)
    }

    func run() throws {
        let cases = try Self.chosen(cases)
        if list { return print(cases.map { "\($0.name)  \($0.title)" }.joined(separator: "\n")) }
        if compare { return try compare(cases) }
        if let svg { try FileManager.default.createDirectory(atPath: svg, withIntermediateDirectories: true) }
        var report = NetworkReport()
        print(NetworkReport.heading)
        for plan in cases {
            var run = try NetworkRun(plan, seed: seed, seconds: seconds, deviations: deviations())
            let record = try run.run()
            report.add(plan, record, isWhole: seconds.map { $0 >= plan.seconds } ?? true)
            if let result = report.cases.last { print(NetworkReport.rows(of: result)) }
            for flow in record.shares {
                if let failure = flow.failure { print("\(plan.name): \(flow.name) failed: \(failure)") }
            }
            if let svg {
                try Data(record.chart(title: "\(plan.name): \(plan.title)").svg.utf8)
                    .write(to: URL(fileURLWithPath: svg).appendingPathComponent("\(plan.name).svg"))
            }
        }
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(report).write(to: URL(fileURLWithPath: json))
        }
        if !report.passes { throw ExitCode(1) }
    }
}

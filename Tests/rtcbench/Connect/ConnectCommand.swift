internal import ArgumentParser
internal import RTCShareNetworkSimulation
internal import RTCShareWireFormat

/// The time in which two peers connect on a lossy network.
struct ConnectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect two peers over simulated paths that lose datagrams, and tell when there is a picture.",
        discussion: """
            Each run is two whole peers with everything but sockets, in virtual time, from the answer to the first \
            picture. The answer takes as long as any datagram; the sender's time begins with it. Figures are milliseconds: \
            the median, and what 90 and 99 of 100 runs don't exceed, and the longest. Seeds are fixed: each run gives the \
            same figures.

            With --each a path without chance loses one datagram, every one in turn, and what that costs is told.
            """)

    @Option(help: "Milliseconds each way.")
    var delay: [Int] = [20, 40, 100]

    @Option(help: "Percent of datagrams that are lost each way.")
    var loss: [Double] = [0, 2, 5, 10, 20]

    @Option(help: "Runs of each.")
    var runs = 300

    @Option(help: "By whose timers the viewer repeats: own, libwebrtc, openssl.")
    var viewer = ConnectRun.ViewerTimers.own

    @Flag(help: "The viewer offers: it controls ICE, and the sender begins DTLS.")
    var viewerOffers = false

    @Flag(help: "The picture stands still behind its first frames.")
    var still = false

    @Flag(help: "Lose one datagram, every one in turn.")
    var each = false

    func validate() throws {
        guard runs >= 1, delay.allSatisfy({ $0 >= 0 }), loss.allSatisfy({ (0...90).contains($0) }) else {
            throw ValidationError("give at least one run, delays from zero on, and losses of 0 to 90")
        }
    }

    func run() throws {
        print(try each ? losingEach() : distributions())
    }

    private func plan(_ delay: Int) -> ConnectRun.Plan {
        ConnectRun.Plan(delay: .milliseconds(delay), viewerOffers: viewerOffers, viewer: viewer, isStill: still)
    }

    private func distributions() throws -> Table {
        var rows: [[String]] = []
        for delay in delay {
            for loss in loss {
                var plan = plan(delay)
                plan.loss = loss / 100
                var times: [ConnectRun.Step: [Double]] = [:]
                var datagrams: [Double] = []
                for seed in 1...UInt64(runs) {
                    plan.seed = seed &* 1000
                    let run = try ConnectRun(plan)
                    try run.run(beyond: .seconds(1))
                    for step in ConnectRun.Step.allCases {
                        times[step, default: []].append(run.times[step]?.milliseconds ?? .infinity)
                    }
                    datagrams.append(Double(run.setupDatagrams))
                }
                let mean = datagrams.reduce(0, +) / Double(datagrams.count)
                rows.append(
                    ["\(delay)", Double?(loss).text(0)]
                        + ConnectRun.Step.allCases.map { Self.text(times[$0, default: []]) } + [Double?(mean).text(1)])
            }
        }
        let titles = ["ms", "loss %"] + ConnectRun.Step.allCases.map(\.rawValue) + ["datagrams"]
        return Table(titles: titles, rows: rows, leading: 0)
    }

    /// Returns the median, the 90th and the 99th percentile, and the maximum.
    private static func text(_ times: [Double]) -> String {
        [0.5, 0.9, 0.99, 1].map { times.percentile($0).text(0) }.joined(separator: "/")
    }

    private func losingEach() throws -> Table {
        var rows: [[String]] = []
        for delay in delay {
            let clean = try ConnectRun(plan(delay))
            try clean.run()
            let count = clean.sent.count { $0.kind != ConnectRun.mediaKind }
            let indices = clean.sent.indices.filter { clean.sent[$0].kind != ConnectRun.mediaKind }.prefix(count)
            let firstMedia = clean.sent.indices.filter { clean.sent[$0].kind == ConnectRun.mediaKind }
            rows.append(row(delay, "none", clean, beside: nil))
            for index in indices + firstMedia {
                var plan = plan(delay)
                plan.lost = index
                let run = try ConnectRun(plan)
                try run.run()
                let sent = clean.sent[index]
                let name = "\(sent.isSenders ? "sender's" : "viewer's") \(sent.kind) at \(Int(sent.time.milliseconds))"
                rows.append(row(delay, name, run, beside: clean))
            }
        }
        let titles = ["ms", "lost"] + ConnectRun.Step.allCases.map(\.rawValue)
        return Table(titles: titles, rows: rows, leading: 2)
    }

    private func row(_ delay: Int, _ name: String, _ run: ConnectRun, beside clean: ConnectRun?) -> [String] {
        ["\(delay)", name]
            + ConnectRun.Step.allCases.map { step in
                guard let time = run.times[step]?.milliseconds else { return "–" }
                guard let usual = clean?.times[step]?.milliseconds else { return Double?(time).text(0) }
                return time == usual ? "" : Double?(time - usual).text(0)
            }
    }
}

extension ConnectRun.ViewerTimers: ExpressibleByArgument {}

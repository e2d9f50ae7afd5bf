internal import RTCShareNetworkSimulation

/// All cases, by name.
enum NetworkCases {
    static var all: [NetworkCase] {
        rfc8867 + paths + [rfc8867[0], rfc8867[2], rfc8867[5], rfc8867[6]].map { $0.still() }
            + paths.filter { narrowing.contains($0.name) }.map { $0.still() }
    }

    /// The cases that are also run with still video.
    private static let narrowing = ["quarter", "loss-5", "loss-20", "fair", "tcp"]

    private static func wide(_ name: String = "share", end: Double, loss: Double = 0) -> NetworkCase.Share {
        NetworkCase.Share(name: name, end: end, loss: loss, maximum: 6000)
    }

    /// The cases of a route with 3 Mbit/s and 50 ms, and of its disturbances.
    static var paths: [NetworkCase] {
        [
            NetworkCase(
                name: "start", title: "3 Mbit/s, 50 ms: the start", seconds: 20, forward: [(0, 3000)],
                shares: [wide(end: 20)], bars: [.rise(to: 0.9, most: 3), .queueing(percentile: 1), .loss]),
            NetworkCase(
                name: "steady", title: "3 Mbit/s, 50 ms: a minute", seconds: 60, forward: [(0, 3000)],
                shares: [wide(end: 60)],
                bars: [.use(from: 5, to: 60, least: 90), .queueing(percentile: 0.95), .loss]),
            NetworkCase(
                name: "quarter", title: "3 Mbit/s that fall to 750 kbit/s", seconds: 60,
                forward: [(0, 3000), (30, 750)], queue: 1000, shares: [wide(end: 60)],
                bars: [.drain(after: 30, most: 2), .queueing(percentile: 1), .use(from: 35, to: 60), .loss]),
            NetworkCase(
                name: "loss-5", title: "3 Mbit/s with 5 % random loss", seconds: 60, forward: [(0, 3000)],
                shares: [wide(end: 60, loss: 0.05)],
                bars: [.use(from: 10, to: 60, least: 85), .queueing(percentile: 0.95), .loss]),
            NetworkCase(
                name: "loss-20", title: "3 Mbit/s with 20 % random loss", seconds: 60, forward: [(0, 3000)],
                shares: [wide(end: 60, loss: 0.2)],
                bars: [.use(from: 10, to: 60, least: 50), .queueing(percentile: 0.95), .loss]),
            NetworkCase(
                name: "fair", title: "Three shares on 3 Mbit/s", seconds: 120, forward: [(0, 3000)],
                shares: (0..<3).map {
                    var share = wide("share \($0 + 1)", end: 120)
                    share.start = Double($0) * 5
                    return share
                },
                bars: [
                    .fairness(from: 60, to: 120, least: 0.95), .use(from: 60, to: 120), .queueing(percentile: 0.95),
                    .loss,
                ]),
            NetworkCase(
                name: "tcp", title: "A share beside one long TCP flow on 3 Mbit/s", seconds: 120,
                forward: [(0, 3000)], shares: [wide(end: 120)], downloads: [.init(start: 10, end: 120)],
                bars: [
                    .partBesideTCP(from: 30, to: 120, least: 1.0 / 3, most: 2.0 / 3), .queueing(percentile: 0.95),
                    .loss,
                ]),
            NetworkCase(
                name: "outage", title: "3 Mbit/s, of which nothing comes for 5 s", seconds: 60,
                forward: [(0, 3000), (20, 0), (25, 3000)], shares: [wide(end: 60)],
                bars: [.use(from: 25, to: 35), .use(from: 35, to: 60), .queueing(percentile: 1, from: 25), .loss]),
            NetworkCase(
                name: "outage-narrower", title: "3 Mbit/s, nothing for 5 s, then 750 kbit/s", seconds: 60,
                forward: [(0, 3000), (20, 0), (25, 750)], queue: 1000, shares: [wide(end: 60)],
                bars: [
                    .use(from: 25, to: 35), .use(from: 35, to: 60), .queueing(percentile: 0.95, from: 25),
                    .queueing(percentile: 1, from: 26), .loss,
                ]),
            pauses, unpadded, reports,
            idle("idle", "20 minutes idle, then motion", forward: [(0, 3000)]),
            idle(
                "idle-narrower", "20 minutes idle, meanwhile 750 kbit/s, then motion",
                forward: [(0, 3000), (600, 750)]),
        ]
    }

    private static var pauses: NetworkCase {
        var share = wide(end: 60)
        share.hasSound = false
        share.content = stride(from: 0.0, to: 60, by: 10).flatMap { [($0, .motion), ($0 + 5, .paused)] }
        return NetworkCase(
            name: "pauses", title: "3 Mbit/s, 5 s of each 10 s without anything to send", seconds: 60,
            forward: [(0, 3000)], shares: [share],
            bars: [.use(from: 10, to: 60), .queueing(percentile: 0.95), .queueing(percentile: 1), .loss])
    }

    private static var unpadded: NetworkCase {
        var share = wide(end: 110)
        share.hasRetransmission = false
        share.content = [(0, .motion), (20, .still), (80, .motion)]
        return NetworkCase(
            name: "no-padding", title: "Without RTX to pad with, a still minute in which 3 Mbit/s become 750 kbit/s",
            seconds: 110, forward: [(0, 3000), (50, 750)], queue: 1000, shares: [share],
            bars: [
                .use(from: 5, to: 20), .use(from: 85, to: 110), .queueing(percentile: 0.95, from: 80),
                .queueing(percentile: 1, from: 80), .loss,
            ])
    }

    private static var reports: NetworkCase {
        var share = wide(end: 60)
        share.hasTransportFeedback = false
        return NetworkCase(
            name: "reports", title: "3 Mbit/s, 50 ms, by receiver reports alone", seconds: 60, forward: [(0, 3000)],
            shares: [share],
            bars: [.rise(to: 0.9), .use(from: 5, to: 60), .queueing(percentile: 0.95), .queueing(percentile: 1), .loss])
    }

    private static func idle(_ name: String, _ title: String, forward: NetworkCase.Steps) -> NetworkCase {
        var share = wide(end: 1260)
        share.hasSound = false
        share.content = [(0, .motion), (20, .still), (1220, .motion)]
        var longest = NetworkBar.queueing(percentile: 1, from: 1219)
        longest.most = 250
        return NetworkCase(
            name: name, title: title, seconds: 1260, forward: forward, queue: 1000, shares: [share],
            bars: [longest, .use(from: 1225, to: 1255), .loss])
    }

    /// The cases of RFC 8867 §5.1 to §5.8: sources of 150 kbit/s to 1.5 Mbit/s with audio of 20 kbit/s, a queue of 300
    /// ms, and jitter with a mean of 4 ms where the RFC has no other.
    static var rfc8867: [NetworkCase] {
        let tell: [NetworkBar] = [.queueing(percentile: 0.95), .loss]
        func share(_ number: Int, _ start: Double, _ end: Double, delay: Int = 50) -> NetworkCase.Share {
            NetworkCase.Share(name: "share \(number)", start: start, end: end, delay: delay, jitter: 5)
        }
        var backward = share(2, 0, 99)
        backward.direction = .backward
        backward.name = "share 2, backward"
        var pausing = share(2, 0, 119)
        pausing.content = [(0, .motion), (40, .paused), (60, .motion)]
        return [
            NetworkCase(
                name: "5.1", title: "RFC 8867 5.1: variable capacity, one share", seconds: 100,
                forward: [(0, 1000), (40, 2500), (60, 600), (80, 1000)], shares: [share(1, 0, 99)],
                bars: [
                    .queueing(percentile: 0.95, most: 100), .use(from: 5, to: 40), .use(from: 65, to: 80), .loss,
                ]),
            NetworkCase(
                name: "5.2", title: "RFC 8867 5.2: variable capacity, two shares", seconds: 125,
                forward: [(0, 4000), (25, 2000), (50, 3500), (75, 1000), (100, 2000)],
                shares: [share(1, 0, 124), share(2, 0, 124)],
                bars: [.fairness(from: 30, to: 50), .use(from: 30, to: 50), .use(from: 80, to: 100)] + tell),
            NetworkCase(
                name: "5.3", title: "RFC 8867 5.3: congested both ways", seconds: 100,
                forward: [(0, 2000), (20, 1000), (40, 500), (60, 2000)], backward: [(0, 2000), (35, 800), (70, 2000)],
                shares: [share(1, 0, 99), backward],
                bars: [.use(from: 25, to: 40), .use(from: 45, to: 60), .use(from: 70, to: 99)] + tell),
            NetworkCase(
                name: "5.4", title: "RFC 8867 5.4: three shares, one after the other", seconds: 120,
                forward: [(0, 3500)], shares: [share(1, 0, 119), share(2, 20, 119), share(3, 40, 119)],
                bars: [.fairness(from: 60, to: 119, least: 0.95), .use(from: 60, to: 119)] + tell),
            NetworkCase(
                name: "5.5", title: "RFC 8867 5.5: five shares of different round trips", seconds: 300,
                forward: [(0, 4000)],
                shares: [10, 25, 50, 100, 150].enumerated().map {
                    share($0.offset + 1, Double($0.offset) * 10, 299, delay: $0.element)
                },
                bars: [.fairness(from: 100, to: 299), .use(from: 100, to: 299)] + tell),
            NetworkCase(
                name: "5.6", title: "RFC 8867 5.6: one share beside a long TCP flow", seconds: 120,
                forward: [(0, 2000)], shares: [share(1, 5, 119)], downloads: [.init(end: 119)],
                bars: [.partBesideTCP(from: 30, to: 119, least: 1.0 / 3, most: 2.0 / 3)] + tell),
            NetworkCase(
                name: "5.7", title: "RFC 8867 5.7: two shares beside short TCP flows", seconds: 300,
                forward: [(0, 2000)], shares: [share(1, 5, 299), share(2, 5, 299)],
                downloads: (0..<10).map {
                    .init(
                        name: "TCP \($0 + 1)", end: 299,
                        kind: .files(
                            byteCounts: 30_000...50_000, meanPause: .seconds(10), beginsWithFile: $0 < 2))
                },
                bars: [
                    .leastRate(from: 15, to: 299, least: 150), .fairness(from: 60, to: 299), .use(from: 60, to: 299),
                ] + tell),
            NetworkCase(
                name: "5.8", title: "RFC 8867 5.8: one of three shares pauses", seconds: 120, forward: [(0, 3500)],
                shares: [share(1, 0, 119), pausing, share(3, 0, 119)],
                bars: [.fairness(from: 80, to: 119, least: 0.95), .use(from: 45, to: 60), .use(from: 80, to: 119)]
                    + tell),
        ]
    }
}

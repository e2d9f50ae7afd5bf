internal import RTCShareNetworkSimulation

/// A measurement of a run, with its required limits, if there are any.
struct NetworkBar {
    /// The name of the measurement.
    let name: String
    let unit: String
    /// The required limits; nil for a measurement without a requirement.
    var least: Double?
    var most: Double?
    /// The number of decimals.
    var decimals = 0
    /// The measurement; nil if the run does not have it, because it was too short or the event did not occur.
    let measure: (NetworkRecord) -> Double?

    /// Returns the requirement in words.
    func requirement() -> String {
        func number(_ value: Double) -> String { "\(rounded(value)) \(unit)" }
        return switch (least, most) {
        case (let least?, let most?): "\(rounded(least))…\(number(most))"
        case (let least?, nil): "≥ \(number(least))"
        case (nil, let most?): "≤ \(number(most))"
        case (nil, nil): "–"
        }
    }

    /// The largest insignificant difference: three of the last decimal.
    var lastDigits: Double { [3, 0.3, 0.03, 0.003][decimals] }

    func rounded(_ value: Double) -> String {
        let scale = [1.0, 10, 100, 1000][decimals]
        let scaled = (value * scale).rounded() / scale
        return decimals == 0 ? "\(Int(scaled))" : "\(scaled)"
    }

    /// Returns whether a value meets the requirement; nil without a requirement.
    func passes(_ value: Double?) -> Bool? {
        guard least != nil || most != nil else { return nil }
        guard let value else { return false }
        return value >= least ?? value && value <= most ?? value
    }
}

extension NetworkBar {
    /// Returns the bar for a percentile of the wait at the bottleneck, over all packets of the shares.
    static func queueing(percentile: Double, most: Double? = nil, from start: Double = 0) -> NetworkBar {
        let name =
            percentile == 1 ? "longest wait in the queue" : "queueing delay, \(Int(percentile * 100))th percentile"
        return NetworkBar(name: name, unit: "ms", most: most) { record in
            record.shares.flatMap { $0.waits(from: start, to: record.seconds) }.percentile(percentile)
        }
    }

    /// Returns the bar for the received bytes of the shares, relative to the capacity.
    static func use(from start: Double, to end: Double, least: Double? = nil) -> NetworkBar {
        NetworkBar(name: "use of the capacity, \(Int(start)) to \(Int(end)) s", unit: "%", least: least) { record in
            guard record.seconds >= end else { return nil }
            let bytes = record.shares.filter { $0.direction == .forward }.map { $0.delivered(from: start, to: end) }
            return 100 * bytes.reduce(0, +) / record.capacity(from: start, to: end)
        }
    }

    /// Returns the bar for the time, since the first datagram, at which the received rate has first been at this share
    /// of the capacity for half a second.
    static func rise(to share: Double, most: Double? = nil) -> NetworkBar {
        NetworkBar(name: "\(Int(share * 100)) % of the capacity reached after", unit: "s", most: most, decimals: 1) {
            $0.rise(to: share)
        }
    }

    /// Returns the bar for the time after a fall of the capacity until a packet finds the queue empty again.
    static func drain(after fall: Double, most: Double) -> NetworkBar {
        NetworkBar(name: "queue empty again after the fall", unit: "s", most: most, decimals: 2) { record in
            let samples = record.shares.flatMap { $0.packets(from: fall, to: fall + 10) }.sorted { $0.time < $1.time }
            guard let peak = samples.filter({ $0.time < fall + 5 }).max(by: { $0.wait < $1.wait }) else { return nil }
            return samples.first { $0.time > peak.time && $0.wait < 1 }.map { $0.time - fall }
        }
    }

    /// Returns the bar for the fairness between the shares.
    static func fairness(from start: Double, to end: Double, least: Double? = nil) -> NetworkBar {
        NetworkBar(
            name: "Jain's fairness, \(Int(start)) to \(Int(end)) s", unit: "", least: least, decimals: 3
        ) { record in
            record.seconds >= end ? jainIndex(record.shares.map { $0.delivered(from: start, to: end) }) : nil
        }
    }

    /// Returns the bar for the shares' part of all received bytes.
    static func partBesideTCP(from start: Double, to end: Double, least: Double?, most: Double?) -> NetworkBar {
        NetworkBar(
            name: "part beside TCP, \(Int(start)) to \(Int(end)) s", unit: "", least: least, most: most, decimals: 2
        ) { record in
            guard record.seconds >= end else { return nil }
            let share = record.shares.map { $0.delivered(from: start, to: end) }.reduce(0, +)
            let other = record.downloads.map { $0.delivered(from: start, to: end) }.reduce(0, +)
            return share + other > 0 ? share / (share + other) : nil
        }
    }

    /// Returns the bar for the lowest rate of any share over five seconds.
    static func leastRate(from start: Double, to end: Double, least: Double?) -> NetworkBar {
        NetworkBar(name: "lowest rate over 5 s", unit: "kbit/s", least: least) { record in
            guard record.seconds >= end else { return nil }
            return record.shares.flatMap { share in
                stride(from: start, through: end - 5, by: 1).map { share.delivered(from: $0, to: $0 + 5) * 8 / 5000 }
            }.min()
        }
    }

    /// The bar for the lost packets, relative to all packets of the shares.
    static var loss: NetworkBar {
        NetworkBar(name: "packets lost", unit: "%", decimals: 1) { record in
            let sent = record.shares.map(\.packetsSent).reduce(0, +)
            return sent > 0 ? 100 * Double(record.shares.map(\.packetsLost).reduce(0, +)) / Double(sent) : nil
        }
    }

    /// Returns the bar for the time until a still frame has arrived in full quality, permanently.
    static func sharpness(share: Int) -> NetworkBar {
        NetworkBar(name: "share \(share + 1) sharp for good after", unit: "s", most: 10, decimals: 1) { record in
            record.shares[share].sharpness.last.flatMap { last in
                last.isSharp ? last.time - record.shares[share].start : nil
            }
        }
    }
}

internal import RTCShareNetworkSimulation

extension NetworkRecord {
    private static var colors: [String] { ["#0057b8", "#d1410c", "#2a8a3a", "#8a2fb5", "#b58900"] }
    /// The maximum number of points of a curve.
    private static var resolution: Int { 600 }

    /// Returns a chart of the capacity, the estimate, and the sent and received rates.
    func chart(title: String) -> Chart {
        let colored = zip(shares, shares.indices.map { Self.colors[$0 % Self.colors.count] })
        var rates = [
            Chart.Series(
                name: shares.contains { $0.direction == .backward } ? "capacity, forward" : "capacity", color: "#000",
                width: 2, isStepped: true, points: steps(forwardCapacity))
        ]
        if shares.contains(where: { $0.direction == .backward }) {
            rates.append(
                .init(
                    name: "capacity, backward", color: "#777", width: 2, isStepped: true,
                    points: steps(backwardCapacity)))
        }
        for (flow, color) in colored {
            rates.append(.init(name: "\(flow.name): sent", color: color, points: rate(flow.sent)))
            rates.append(
                .init(
                    name: "\(flow.name): estimate", color: color, dashes: "5 3", width: 1.2,
                    points: sampled(flow.estimate)))
        }
        if !downloads.isEmpty {
            let sum = downloads.dropFirst().reduce(downloads[0].sent) { zip($0, $1.sent).map(+) }
            rates.append(
                .init(
                    name: downloads.count == 1 ? "TCP: sent" : "TCP, all: sent", color: "#999", points: rate(sum)))
        }
        return Chart(
            title: title, length: seconds,
            panels: [
                .init(title: "Rates on the wire", unit: "kbit/s", height: 280, series: rates),
                .init(
                    title: "Queueing delay at the bottleneck, the longest of each moment", unit: "ms", height: 140,
                    series: colored.map {
                        .init(name: $0.name, color: $1, width: 1.2, points: greatest($0.longestWait))
                    }, least: 100),
                .init(
                    title: "Packets lost, of those sent", unit: "%", height: 90,
                    series: colored.map {
                        .init(name: $0.name, color: $1, width: 1.2, points: loss($0))
                    }, least: 5),
            ])
    }

    /// Returns the rows of each point; a rate needs at least those of a second.
    private func buckets(atLeast rows: Int) -> [Range<Int>] {
        let count = forwardCapacity.count
        let size = max(rows, (count + Self.resolution - 1) / Self.resolution)
        return stride(from: 0, to: count, by: size).map { $0..<min(count, $0 + size) }
    }

    private func middle(_ rows: Range<Int>) -> Double { Double(rows.lowerBound + rows.upperBound) / 2 * Self.step }

    private func steps(_ kilobits: [Double]) -> [(time: Double, value: Double?)] {
        let changes = kilobits.indices.filter { $0 == 0 || kilobits[$0] != kilobits[$0 - 1] }
        return changes.map { (Double($0) * Self.step, kilobits[$0]) } + [(seconds, kilobits.last)]
    }

    private func rate(_ bytes: [Double]) -> [(time: Double, value: Double?)] {
        buckets(atLeast: 5).map { (middle($0), bytes[$0].reduce(0, +) / 125 / (Double($0.count) * Self.step)) }
    }

    private func sampled(_ values: [Double?]) -> [(time: Double, value: Double?)] {
        buckets(atLeast: 1).map { (Double($0.upperBound) * Self.step, values[$0.upperBound - 1]) }
    }

    private func greatest(_ values: [Double]) -> [(time: Double, value: Double?)] {
        buckets(atLeast: 1).map { (middle($0), values[$0].max()) }
    }

    private func loss(_ flow: Flow) -> [(time: Double, value: Double?)] {
        buckets(atLeast: 10).map { rows in
            let sent = flow.packets[rows].reduce(0, +)
            return (middle(rows), sent > 0 ? 100 * flow.lost[rows].reduce(0, +) / sent : nil)
        }
    }
}

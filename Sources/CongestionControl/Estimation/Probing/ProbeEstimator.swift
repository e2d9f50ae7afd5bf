package import RTCShareWireFormat

/// Measures the rate that a path carries, from the spread of a cluster of probe packets at arrival.
///
/// Source: libwebrtc, `goog_cc/probe_bitrate_estimator`. Deviations: only the newest 16 clusters are stored.
package struct ProbeEstimator: Sendable {
    fileprivate struct Measurement: Sendable {
        let identifier: Int
        var packets = 0
        var bytes = 0
        var firstSent: Instant
        var lastSent: Instant
        var lastSentBytes: Int
        var firstArrival: Duration
        var lastArrival: Duration
        var firstArrivalBytes: Int
    }

    /// The fraction of a cluster's packets and bytes that must arrive.
    package static let minimumShare = 0.8
    /// The ratio of arrival rate to sending rate above which a cluster measures nothing.
    package static let largestRatio = 2.0
    /// The ratio of arrival rate to sending rate below which a cluster has filled the path.
    package static let saturationRatio = 0.9
    /// The fraction of a full path's rate that is used.
    package static let utilization = 0.95
    private static let longestInterval = Duration.seconds(1)
    private static let history = Duration.seconds(1)
    private static let capacity = 16

    private var measurements: [Measurement] = []
    private var newest: DataRate?

    /// Creates an estimator without probes.
    package init() {}

    /// Returns the newest result since the last call; nil if there is none.
    package mutating func takeEstimate() -> DataRate? {
        defer { newest = nil }
        return newest
    }

    /// Records a packet of a cluster that arrived at `arrival` on the receiver's clock.
    ///
    /// - Returns: The rate that the cluster has measured so far; nil if too little of it arrived or its times are not
    ///   plausible.
    @discardableResult
    package mutating func receive(sent: Instant, arrival: Duration, size: Int, of cluster: ProbeCluster) -> DataRate? {
        measurements.removeAll { $0.lastArrival + Self.history < arrival }
        let index = index(of: cluster.identifier, sent: sent, arrival: arrival, size: size)
        measurements[index].add(sent: sent, arrival: arrival, size: size)
        let measurement = measurements[index]
        guard measurement.packets >= Int(Double(cluster.minimumPackets) * Self.minimumShare),
            Double(measurement.bytes) >= Double(cluster.minimumBytes) * Self.minimumShare,
            let rate = Self.rate(of: measurement)
        else { return nil }
        newest = rate
        return rate
    }

    private mutating func index(of identifier: Int, sent: Instant, arrival: Duration, size: Int) -> Int {
        if let index = measurements.firstIndex(where: { $0.identifier == identifier }) { return index }
        if measurements.count == Self.capacity { measurements.removeFirst() }
        measurements.append(
            Measurement(
                identifier: identifier, firstSent: sent, lastSent: sent, lastSentBytes: size, firstArrival: arrival,
                lastArrival: arrival, firstArrivalBytes: size))
        return measurements.count - 1
    }

    private static func rate(of measurement: Measurement) -> DataRate? {
        let sendTime = measurement.lastSent - measurement.firstSent
        let arrivalTime = measurement.lastArrival - measurement.firstArrival
        guard sendTime > .zero, sendTime <= longestInterval, arrivalTime > .zero, arrivalTime <= longestInterval else {
            return nil
        }
        // The times exclude the sending of the last packet and the arrival of the first.
        let sendRate = DataRate(byteCount: measurement.bytes - measurement.lastSentBytes, over: sendTime)
        let arrivalRate = DataRate(byteCount: measurement.bytes - measurement.firstArrivalBytes, over: arrivalTime)
        guard arrivalRate <= sendRate * largestRatio else { return nil }
        return arrivalRate < sendRate * saturationRatio ? arrivalRate * utilization : min(sendRate, arrivalRate)
    }
}

extension ProbeEstimator.Measurement {
    fileprivate mutating func add(sent: Instant, arrival: Duration, size: Int) {
        firstSent = min(firstSent, sent)
        if sent > lastSent {
            lastSent = sent
            lastSentBytes = size
        }
        if arrival < firstArrival {
            firstArrival = arrival
            firstArrivalBytes = size
        }
        lastArrival = max(lastArrival, arrival)
        bytes += size
        packets += 1
    }
}

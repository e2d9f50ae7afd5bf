package import RTCShareWireFormat

/// The highest rate at which data arrived, over windows of half a second.
///
/// The rate is a lower bound of what the route carries: a share sends no more than its picture and its probes need.
/// Windows that are much shorter would show more, since data that waited arrives at once: after a pause of this
/// program, behind a router with a bucket of tokens, or after a lost packet of TCP. A bucket of 16 kilobytes adds
/// at most 256 kbit/s to this rate.
package struct ArrivalRate: Sendable {
    private var samples: [(bytes: UInt64, time: Instant)] = []

    /// The highest rate; nil before the first whole window.
    package private(set) var highest: DataRate?

    private static let window = Duration.milliseconds(500)

    package init() {}

    /// Adds the number of bytes that had arrived at a time.
    package mutating func add(bytes: UInt64, at time: Instant) {
        samples.append((bytes, time))
        // The newest sample that is old enough begins the window.
        guard let start = samples.lastIndex(where: { time - $0.time >= Self.window }) else { return }
        samples.removeFirst(start)
        let arrived = bytes.subtractingReportingOverflow(samples[0].bytes)
        guard !arrived.overflow, let count = Int(exactly: arrived.partialValue) else { return }
        let rate = DataRate(byteCount: count, over: time - samples[0].time)
        highest = max(highest ?? rate, rate)
    }
}

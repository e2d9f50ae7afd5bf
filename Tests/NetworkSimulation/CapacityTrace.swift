package import RTCShareWireFormat

/// The capacity of a bottleneck over time: each step sets a rate, the first one for all earlier time.
package struct CapacityTrace: Hashable, Sendable {
    /// A rate and the time at which it begins.
    package struct Step: Hashable, Sendable {
        /// The beginning of the rate.
        package let start: Instant
        /// The rate.
        package let rate: DataRate

        /// Creates a rate from `start` on.
        package init(from start: Instant, rate: DataRate) {
            self.start = start
            self.rate = rate
        }
    }

    /// The steps, sorted by their start; never empty.
    package let steps: [Step]

    /// Creates a constant rate.
    package init(constant rate: DataRate) {
        steps = [Step(from: Instant(nanoseconds: .min), rate: rate)]
    }

    /// Creates a rate until the first of `steps`, which may be in any order.
    package init(initially rate: DataRate, steps: [Step]) {
        self.steps =
            [Step(from: Instant(nanoseconds: .min), rate: rate)] + steps.sorted { $0.start < $1.start }
    }

    /// Returns the rate at a time.
    package func rate(at instant: Instant) -> DataRate { steps[index(at: instant)].rate }

    /// Returns the time at which the last of `byteCount` bytes has passed that begin to pass at `start`. At a rate of
    /// zero they wait; after the last step, a rate of zero counts as one bit per second.
    package func departure(ofBytes byteCount: Int, from start: Instant) -> Instant {
        var (index, now) = (index(at: start), start)
        var bits = Double(byteCount) * 8
        while index + 1 < steps.count {
            let end = steps[index + 1].start
            let room = Double(steps[index].rate.bitsPerSecond) * (end - now).seconds
            if bits <= room { break }
            bits -= room
            now = end
            index += 1
        }
        let rate = Double(max(1, steps[index].rate.bitsPerSecond))
        return now.advanced(by: .nanoseconds(Int64(bits * 1e9 / rate)))
    }

    /// Returns the maximum number of bytes that pass between two times; the start may not be the beginning of time.
    package func byteCount(from start: Instant, to end: Instant) -> Double {
        var (index, now, bits) = (index(at: start), start, 0.0)
        while now < end {
            let next = index + 1 < steps.count ? min(end, steps[index + 1].start) : end
            bits += Double(steps[index].rate.bitsPerSecond) * (next - now).seconds
            now = next
            index += 1
        }
        return bits / 8
    }

    private func index(at instant: Instant) -> Int {
        (steps.firstIndex { $0.start > instant } ?? steps.count) - 1
    }
}

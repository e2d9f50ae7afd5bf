package import RTCShareWireFormat

/// What a bottleneck carries over time: a rate from each step on, the first of them from the beginning of time.
package struct CapacityTrace: Hashable, Sendable {
    /// A rate and when it begins.
    package struct Step: Hashable, Sendable {
        /// When the rate begins.
        package let start: Instant
        /// The rate.
        package let rate: DataRate

        /// A rate from `start` on.
        package init(from start: Instant, rate: DataRate) {
            self.start = start
            self.rate = rate
        }
    }

    /// The steps by their start; never empty.
    package let steps: [Step]

    /// One rate for all time.
    package init(constant rate: DataRate) {
        steps = [Step(from: Instant(nanoseconds: .min), rate: rate)]
    }

    /// A rate until the first of `steps`, which may be in any order.
    package init(initially rate: DataRate, steps: [Step]) {
        self.steps =
            [Step(from: Instant(nanoseconds: .min), rate: rate)] + steps.sorted { $0.start < $1.start }
    }

    /// The rate at an instant.
    package func rate(at instant: Instant) -> DataRate { steps[index(at: instant)].rate }

    /// When the last bit of `byteCount` bytes has passed that begin to pass at `start`. While nothing passes it waits;
    /// past the last step a rate of zero counts as one bit a second.
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

    /// The bytes that pass between two instants, at the most; the start may not be the beginning of time.
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

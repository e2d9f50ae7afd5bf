package import RTCShareWireFormat

/// The target bitrate of one media and the state of the path, for its encoder.
package struct BitrateTarget: Sendable, Hashable {
    /// The target of the encoder's output, without packet headers; zero if nothing should be sent.
    package var bitrate: DataRate
    /// Whether the send queue is full, so that the encoder should drop whole frames until this is false. It is always
    /// false for audio, which never waits.
    package var isQueueFull: Bool
    /// The round-trip time; nil if unknown.
    package var roundTripTime: Duration?
    /// The fraction of this media's packets that were lost recently, 0...1.
    package var fractionLost: Double
    /// The rate at which a large frame is sent; zero if unknown.
    package var pacingRate: DataRate

    /// Creates a target for a path without delay and loss.
    package init(
        bitrate: DataRate, isQueueFull: Bool = false, roundTripTime: Duration? = nil, fractionLost: Double = 0,
        pacingRate: DataRate = .zero
    ) {
        self.bitrate = bitrate
        self.isQueueFull = isQueueFull
        self.roundTripTime = roundTripTime
        self.fractionLost = fractionLost
        self.pacingRate = pacingRate
    }

    /// Whether the delay differs by a fifth and 10 ms, the loss by 0.02, or the pacing rate by a fifth.
    func isPathNotablyOther(than other: BitrateTarget) -> Bool {
        let rates = (Double(pacingRate.bitsPerSecond), Double(other.pacingRate.bitsPerSecond))
        if abs(rates.0 - rates.1) * 5 > max(rates.0, rates.1) { return true }
        if abs(fractionLost - other.fractionLost) >= 0.02 { return true }
        guard let roundTripTime, let before = other.roundTripTime else {
            return roundTripTime != nil && other.roundTripTime == nil
        }
        let difference = max(roundTripTime, before) - min(roundTripTime, before)
        return difference >= .milliseconds(10) && difference * 5 >= before
    }
}

/// The bitrates that one media's encoder can use, for the allocation.
package struct BitrateDemand: Sendable, Hashable {
    /// The minimum useful bitrate. Audio and the video of the highest priority get it even if the path has less. Other
    /// video is paused.
    package var minimum: DataRate
    /// The maximum useful bitrate.
    package var maximum: DataRate
    /// The priority among video, or among audio. Audio comes before all video.
    package var priority: BitratePriority
    /// Whether the encoder has failed. It can be retried.
    package let hasFailed: Bool

    package init(minimum: DataRate, maximum: DataRate, priority: BitratePriority, hasFailed: Bool = false) {
        self.minimum = minimum
        self.maximum = maximum
        self.priority = priority
        self.hasFailed = hasFailed
    }

    /// No demand, for a paused media.
    package static let zero = BitrateDemand(minimum: .zero, maximum: .zero, priority: .low)
    /// No demand, because no encoder could be made.
    package static let failed = BitrateDemand(minimum: .zero, maximum: .zero, priority: .low, hasFailed: true)
}

/// The priority if the path has less bitrate than all media can use, with the names of `RTCPriorityType` (W3C
/// webrtc-priority).
package enum BitratePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// The default priority of a camera.
    case low
    /// The priority of shared content.
    case medium
    /// The highest priority.
    case high

    /// Whether `left` is the lower priority.
    package static func < (left: BitratePriority, right: BitratePriority) -> Bool { left.rawValue < right.rawValue }
}

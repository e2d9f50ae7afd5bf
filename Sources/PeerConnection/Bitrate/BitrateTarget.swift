package import RTCShareWireFormat

/// What one media may send now, and how the path is: for its encoder.
package struct BitrateTarget: Sendable, Hashable {
    /// What the encoder may produce, without the headers that are put in front of it; zero: nothing is to be sent.
    package var bitrate: DataRate
    /// More waits to be sent than leaves in good time: whole frames are to be dropped before they are encoded, until this
    /// is told to be over. Of sound, which never waits, always false.
    package var isQueueFull: Bool
    /// How long to the peer and back; nil where not known.
    package var roundTripTime: Duration?
    /// The share of this media's packets that were lost on the way lately, 0...1.
    package var fractionLost: Double
    /// How fast a large picture leaves; zero where that is not known.
    package var pacingRate: DataRate

    /// A target of a path without delay and loss.
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

    /// Whether the delay differs by a fifth and 10 ms, the loss by a fiftieth, or the pacing rate by a fifth.
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

/// What one media's encoder could use, for the path's rate to be divided by.
package struct BitrateDemand: Sendable, Hashable {
    /// Below this it is not worth sending. It is given to sound and to the pictures that go first even where the path
    /// has less; other pictures are paused.
    package var minimum: DataRate
    /// More than this is not used.
    package var maximum: DataRate
    /// Which pictures go first, and which sound. Sound goes before all pictures.
    package var priority: BitratePriority

    /// A demand between two rates.
    package init(minimum: DataRate, maximum: DataRate, priority: BitratePriority) {
        self.minimum = minimum
        self.maximum = maximum
        self.priority = priority
    }

    /// Nothing, as of a media that is paused.
    package static let zero = BitrateDemand(minimum: .zero, maximum: .zero, priority: .low)
}

/// Who goes first where the path has less than all would use; the names are those of `RTCPriorityType` (W3C
/// webrtc-priority).
package enum BitratePriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Whoever shares something, as a picture of a camera: what a camera has by default.
    case low
    /// What is shared.
    case medium
    /// Before all others.
    case high

    /// Whether `left` goes after `right`.
    package static func < (left: BitratePriority, right: BitratePriority) -> Bool { left.rawValue < right.rawValue }
}

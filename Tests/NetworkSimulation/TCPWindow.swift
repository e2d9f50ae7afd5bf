internal import Glibc
internal import RTCShareWireFormat

/// The congestion control of a TCP connection.
package enum TCPCongestionControl: String, Hashable, Sendable, CaseIterable {
    /// RFC 5681: one segment more per round trip, half of them after a loss.
    case newReno
    /// RFC 9438, the default of most systems.
    case cubic
}

/// A congestion window in segments.
struct TCPWindow: Sendable {
    /// RFC 6928.
    static let initial = 10.0
    private static let least = 2.0
    /// RFC 9438 §5.
    private static let cubicScale = 0.4
    private static let cubicFactor = 0.7

    private(set) var window = Self.initial
    private(set) var threshold = Double.infinity
    private let control: TCPCongestionControl
    private var largest = 0.0
    private var epoch: Instant?
    /// The seconds from the epoch until the window is as large as before the loss.
    private var plateau = 0.0
    private var renoWindow = 0.0

    init(_ control: TCPCongestionControl) {
        self.control = control
    }

    /// Grows the window after more segments were acknowledged.
    mutating func grow(by segments: Int, roundTrip: Duration, now: Instant) {
        var segments = Double(segments)
        if window < threshold {
            let step = min(segments, threshold - window)
            window += step
            segments -= step
        }
        guard segments > 0 else { return }
        switch control {
        case .newReno: window += segments / window
        case .cubic: growCubic(by: segments, roundTrip: roundTrip, now: now)
        }
    }

    /// Grows the window by RFC 9438 §4.2 to §4.5.
    private mutating func growCubic(by segments: Double, roundTrip: Duration, now: Instant) {
        if epoch == nil {
            epoch = now
            plateau = window < largest ? cbrt((largest - window) / Self.cubicScale) : 0
            largest = max(largest, window)
            renoWindow = window
        }
        let time = (now - (epoch ?? now)).seconds + roundTrip.seconds
        let aim = Self.cubicScale * pow(time - plateau, 3) + largest
        window += segments * (min(max(aim, window), 1.5 * window) - window) / window
        let slope = renoWindow < largest ? 3 * (1 - Self.cubicFactor) / (1 + Self.cubicFactor) : 1
        renoWindow += slope * segments / window
        window = max(window, renoWindow)
    }

    /// Reduces the window after acknowledgments revealed a loss.
    mutating func reduce() {
        switch control {
        case .newReno: window = max(Self.least, window / 2)
        case .cubic:
            largest = window < largest ? window * (1 + Self.cubicFactor) / 2 : window
            window = max(Self.least, window * Self.cubicFactor)
        }
        threshold = window
        epoch = nil
    }

    /// Restarts slow start from one segment after a retransmission timeout (RFC 5681 §3.1).
    mutating func collapse() {
        reduce()
        window = 1
    }
}

internal import Glibc
internal import RTCShareLocks
internal import RTCShareMedia

/// Reports the peak level of a source ten times a second, if it changed by a decibel.
final class PeakMeter: AudioSink {
    fileprivate struct State {
        /// The time at which the current interval began; nil before the first block.
        var start: Duration?
        var peak: Float = 0
        /// The level that was reported last.
        var reported: Double?
    }

    private let send: @Sendable (Double) -> Void
    private let state = Locked(State())

    /// The lowest level, in decibels below full scale; silence is reported as this.
    static let floor = -60.0
    private static let interval = Duration.milliseconds(100)

    /// Creates a meter that passes levels to `send`, in decibels relative to full scale.
    init(_ send: @escaping @Sendable (_ level: Double) -> Void) {
        self.send = send
    }

    func receive(_ frame: AudioFrame) {
        let level: Double? = state.withLock { state in
            for sample in frame.samples where abs(sample) > state.peak { state.peak = abs(sample) }
            let end = frame.timestamp + frame.duration
            let start = state.start ?? frame.timestamp
            // The source's clock may have been set back.
            guard end - start >= Self.interval || end < start else {
                state.start = start
                return nil
            }
            let level = Self.level(of: state.peak)
            (state.start, state.peak) = (end, 0)
            return state.report(level)
        }
        if let level { send(level) }
    }

    func muteDidChange(_ isMuted: Bool) {
        guard isMuted, let level = state.withLock({ $0.report(Self.floor) }) else { return }
        send(level)
    }

    private static func level(of peak: Float) -> Double {
        guard peak > 0, peak.isFinite else { return peak > 0 ? 0 : floor }
        return max((20 * log10(Double(peak)) * 10).rounded() / 10, floor)
    }
}

extension PeakMeter.State {
    /// Returns the level if it must be reported.
    fileprivate mutating func report(_ level: Double) -> Double? {
        if let reported, abs(level - reported) < 1 { return nil }
        reported = level
        return level
    }
}

internal import RTCShareWireFormat

/// Gathers what asks for a key frame, so that one answers all who wait: PLI, FIR, and a first frame that can't be
/// decoded.
///
/// Receivers repeat a request while a key frame is under way, and each key frame costs as much as many other frames. A
/// request within ``interval`` of the one before is kept, not lost (a repeated FIR is no new one): it is passed on when
/// the interval is over, unless a key frame was sent since.
struct KeyFrameRequests: Sendable {
    /// The shortest time between two requests that are passed on.
    static var interval: Duration { .milliseconds(300) }

    private var latest: Instant?
    private var isWaiting = false

    /// Somebody needs a key frame.
    mutating func request() {
        isWaiting = true
    }

    /// A key frame was given to the sender: it answers all who asked before.
    mutating func keyFrameWasSent() {
        isWaiting = false
    }

    /// When a request that waits is to be passed on.
    var deadline: Instant? {
        guard isWaiting else { return nil }
        return latest?.advanced(by: Self.interval) ?? Instant(nanoseconds: 0)
    }

    /// Whether the encoder is to be asked now.
    mutating func poll(now: Instant) -> Bool {
        guard let deadline, deadline <= now else { return false }
        isWaiting = false
        latest = now
        return true
    }
}

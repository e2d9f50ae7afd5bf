internal import RTCShareWireFormat

/// The share that a path loses whatever the rate is: the least that was lost lately, at times when no packets waited.
///
/// A queue that overflows is full, and what is lost by sending too much is lost no more once less is sent; what a bad
/// radio link loses stays. Source: none in libwebrtc; the minimum over a time is that of RFC 6817's base delay.
struct BackgroundLoss: Sendable {
    private static let periods = 3
    private static let period = Duration.seconds(10)
    /// More than this is never taken for the path's own.
    static let most = 0.25
    /// The least of many samples is below their mean.
    private static let correction = 1.3

    private var samples: [(begin: Instant, loss: Double)] = []

    /// The share, 0...0.25.
    var share: Double { min(Self.most, (samples.map(\.loss).min() ?? 0) * Self.correction) }

    /// Takes the loss of a moment at which no queue was seen.
    mutating func receive(_ loss: Double, now: Instant) {
        if let last = samples.indices.last, now - samples[last].begin < Self.period {
            samples[last].loss = min(samples[last].loss, loss)
        } else {
            samples.append((now, loss))
        }
        expire(now: now)
    }

    /// Forgets what is too long ago.
    mutating func expire(now: Instant) {
        samples.removeAll { now - $0.begin > Self.period * Self.periods }
    }
}

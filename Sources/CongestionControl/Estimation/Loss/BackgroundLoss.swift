internal import RTCShareWireFormat

/// The fraction that a path loses whatever the rate is: the minimum recent loss at times without a queue.
///
/// Loss by a full queue stops when the rate decreases, but the loss of a bad radio link stays. Source: none in
/// libwebrtc. The minimum over a time is similar to RFC 6817's base delay.
struct BackgroundLoss: Sendable {
    private static let periods = 3
    private static let period = Duration.seconds(10)
    /// The maximum loss that counts as the path's own.
    static let most = 0.25
    /// The factor that corrects for the minimum of many samples, which is below their mean.
    private static let correction = 1.3

    private var samples: [(begin: Instant, loss: Double)] = []

    /// The fraction, 0...0.25.
    var share: Double { min(Self.most, (samples.map(\.loss).min() ?? 0) * Self.correction) }

    /// Adds the loss at a time without a queue.
    mutating func receive(_ loss: Double, now: Instant) {
        if let last = samples.indices.last, now - samples[last].begin < Self.period {
            samples[last].loss = min(samples[last].loss, loss)
        } else {
            samples.append((now, loss))
        }
        expire(now: now)
    }

    /// Removes old samples.
    mutating func expire(now: Instant) {
        samples.removeAll { now - $0.begin > Self.period * Self.periods }
    }
}

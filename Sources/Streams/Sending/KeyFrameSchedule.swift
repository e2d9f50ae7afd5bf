internal import RTCShareWireFormat

/// When key frames are made: the one place that spaces them, for all encodings of a picture. In virtual time.
///
/// A key frame is paid for by everybody who is sent its encoding. One that is asked for is made at once, but not before both
/// of these have passed:
///
/// - Since the encoding's last one, 300 ms, and so long that key frames get half of the bits: twice the time that the last
///   one takes at the encoding's rate of now, up to 3 s. After a blurred one that followed another, twice what was waited
///   before: each has the picture sharpened anew.
/// - Where others are sent the encoding too, what the one who asks has to wait: for its first request nothing, then 300 ms,
///   and each time twice as long, up to 10 s. Half is forgotten in each ten seconds without a request. Who is taken up
///   again, having been left out or moved, did not ask and sees nothing until then: that is counted apart, up to 2 s.
///
/// A key frame answers everybody who waits for one, whoever asked. The encoder spaces none: it makes one as soon as it is
/// told and the bits of what it made before are paid for.
struct KeyFrameSchedule {
    /// What a sender needs a key frame for.
    enum Need {
        /// Its peer asked for it, or it begins.
        case request
        /// It was left out while its queue was full, or is sent another encoding.
        case rejoining
    }

    private var encodings: [Int: EncodingInterval] = [:]

    /// When a key frame of an encoding, which is made at `rate`, is made for a sender with these requests that needs it now.
    /// `isShared`: others are sent the encoding too.
    func time(
        of encoding: Int, at rate: DataRate, for requests: inout KeyFrameRequestIntervals, _ need: Need, isShared: Bool,
        now: Duration
    ) -> Duration {
        let earliest = max(now, earliest(of: encoding, at: rate))
        guard isShared else { return earliest }
        return switch need {
        case .request: max(earliest, requests.requests.request(now: now))
        case .rejoining: max(earliest, requests.rejoinings.request(now: now))
        }
    }

    /// When the key frame that a sender with these requests awaits is made, now that the encoding's rate is this.
    func time(of encoding: Int, at rate: DataRate, awaitedBy requests: KeyFrameRequestIntervals) -> Duration {
        let answers = [requests.requests.answerTime, requests.rejoinings.answerTime].compactMap { $0 }
        return answers.reduce(earliest(of: encoding, at: rate), max)
    }

    /// When the next key frame of an encoding may be made, whoever needs it.
    func earliest(of encoding: Int, at rate: DataRate) -> Duration { encodings[encoding]?.earliest(at: rate) ?? .zero }

    /// A key frame of an encoding was made, at its rate.
    mutating func made(of encoding: Int, byteCount: Int, at rate: DataRate, isBlurred: Bool, now: Duration) {
        encodings[encoding, default: EncodingInterval()]
            .made(byteCount: byteCount, at: rate, isBlurred: isBlurred, now: now)
    }

    /// Nobody is sent an encoding any more.
    mutating func end(_ encoding: Int) { encodings[encoding] = nil }
}

/// When a sender's needs for key frames are answered.
struct KeyFrameRequestIntervals {
    fileprivate var requests = RequestInterval(longest: .seconds(10))
    fileprivate var rejoinings = RequestInterval(longest: .seconds(2))
}

/// The shortest time between any two key frames of an encoding, and between the first two that one sender asks for: lost
/// reports ask for one after the other.
private let shortestInterval = Duration.milliseconds(300)

/// The time between two key frames of an encoding.
private struct EncodingInterval {
    private static let longest = Duration.seconds(3)
    /// How long one that follows a blurred one is taken for its repetition.
    private static let repetitionTime = longest * 2

    private var last: (time: Duration, byteCount: Int)?
    /// The least that is waited after the last one.
    private var least = shortestInterval
    /// When the last one was made, where that was a blurred one.
    private var lastBlurred: Duration?

    func earliest(at rate: DataRate) -> Duration { last.map { $0.time + interval(at: rate) } ?? .zero }

    private func interval(at rate: DataRate) -> Duration {
        guard let last, rate > .zero else { return least }
        return max(least, min(rate.duration(ofBytes: last.byteCount) * 2, Self.longest))
    }

    mutating func made(byteCount: Int, at rate: DataRate, isBlurred: Bool, now: Duration) {
        let isRepeated = isBlurred && lastBlurred.map { now < $0 + Self.repetitionTime } ?? false
        least = isRepeated ? min(interval(at: rate) * 2, Self.longest) : shortestInterval
        last = (now, byteCount)
        lastBlurred = isBlurred ? now : nil
    }
}

/// The time between two requests of one sender that are answered.
private struct RequestInterval {
    let longest: Duration
    /// Half of the interval is forgotten in each such time without a request.
    private static let forgettingTime = Duration.seconds(10)

    private var interval = shortestInterval
    /// When the newest request is answered, or was.
    private(set) var answerTime: Duration?

    init(longest: Duration) { self.longest = longest }

    /// When a request that is made now is answered. Those that are made before that are answered with it.
    mutating func request(now: Duration) -> Duration {
        guard let last = answerTime else {
            answerTime = now
            return now
        }
        guard now >= last else { return last }
        var quiet = now - last
        let time: Duration
        if quiet < Self.forgettingTime {
            time = max(now, last + interval)
            interval = min(interval * 2, longest)
        } else {
            time = now
            while quiet >= Self.forgettingTime, interval > shortestInterval {
                interval = max(interval / 2, shortestInterval)
                quiet -= Self.forgettingTime
            }
        }
        answerTime = time
        return time
    }
}

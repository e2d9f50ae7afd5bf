internal import RTCShareWireFormat

/// The schedule of key frames: the only place that spaces them, for all encodings of a video. In virtual time.
///
/// A key frame costs bitrate for each viewer of its encoding. A requested one is made at once, but not before both of
/// these times have passed:
///
/// - Since the last requested one of the encoding: 300 ms, and so long that key frames use half of the bits: twice the
///   time that the last one takes at the encoding's current rate, up to 3 s. After a blurred one that followed another,
///   twice the previous time: each of them restarts the sharpening.
/// - If the encoding has other viewers, the wait of the requester: none for its first request, then 300 ms, doubled
///   each time, up to 10 s. Half is forgotten in each ten seconds without a request. A sender that rejoins, after it
///   was withheld or moved, did not make a request and shows nothing new until then: it is counted separately, up to 2
///   s.
/// - If the encoding is the best layer of a simulcast and has no other viewers: the same wait of the requester, but at
///   most 3 s. The requester is a server with viewers of its own, and some servers request key frames of all layers for
///   a viewer of one layer.
/// - If the encoding is the best layer of a simulcast, the times from which the lower layers can have theirs. Janus sends
///   a new viewer the layer whose key frame is the first. The best one would fill a slow path until that of a lower one.
///
/// A key frame answers all waiting requests. The encoder does not space key frames: it makes one on request, as soon as
/// the bits of earlier frames are paid for.
struct KeyFrameSchedule {
    /// The reason for which a sender needs a key frame.
    enum Need {
        /// Its peer requested it, or it starts.
        case request
        /// It was withheld while its queue was full, or moves to another encoding.
        case rejoining
        /// Its peer requested it of the best layer of a simulcast.
        case bestLayer
    }

    private var encodings: [Int: EncodingInterval] = [:]

    /// Returns the time of a key frame of an encoding with a `rate`, for a sender with these requests that needs it
    /// now. `isShared` means that the encoding has other senders.
    func time(
        of encoding: Int, at rate: DataRate, for requests: inout KeyFrameRequestIntervals, _ need: Need, isShared: Bool,
        lowerLayers: [(encoding: Int, rate: DataRate)] = [], now: Duration
    ) -> Duration {
        let earliest = max(now, earliest(of: lowerLayers + [(encoding, rate)]))
        return switch (need, isShared) {
        case (.bestLayer, false): max(earliest, requests.ofBestLayer.request(now: now))
        case (_, false): earliest
        case (.rejoining, true): max(earliest, requests.rejoinings.request(now: now))
        case (.request, true), (.bestLayer, true): max(earliest, requests.requests.request(now: now))
        }
    }

    /// Returns the time of the key frame that a sender with these requests awaits, for the encoding's new rate.
    func time(
        of encoding: Int, at rate: DataRate, awaitedBy requests: KeyFrameRequestIntervals,
        lowerLayers: [(encoding: Int, rate: DataRate)] = []
    ) -> Duration {
        let answers = [requests.requests, requests.rejoinings, requests.ofBestLayer].compactMap(\.answerTime)
        return answers.reduce(earliest(of: lowerLayers + [(encoding, rate)]), max)
    }

    private func earliest(of encodings: [(encoding: Int, rate: DataRate)]) -> Duration {
        encodings.map { earliest(of: $0.encoding, at: $0.rate) }.max() ?? .zero
    }

    /// Returns the earliest time of the next key frame of an encoding, for any sender.
    func earliest(of encoding: Int, at rate: DataRate) -> Duration { encodings[encoding]?.earliest(at: rate) ?? .zero }

    /// Records a key frame of an encoding, at its rate. One that was not requested shows new content, such as a page,
    /// whose bits would be spent anyway: it delays a requested one only by the shortest interval.
    mutating func made(
        of encoding: Int, byteCount: Int, at rate: DataRate, isBlurred: Bool, isRequested: Bool = true, now: Duration
    ) {
        encodings[encoding, default: EncodingInterval()]
            .made(byteCount: byteCount, at: rate, isBlurred: isBlurred, isRequested: isRequested, now: now)
    }

    /// Ends an encoding.
    mutating func end(_ encoding: Int) { encodings[encoding] = nil }
}

/// The times at which a sender's requests for key frames are answered.
struct KeyFrameRequestIntervals {
    fileprivate var requests = RequestInterval(longest: .seconds(10))
    fileprivate var rejoinings = RequestInterval(longest: .seconds(2))
    fileprivate var ofBestLayer = RequestInterval(longest: .seconds(3))
}

/// The minimum time between two key frames of an encoding, and between the first two requests of one sender: lost
/// reports cause repeated requests.
private let shortestInterval = Duration.milliseconds(300)

/// The time between two key frames of an encoding.
private struct EncodingInterval {
    private static let longest = Duration.seconds(3)
    /// The time within which a key frame after a blurred one counts as its repetition.
    private static let repetitionTime = longest * 2

    private var last: (time: Duration, byteCount: Int)?
    /// The minimum time after the last one.
    private var least = shortestInterval
    /// The time of the last one that was not requested.
    private var ownAt: Duration?
    /// The time of the last one, if it was blurred.
    private var lastBlurred: Duration?

    func earliest(at rate: DataRate) -> Duration {
        max(last.map { $0.time + interval(at: rate) } ?? .zero, ownAt.map { $0 + shortestInterval } ?? .zero)
    }

    private func interval(at rate: DataRate) -> Duration {
        guard let last, rate > .zero else { return least }
        return max(least, min(rate.duration(ofBytes: last.byteCount) * 2, Self.longest))
    }

    mutating func made(byteCount: Int, at rate: DataRate, isBlurred: Bool, isRequested: Bool, now: Duration) {
        guard isRequested else {
            ownAt = now
            return
        }
        let isRepeated = isBlurred && lastBlurred.map { now < $0 + Self.repetitionTime } ?? false
        least = isRepeated ? min(interval(at: rate) * 2, Self.longest) : shortestInterval
        last = (now, byteCount)
        lastBlurred = isBlurred ? now : nil
    }
}

/// The time between two answered requests of one sender.
private struct RequestInterval {
    let longest: Duration
    /// The time without a request in which half of the interval is forgotten.
    private static let forgettingTime = Duration.seconds(10)

    private var interval = shortestInterval
    /// The time at which the newest request is, or was, answered.
    private(set) var answerTime: Duration?

    init(longest: Duration) { self.longest = longest }

    /// Returns the time at which a request of now is answered. Earlier requests are answered with it.
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

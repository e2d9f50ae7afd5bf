/// What a recording knows of the clock of one of its tracks: where that stands on the recording's time when it reads zero.
struct TrackClock: Sendable, Hashable {
    var offset: Duration?
}

/// Places the tracks of one sender on a recording's time, so that what was taken at one time stands at one time.
///
/// A stream goes by its own clock from its first picture or sound on, which stands where it arrived. What its sender says of
/// its clocks (RFC 3550 §6.4.1) comes later, and then has the streams stand together as they were taken: pictures move to
/// where the sound has them, for a picture may come some milliseconds earlier or later than expected, and a sound can't.
/// So the first sound leads, and goes by its samples for ever; where its clock runs another pace than the one that the
/// streams share, pictures go along. Another sound that has come ``soundTolerance`` away from it steps.
struct SenderTimeline {
    private enum Leader: Hashable {
        case picture
        case sound(Int)
    }

    private var leader: Leader?
    /// What the shared clock shows at the beginning of the recording.
    private var epoch: Duration?

    /// What is older than this when it arrives, or newer than it can be, goes by a clock that was set anew.
    static let tolerance = Duration.seconds(10)
    static let earliness = Duration.seconds(1)
    /// What a second sound may be apart from the first: less is not noticed, and each step is heard.
    static let soundTolerance = Duration.milliseconds(40)
    /// A step of the leader's clock that is no pace.
    static let step = Duration.milliseconds(100)
    /// The part of a change that is followed with each packet: reports are some milliseconds off, each another way.
    private static let pace = 16

    /// When a sound is to be heard; `now` is the recording's time of its arrival.
    mutating func timeOfSound(_ times: MediaTimes, track: Int, clock: inout TrackClock, now: Duration) -> Duration {
        var time = time(of: times, clock: clock, now: now) { clock, captured in clock ?? captured }
        if let capture = times.capture {
            if leads(track) {
                shift(to: capture - time)
            } else if let captured = captured(times, now: now), (captured - time).magnitude > Self.soundTolerance {
                time = captured
            }
        }
        clock.offset = time - times.media
        return time
    }

    /// When a picture is to be seen; `now` is the recording's time of its arrival.
    mutating func timeOfPicture(_ times: MediaTimes, clock: inout TrackClock, now: Duration) -> Duration {
        let time = time(of: times, clock: clock, now: now) { clock, captured in captured ?? clock }
        if let capture = times.capture, leader == nil {
            leader = .picture
            epoch = capture - time
        }
        clock.offset = time - times.media
        return time
    }

    /// The time by what is known, or `now` where nothing is.
    private func time(
        of times: MediaTimes, clock: TrackClock, now: Duration, choose: (Duration?, Duration?) -> Duration?
    ) -> Duration {
        let byClock = clock.offset.map { times.media + $0 }.flatMap { Self.isNear($0, now) ? $0 : nil }
        return choose(byClock, captured(times, now: now)) ?? now
    }

    private func captured(_ times: MediaTimes, now: Duration) -> Duration? {
        guard let capture = times.capture, let epoch, Self.isNear(capture - epoch, now) else { return nil }
        return capture - epoch
    }

    private static func isNear(_ time: Duration, _ now: Duration) -> Bool {
        time >= now - tolerance && time <= now + earliness
    }

    private mutating func leads(_ track: Int) -> Bool {
        switch leader {
        case nil, .picture:
            leader = .sound(track)
            return true
        case .sound(let other): return other == track
        }
    }

    private mutating func shift(to new: Duration) {
        guard let old = epoch, (new - old).magnitude <= Self.step else {
            epoch = new
            return
        }
        epoch = old + (new - old) / Self.pace
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

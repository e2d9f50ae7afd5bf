/// The clock of a track, as far as a recording knows it: the recording's time at which that clock reads zero.
struct TrackClock: Sendable, Hashable {
    var offset: Duration?
}

/// Maps the tracks of one sender to a recording's time, so that media captured at one time are played at one time.
///
/// At first each stream follows its own clock, and its first frame or packet stands at its arrival. The sender's
/// reports about its clocks (RFC 3550 §6.4.1) come later, and then align the streams as they were captured: video moves
/// to the audio, because a frame can be some milliseconds early or late, and audio can't. So the first audio leads, and
/// always follows its samples. If its clock drifts against the clock that the streams share, video follows. Other audio
/// that is more than ``soundTolerance`` away from it steps.
struct SenderTimeline {
    private enum Leader: Hashable {
        case picture
        case sound(Int)
    }

    private var leader: Leader?
    /// The shared clock's reading at the beginning of the recording.
    private var epoch: Duration?

    /// The maximum difference from the arrival time, into the past and into the future. A clock beyond it was reset.
    static let tolerance = Duration.seconds(10)
    static let earliness = Duration.seconds(1)
    /// The maximum difference of further audio from the first: a smaller one is not noticed, and each step is audible.
    static let soundTolerance = Duration.milliseconds(40)
    /// The smallest difference of the leader's clock that is a step, and not drift.
    static let step = Duration.milliseconds(100)
    /// The inverse of the part of a change that each packet applies: reports are some milliseconds off, in either
    /// direction.
    private static let pace = 16

    /// Returns the time to play an audio packet; `now` is the recording's time of its arrival.
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

    /// Returns the time to show a frame; `now` is the recording's time of its arrival.
    mutating func timeOfPicture(_ times: MediaTimes, clock: inout TrackClock, now: Duration) -> Duration {
        let time = time(of: times, clock: clock, now: now) { clock, captured in captured ?? clock }
        if let capture = times.capture, leader == nil {
            leader = .picture
            epoch = capture - time
        }
        clock.offset = time - times.media
        return time
    }

    /// Returns the time by the known clocks, or `now` if none is known.
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

import RTCShareWireFormat
import Testing

@testable import RTCShareRecording

/// Lip sync: media of one capture time have one time in the recording.
struct SenderTimelineTests {
    /// A sender whose video takes 150 ms longer than its audio to arrive, and whose clocks begin at any value.
    private struct Sender {
        var soundDelay = Duration.milliseconds(40)
        var pictureDelay = Duration.milliseconds(190)
        let soundBegin = Duration.seconds(7)
        let pictureBegin = Duration.seconds(90_000)
        let wallclock = Duration.seconds(1_700_000_000)
        /// The rate error of the audio's clock in parts per million.
        var soundPace = 0

        func sound(takenAt time: Duration, isReported: Bool = true) -> MediaTimes {
            MediaTimes(
                media: soundBegin + time + time * soundPace / 1_000_000, capture: isReported ? wallclock + time : nil,
                arrival: time + soundDelay)
        }

        func picture(takenAt time: Duration, isReported: Bool = true) -> MediaTimes {
            MediaTimes(
                media: pictureBegin + time, capture: isReported ? wallclock + time : nil, arrival: time + pictureDelay)
        }
    }

    /// A recording that began with the first audio packet.
    private struct Recording {
        var timeline = SenderTimeline()
        var sound = TrackClock()
        var picture = TrackClock()
        let start = Duration.milliseconds(40)

        mutating func time(ofSound times: MediaTimes, track: Int = 0) -> Duration {
            timeline.timeOfSound(times, track: track, clock: &sound, now: times.arrival - start)
        }

        mutating func time(ofPicture times: MediaTimes) -> Duration {
            timeline.timeOfPicture(times, clock: &picture, now: times.arrival - start)
        }
    }

    @Test(
        "Media are aligned by arrival before the first sender report, and later by the sender's clock")
    func beforeReports() {
        var recording = Recording()
        let sender = Sender()
        #expect(recording.time(ofSound: sender.sound(takenAt: .zero, isReported: false)) == .zero)
        #expect(recording.time(ofPicture: sender.picture(takenAt: .zero, isReported: false)) == .milliseconds(150))
        // A delay in the network has no effect on it.
        let late = MediaTimes(media: sender.soundBegin + .seconds(1), capture: nil, arrival: .milliseconds(1300))
        #expect(recording.time(ofSound: late) == .seconds(1))
    }

    @Test("A sender report aligns frames with the audio of the same capture time")
    func reports() {
        var recording = Recording()
        let sender = Sender()
        _ = recording.time(ofSound: sender.sound(takenAt: .zero, isReported: false))
        _ = recording.time(ofPicture: sender.picture(takenAt: .zero, isReported: false))
        for step in 1...10 {
            let time = Duration.milliseconds(100 * step)
            #expect(recording.time(ofSound: sender.sound(takenAt: time)) == time, "sound goes by its samples")
            #expect(recording.time(ofPicture: sender.picture(takenAt: time)) == time)
        }
    }

    @Test("A video that had the sender's clock first is aligned with audio that begins later")
    func pictureFirst() {
        var recording = Recording()
        let sender = Sender()
        let first = recording.time(ofPicture: sender.picture(takenAt: .zero))
        let sound = recording.time(ofSound: sender.sound(takenAt: .seconds(3)))
        #expect(sound - first == .seconds(3), "one that begins later is placed by what is known")
        #expect(recording.time(ofPicture: sender.picture(takenAt: .seconds(3))) == sound)
    }

    @Test("Video stays aligned for an hour with audio whose clock has another rate", arguments: [-200, 200])
    func pace(partsOfAMillion: Int) {
        var recording = Recording()
        let sender = Sender(soundPace: partsOfAMillion)
        for second in 0..<3600 {
            for part in 0..<10 {
                let time = Duration.seconds(second) + .milliseconds(100 * part)
                let sound = recording.time(ofSound: sender.sound(takenAt: time))
                let picture = recording.time(ofPicture: sender.picture(takenAt: time))
                #expect((sound - picture).magnitude < .milliseconds(2))
            }
        }
    }

    @Test("A second audio is aligned with the first in rare steps")
    func secondSound() {
        var timeline = SenderTimeline()
        var (first, second) = (TrackClock(), TrackClock())
        let (exact, fast) = (Sender(), Sender(soundPace: 100))
        var steps = 0
        var last: Duration?
        for second_ in 0..<3600 {
            let time = Duration.seconds(second_)
            let leading = exact.sound(takenAt: time)
            let now = leading.arrival
            let at = timeline.timeOfSound(leading, track: 0, clock: &first, now: now)
            let other = fast.sound(takenAt: time)
            let placed = timeline.timeOfSound(other, track: 1, clock: &second, now: now)
            #expect((placed - at).magnitude <= .milliseconds(41))
            if let last, placed - last < .milliseconds(990) { steps += 1 }
            last = placed
        }
        #expect((7...9).contains(steps), "360 ms in steps of 40: \(steps)")
    }

    @Test("A clock that was set is aligned by arrival")
    func setAnew() {
        var recording = Recording()
        _ = recording.time(ofSound: MediaTimes(media: .seconds(5), capture: nil, arrival: .milliseconds(40)))
        let anew = MediaTimes(media: .seconds(80_000), capture: nil, arrival: .seconds(10) + .milliseconds(40))
        #expect(recording.time(ofSound: anew) == .seconds(10))
        let next = MediaTimes(media: .seconds(80_001), capture: nil, arrival: .seconds(11) + .milliseconds(90))
        #expect(recording.time(ofSound: next) == .seconds(11))
    }

    @Test("An impossible sender report is ignored", arguments: [-60, 5] as [Int])
    func nonsense(seconds: Int) {
        var recording = Recording()
        let sender = Sender()
        _ = recording.time(ofSound: sender.sound(takenAt: .zero))
        let picture = MediaTimes(
            media: .zero, capture: sender.wallclock + .seconds(seconds), arrival: .milliseconds(190))
        #expect(recording.time(ofPicture: picture) == .milliseconds(150))
    }
}

struct RecordingHorizonTests {
    @Test("A frame or packet is waited for at most half a second after its time")
    func patience() {
        var horizon = RecordingHorizon()
        horizon.note(.zero, arrival: .zero)
        #expect(horizon.horizon(at: .seconds(2)) == .milliseconds(1500))
        // Late media neither delay the recording nor advance it.
        horizon.note(.seconds(1), arrival: .seconds(2))
        #expect(horizon.now(at: .seconds(2)) > .milliseconds(1999))
    }

    @Test("A sender whose times run ahead lengthens the recording by at most a tenth")
    func lead() {
        var horizon = RecordingHorizon()
        for packet in 0..<100_000 {
            let arrival = Duration.milliseconds(packet)
            horizon.note(horizon.now(at: arrival) + SenderTimeline.earliness, arrival: arrival)
        }
        #expect(horizon.now(at: .seconds(100)) < .seconds(112))
    }

    @Test("A sender's clock that is fast or slow is followed over a day", arguments: [-150, 150])
    func pace(partsOfAMillion: Int) {
        var horizon = RecordingHorizon()
        for second in 0..<86_400 {
            let arrival = Duration.seconds(second)
            let time = arrival + arrival * partsOfAMillion / 1_000_000
            horizon.note(time, arrival: arrival)
            #expect((horizon.now(at: arrival) - time).magnitude < .milliseconds(2))
        }
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

import RTCShareWireFormat
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

@Suite struct KeyFrameScheduleTests {
    /// A byte takes a microsecond.
    private static let rate = DataRate.bitsPerSecond(8_000_000)

    private static func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }

    /// Returns the times at which requests at the given times are answered, each answer once, for a viewer that shares
    /// an encoding, if key frames cost nothing.
    private static func answers(
        _ requests: inout KeyFrameRequestIntervals, _ need: KeyFrameSchedule.Need = .request,
        asking times: some Sequence<Int>
    ) -> [Int] {
        let schedule = KeyFrameSchedule()
        var answers: [Int] = []
        for time in times {
            let answer = milliseconds(
                schedule.time(of: 0, at: rate, for: &requests, need, isShared: true, now: .milliseconds(time)))
            #expect(answer >= time)
            if answers.last != answer { answers.append(answer) }
        }
        return answers
    }

    @Test("The first request is answered at once, however late it comes")
    func firstRequestAnswered() {
        for time in [0, 1, 100_000] {
            var requests = KeyFrameRequestIntervals()
            #expect(Self.answers(&requests, asking: [time]) == [time])
        }
    }

    @Test(
        "Repeated requests are answered at intervals that double, up to ten seconds, or two for a viewer that rejoins")
    func keepsAsking() {
        var requests = KeyFrameRequestIntervals()
        let times = stride(from: 0, through: 60_000, by: 20)
        #expect(
            Self.answers(&requests, asking: times) == [
                0, 300, 900, 2100, 4500, 9300, 18_900, 28_900, 38_900, 48_900, 58_900, 68_900,
            ])
        #expect(Self.answers(&requests, .rejoining, asking: times).prefix(7) == [0, 300, 900, 2100, 4100, 6100, 8100])
    }

    @Test("Occasional requests are answered at once")
    func occasionalRequests() {
        var requests = KeyFrameRequestIntervals()
        let times = stride(from: 0, through: 300_000, by: 15_000)
        #expect(Self.answers(&requests, asking: times) == Array(times))
    }

    @Test("Regular requests at long intervals get at most one key frame in ten seconds after a while")
    func regularRequests() {
        for interval in [500, 1000, 2000, 5000] {
            var requests = KeyFrameRequestIntervals()
            let answers = Self.answers(&requests, asking: stride(from: 0, through: 300_000, by: interval))
            #expect(answers.count(where: { $0 > 60_000 && $0 <= 260_000 }) <= 21, "\(interval): \(answers)")
        }
    }

    @Test("Intervals shorten soon after requests stop")
    func stoppedAsking() {
        var requests = KeyFrameRequestIntervals()
        _ = Self.answers(&requests, asking: stride(from: 0, through: 60_000, by: 20))
        // The last answer was at 68.9 s. Ten seconds are halved five times, and at most 300 ms are left.
        #expect(Self.answers(&requests, asking: [130_000, 130_001]) == [130_000, 130_300])
    }

    /// Returns the times of the key frames that a single viewer with a request every 20 ms gets in ten seconds, if each
    /// takes that time to send.
    private static func keyFrames(cost: Duration, isBlurred: Bool = false) -> [Int] {
        var requests = KeyFrameRequestIntervals()
        var schedule = KeyFrameSchedule()
        var made: [Int] = []
        for now in stride(from: 0, to: 10_000, by: 20) {
            let time = schedule.time(
                of: 0, at: rate, for: &requests, .request, isShared: false, now: .milliseconds(now))
            guard time <= .milliseconds(now) else { continue }
            made.append(now)
            schedule.made(
                of: 0, byteCount: Int(cost / .microseconds(1)), at: rate, isBlurred: isBlurred, now: .milliseconds(now))
        }
        return made
    }

    @Test("Requests soon after a key frame wait 300 ms, or until key frames take at most half of the bits")
    func bits() {
        #expect(Self.keyFrames(cost: .milliseconds(10)).prefix(3) == [0, 300, 600])
        #expect(Self.keyFrames(cost: .milliseconds(500)).prefix(3) == [0, 1000, 2000])
        #expect(Self.keyFrames(cost: .seconds(30)) == [0, 3000, 6000, 9000])
    }

    @Test("The interval after a blurred key frame soon after another doubles, up to three seconds")
    func blurred() {
        #expect(Self.keyFrames(cost: .zero, isBlurred: true) == [0, 300, 900, 2100, 4500, 7500])
    }

    @Test("A key frame that nobody requested delays a request only by 300 ms")
    func unrequested() {
        var schedule = KeyFrameSchedule()
        schedule.made(
            of: 0, byteCount: 1_000_000, at: Self.rate, isBlurred: true, isRequested: false, now: .seconds(10))
        #expect(schedule.earliest(of: 0, at: Self.rate) == .seconds(10) + .milliseconds(300))
        schedule.made(of: 0, byteCount: 1_000_000, at: Self.rate, isBlurred: false, now: .seconds(11))
        schedule.made(of: 0, byteCount: 10, at: Self.rate, isBlurred: false, isRequested: false, now: .seconds(12))
        #expect(schedule.earliest(of: 0, at: Self.rate) == .seconds(13))
    }

    @Test("The cost of an encoding's key frames delays no other encoding and is removed with it")
    func encodings() {
        var requests = KeyFrameRequestIntervals()
        var schedule = KeyFrameSchedule()
        schedule.made(of: 0, byteCount: 1_000_000, at: Self.rate, isBlurred: false, now: .seconds(10))
        #expect(schedule.earliest(of: 0, at: Self.rate) == .seconds(12))
        #expect(schedule.earliest(of: 0, at: Self.rate * 2) == .seconds(11))
        #expect(schedule.earliest(of: 1, at: Self.rate) == .zero)
        #expect(
            schedule.time(of: 1, at: Self.rate, for: &requests, .request, isShared: false, now: .seconds(10))
                == .seconds(10))
        schedule.end(0)
        #expect(schedule.earliest(of: 0, at: Self.rate) == .zero)
    }
}

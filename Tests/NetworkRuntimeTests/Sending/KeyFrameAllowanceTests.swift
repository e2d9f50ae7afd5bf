import Testing

@testable import RTCShareNetworkRuntime

@Suite struct KeyFrameAllowanceTests {
    private static func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }

    /// When the requests of one who asks at these times are answered, each answer once.
    private static func answers(_ allowance: inout KeyFrameAllowance, asking times: some Sequence<Int>) -> [Int] {
        var answers: [Int] = []
        for time in times {
            let answer = milliseconds(allowance.request(now: .milliseconds(time)))
            #expect(answer >= time)
            if answers.last != answer { answers.append(answer) }
        }
        return answers
    }

    @Test("The first request is answered at once, however late it comes")
    func firstRequestAnswered() {
        for time in [0, 1, 100_000] {
            var allowance = KeyFrameAllowance()
            #expect(Self.answers(&allowance, asking: [time]) == [time])
        }
    }

    @Test("Who keeps asking is answered at intervals that double, up to ten seconds")
    func keepsAsking() {
        var allowance = KeyFrameAllowance()
        let answers = Self.answers(&allowance, asking: stride(from: 0, through: 60_000, by: 20))
        #expect(answers == [0, 300, 900, 2100, 4500, 9300, 18_900, 28_900, 38_900, 48_900, 58_900, 68_900])
    }

    @Test("Who asks now and then is answered at once")
    func occasionalRequests() {
        var allowance = KeyFrameAllowance()
        let times = stride(from: 0, through: 300_000, by: 15_000)
        #expect(Self.answers(&allowance, asking: times) == Array(times))
    }

    @Test("Who asks regularly and politely gets no more than one in ten seconds, after a while")
    func regularRequests() {
        for interval in [500, 1000, 2000, 5000] {
            var allowance = KeyFrameAllowance()
            let answers = Self.answers(&allowance, asking: stride(from: 0, through: 300_000, by: interval))
            #expect(answers.count(where: { $0 > 60_000 && $0 <= 260_000 }) <= 21, "\(interval): \(answers)")
        }
    }

    @Test("Who has stopped asking is soon heard as before")
    func stoppedAsking() {
        var allowance = KeyFrameAllowance()
        _ = Self.answers(&allowance, asking: stride(from: 0, through: 60_000, by: 20))
        // Answered last at 68.9 s; ten seconds are halved five times, then what is left is no more than 300 ms.
        #expect(Self.answers(&allowance, asking: [130_000, 130_001]) == [130_000, 130_300])
    }
}

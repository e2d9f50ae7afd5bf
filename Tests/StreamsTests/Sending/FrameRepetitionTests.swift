import Testing

@testable import RTCShareStreams

/// The repetition of a muted track's last frame, in virtual time.
@Suite struct FrameRepetitionTests {
    @Test("A repetition ends two seconds after the latest need, with one timer at a time")
    func prolonged() {
        var repetition = FrameRepetition()
        #expect(repetition.prolong(now: .seconds(10)) == .seconds(2))
        // A viewer joins shortly before the end.
        #expect(repetition.prolong(now: .milliseconds(11_900)) == nil)
        #expect(repetition.timerFired(isAwaited: false, now: .seconds(12)) == .milliseconds(1900))
        #expect(repetition.isActive)
        #expect(repetition.timerFired(isAwaited: false, now: .milliseconds(13_900)) == nil)
        #expect(!repetition.isActive)
        #expect(repetition.prolong(now: .seconds(20)) == .seconds(2))
    }

    @Test("A repetition lasts while a viewer awaits a key frame")
    func awaited() {
        var repetition = FrameRepetition()
        #expect(repetition.prolong(now: .zero) == .seconds(2))
        #expect(repetition.timerFired(isAwaited: true, now: .seconds(2)) == .seconds(2))
        #expect(repetition.timerFired(isAwaited: false, now: .seconds(4)) == nil)
        #expect(!repetition.isActive)
    }

    @Test("The timer of a repetition that was stopped does not end the next one early")
    func stopped() {
        var repetition = FrameRepetition()
        #expect(repetition.prolong(now: .zero) == .seconds(2))
        repetition.stop()
        #expect(!repetition.isActive)
        #expect(repetition.prolong(now: .seconds(1)) == nil)
        #expect(repetition.timerFired(isAwaited: false, now: .seconds(2)) == .seconds(1))
        #expect(repetition.isActive)
        repetition.stop()
        #expect(repetition.timerFired(isAwaited: true, now: .seconds(3)) == nil)
        #expect(!repetition.isActive)
    }
}

import RTCShareWireFormat
import Testing

@testable import RTCShareSecureTransport

/// RFC 6347 §4.2.4.1.
@Suite struct RetransmissionTimerTests {
    @Test(
        "The timeout of a flight doubles each time up to the maximum, and the next flight begins with the shortest")
    func intervals() throws {
        var timer = RetransmissionTimer(initial: .seconds(1), maximum: .seconds(5))
        for _ in 0..<2 {
            for wait in [1, 2, 4, 5, 5] {
                timer.start()
                let due = try #require(timer.deadline)
                #expect(due - timer.now == .seconds(wait))
                timer.now = due
                let (isDue, isDueAgain) = (timer.expire(), timer.expire())
                #expect(isDue && !isDueAgain)
            }
            timer.stop()
            #expect(timer.deadline == nil && timer.retransmissions == 0)
        }
    }

    @Test("No retransmission is due after the last one of a flight")
    func last() {
        var timer = RetransmissionTimer(initial: .milliseconds(1), maximum: .seconds(1))
        for _ in 0..<RetransmissionTimer.maximumRetransmissions {
            timer.start()
            timer.now = timer.now.advanced(by: .seconds(1))
            let isDue = timer.expire()
            #expect(isDue)
        }
        timer.start()
        #expect(timer.deadline == nil)
    }

    @Test("A shorter round trip applies from the next flight on")
    func roundTrip() throws {
        var timer = RetransmissionTimer(initial: .milliseconds(100), maximum: .seconds(1))
        timer.expectAnswers(within: .milliseconds(250))
        timer.start()
        #expect(try #require(timer.deadline) - timer.now == .milliseconds(100))
        timer.now = timer.now.advanced(by: .milliseconds(100))
        let isDue = timer.expire()
        #expect(isDue)
        timer.expectAnswers(within: .milliseconds(50))
        timer.start()
        #expect(try #require(timer.deadline) - timer.now == .milliseconds(200))
        timer.stop()
        timer.start()
        #expect(try #require(timer.deadline) - timer.now == .milliseconds(50))
    }

    @Test("A peer's repetition a round trip after a flight triggers a retransmission and restarts the timer")
    func hasten() throws {
        var timer = RetransmissionTimer(initial: .milliseconds(100), maximum: .seconds(1))
        var isHastened = timer.hasten()
        #expect(!isHastened, "nothing is in the air")
        timer.start()
        timer.now = timer.now.advanced(by: .milliseconds(100))
        _ = timer.expire()
        timer.start()
        timer.now = timer.now.advanced(by: .milliseconds(99))
        isHastened = timer.hasten()
        #expect(!isHastened, "the repetition may have crossed the flight")
        timer.now = timer.now.advanced(by: .milliseconds(1))
        isHastened = timer.hasten()
        #expect(isHastened)
        timer.start()
        #expect(try #require(timer.deadline) - timer.now == .milliseconds(100))
        #expect(timer.retransmissions == 2)
    }
}

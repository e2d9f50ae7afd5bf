import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }
private func numbers(_ values: UInt16...) -> [SequenceNumber] { values.map { SequenceNumber($0) } }

@Suite struct NACKGeneratorTests {
    @Test("A missing packet is requested after the reordering delay, and again after each round trip")
    func schedule() {
        var nack = NACKGenerator()
        nack.setRoundTripTime(.milliseconds(50))
        #expect(nack.receive(SequenceNumber(65_534), now: at(0)) == .newest)
        #expect(nack.nextDeadline == nil)
        #expect(nack.receive(SequenceNumber(1), now: at(0)) == .newest)
        #expect(nack.nextDeadline == at(10))
        #expect(nack.poll(now: at(9)).isEmpty)
        #expect(nack.poll(now: at(10)) == numbers(65_535, 0))
        #expect(nack.nextDeadline == at(60))
        #expect(nack.receive(SequenceNumber(0), now: at(40)) == .filledGap(tries: 1))
        #expect(nack.poll(now: at(60)) == numbers(65_535))
        #expect(nack.receive(SequenceNumber(65_535), now: at(61)) == .filledGap(tries: 2))
        #expect(nack.receive(SequenceNumber(65_535), now: at(61)) == .old)
        #expect(nack.nextDeadline == nil)
        #expect(nack.numbersRequested == 3)
    }

    @Test("Reordering within the delay requests nothing")
    func reordering() {
        var nack = NACKGenerator()
        for number in [1, 3, 2, 5, 6, 4] as [UInt16] { _ = nack.receive(SequenceNumber(number), now: at(Int(number))) }
        #expect(nack.poll(now: at(100)).isEmpty)
        #expect(nack.numbersRequested == 0)
    }

    @Test(
        "The time between requests is the round trip, limited to 20 to 500 ms",
        arguments: [(1, 20), (20, 20), (70, 70), (400, 400), (5000, 500)])
    func repeats(roundTrip: Int, expected: Int) {
        var nack = NACKGenerator()
        nack.setRoundTripTime(.milliseconds(roundTrip))
        _ = nack.receive(SequenceNumber(1), now: at(0))
        _ = nack.receive(SequenceNumber(3), now: at(0))
        #expect(nack.poll(now: at(10)) == numbers(2))
        #expect(nack.nextDeadline == at(10 + expected))
    }

    @Test("A packet is given up after ten requests")
    func givesUp() {
        var nack = NACKGenerator()
        _ = nack.receive(SequenceNumber(1), now: at(0))
        _ = nack.receive(SequenceNumber(3), now: at(0))
        var tries = 0
        while let deadline = nack.nextDeadline { tries += nack.poll(now: deadline).count }
        #expect(tries == 10)
        #expect(nack.packetsGivenUp == 1)
        #expect(nack.receive(SequenceNumber(2), now: at(2000)) == .old)
    }

    @Test("More missing packets than the list can hold clear it")
    func tooMany() {
        var nack = NACKGenerator()
        _ = nack.receive(SequenceNumber(0), now: at(0))
        #expect(nack.receive(SequenceNumber(1001), now: at(0)) == .newest)
        #expect(nack.missingCount == 1000)
        #expect(nack.receive(SequenceNumber(1003), now: at(0)) == .tooManyGaps)
        #expect(nack.missingCount == 0)
        #expect(nack.receive(SequenceNumber(1005), now: at(0)) == .newest)
        #expect(nack.poll(now: at(10)) == numbers(1004))
    }

    @Test("Packets before a key frame are not requested")
    func forgets() {
        var nack = NACKGenerator()
        for number in [0, 2, 4, 6] as [UInt16] { _ = nack.receive(SequenceNumber(number), now: at(0)) }
        nack.forget(before: SequenceNumber(4))
        #expect(nack.poll(now: at(10)) == numbers(5))
    }
}

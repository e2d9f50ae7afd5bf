@testable import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

@Suite struct RetransmissionHistoryTests {
    private let roundTrip = Duration.milliseconds(50)

    @Test("A packet is found by its sequence number across the wrap")
    func findsPackets() {
        var history = RetransmissionHistory<Int>(capacity: 64)
        for index in 0..<40 {
            history.insert(SequenceNumber(65_520).advanced(by: index), index, size: 100, now: at(index))
        }
        for index in 0..<40 {
            let number = SequenceNumber(65_520).advanced(by: index)
            #expect(history.lookup(number, now: at(100), roundTripTime: roundTrip) == index)
        }
        #expect(history.lookup(SequenceNumber(65_519), now: at(100), roundTripTime: roundTrip) == nil)
        #expect(history.packetsRetransmitted == 40)
        #expect(history.bytesRetransmitted == 4000)
        #expect(history.requestsUnknown == 1)
    }

    @Test("A packet is not resent while it waits for that, nor within a round trip of its last retransmission")
    func refusesWithinRoundTrip() {
        var history = RetransmissionHistory<Int>(capacity: 64)
        history.insert(SequenceNumber(1), 1, size: 10, now: at(0))
        #expect(history.lookup(SequenceNumber(1), now: at(0), roundTripTime: roundTrip) == 1)
        #expect(history.lookup(SequenceNumber(1), now: at(0), roundTripTime: roundTrip) == nil)
        history.didRetransmit(SequenceNumber(1), now: at(1))
        history.didRetransmit(SequenceNumber(2), now: at(50))
        #expect(history.lookup(SequenceNumber(1), now: at(50), roundTripTime: roundTrip) == nil)
        #expect(history.lookup(SequenceNumber(1), now: at(51), roundTripTime: roundTrip) == 1)
        #expect(history.requestsTooSoon == 2)
        #expect(history.packetsRetransmitted == 2)
    }

    @Test("The time of a retransmission is kept to the millisecond and never earlier than it was")
    func roundsUp() {
        let sent = Instant(nanoseconds: 700)
        for delay in [Int64(0), 1, 999_999, 1_000_000, 1_000_001, 2_999_000_000] {
            var record = RetransmissionHistory<Int>.Record(number: SequenceNumber(1), size: 10, sent: sent)
            #expect(record.lastRetransmission == nil)
            record.isQueued = true
            let now = Instant(nanoseconds: sent.nanoseconds + delay)
            record.didRetransmit(now: now)
            #expect(!record.isQueued)
            let difference = (record.lastRetransmission ?? .distantFuture) - now
            #expect(difference >= .zero && difference <= .milliseconds(1))
        }
        #expect(MemoryLayout<RetransmissionHistory<Int>.Record?>.stride == 16)
    }

    @Test("Capacity that one busy second needed is released", arguments: [40, 60, 84])
    func shrinks(packetsPerSecond: Int) {
        var history = RetransmissionHistory<Int>(capacity: 4096)
        var number = SequenceNumber(65_000)
        var now = at(0)
        func send(_ count: Int, perSecond rate: Int) {
            for index in 0..<count {
                history.insert(number, index, size: 1000, now: now)
                number = number.next
                now = now.advanced(by: .nanoseconds(1_000_000_000 / Int64(rate)))
            }
        }
        send(250, perSecond: 200)
        #expect(history.slots.count == 256)
        send(1000, perSecond: packetsPerSecond)
        #expect(history.slots.count == (packetsPerSecond < 48 ? 64 : 128))
        let newest = number.advanced(by: -1)
        #expect((0..<packetsPerSecond - 1).allSatisfy { history.contains(newest.advanced(by: -$0), now: now) })
    }

    @Test("Packets of the last second are kept whatever the rate was before")
    func keepsTheLastSecondWhileItsRoomChanges() {
        var history = RetransmissionHistory<Int>(capacity: 4096)
        var sent: [(number: SequenceNumber, time: Int)] = []
        var time = 0
        var number = SequenceNumber(65_000)
        // A packet so many milliseconds after the one before; from many a second to few, and back.
        for (step, count) in [(1, 3000), (10, 1000), (40, 400), (1, 2500), (25, 600)] {
            for _ in 0..<count {
                time += step
                history.insert(number, Int(number.rawValue), size: 100, now: at(time))
                sent.append((number, time))
                number = number.next
                sent.removeAll { $0.time < time - 1000 }
                guard sent.count % 16 == 0 else { continue }
                for (number, _) in sent { #expect(history.contains(number, now: at(time))) }
            }
        }
        let newest = number.advanced(by: -1)
        #expect(history.lookup(newest, now: at(time), roundTripTime: roundTrip) == Int(newest.rawValue))
    }

    @Test("The buffer keeps only the newest packets")
    func boundsByCount() {
        var history = RetransmissionHistory<Int>(capacity: 100)
        #expect(history.capacity == 128)
        for index in 0..<1000 { history.insert(SequenceNumber(UInt16(index)), index, size: 10, now: at(0)) }
        #expect(history.lookup(SequenceNumber(871), now: at(0), roundTripTime: roundTrip) == nil)
        #expect(history.lookup(SequenceNumber(872), now: at(0), roundTripTime: roundTrip) == 872)
        #expect(RetransmissionHistory<Int>(capacity: .max).capacity == 16_384)
    }

    @Test("Raising the capacity keeps the packets")
    func allowsMore() {
        var history = RetransmissionHistory<Int>(capacity: 100)
        for index in 0..<100 { history.insert(SequenceNumber(UInt16(index)), index, size: 10, now: at(0)) }
        history.allow(capacity: 50)
        #expect(history.capacity == 128)
        history.allow(capacity: 200)
        #expect(history.capacity == 256)
        for index in 100..<256 { history.insert(SequenceNumber(UInt16(index)), index, size: 10, now: at(0)) }
        #expect(history.lookup(SequenceNumber(0), now: at(0), roundTripTime: roundTrip) == 0)
    }

    @Test("Old packets are removed as new ones are added")
    func boundsByAge() {
        final class Token: Sendable {}
        var history = RetransmissionHistory<Token>(capacity: 64, maximumAge: .milliseconds(1000))
        weak var released: Token?
        do {
            let token = Token()
            released = token
            history.insert(SequenceNumber(1), token, size: 10, now: at(0))
        }
        history.insert(SequenceNumber(5), Token(), size: 10, now: at(1000))
        #expect(released != nil)
        history.insert(SequenceNumber(6), Token(), size: 10, now: at(1001))
        #expect(released == nil)
        #expect(history.contains(SequenceNumber(5), now: at(2000)))
        #expect(!history.contains(SequenceNumber(5), now: at(2001)))
    }

    @Test("A restart of the numbering discards the old packets")
    func restarts() {
        var history = RetransmissionHistory<Int>(capacity: 64)
        history.insert(SequenceNumber(1000), 1, size: 10, now: at(0))
        history.insert(SequenceNumber(500), 2, size: 10, now: at(0))
        #expect(!history.contains(SequenceNumber(1000), now: at(0)))
        #expect(history.contains(SequenceNumber(500), now: at(0)))
        history.insert(SequenceNumber(30_000), 3, size: 10, now: at(0))
        #expect(!history.contains(SequenceNumber(500), now: at(0)))
    }
}

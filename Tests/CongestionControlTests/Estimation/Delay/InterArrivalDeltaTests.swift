import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The scenarios of libwebrtc's `inter_arrival_unittest`.
@Suite struct InterArrivalDeltaTests {
    /// A stream of packets 30 ms apart, whose arrival can jump.
    private struct Stream {
        var deltas = InterArrivalDelta()
        var sent = Instant(nanoseconds: 10_000_000_000)
        var arrival = Duration.seconds(20)
        var feedbackTime = Instant(nanoseconds: 30_000_000_000)

        mutating func next(jump: Duration = .zero) -> InterArrivalDelta.Delta? {
            let step = Duration.milliseconds(30)
            sent = sent.advanced(by: step)
            arrival += step + jump
            feedbackTime = feedbackTime.advanced(by: step)
            return deltas.receive(sent: sent, arrival: arrival, feedbackTime: feedbackTime, size: 1000)
        }

        static let even = InterArrivalDelta.Delta(send: .milliseconds(30), arrival: .milliseconds(30), size: 0)
    }

    private func feed(_ deltas: inout InterArrivalDelta, sent: Int, arrival: Int, size: Int = 1) -> InterArrivalDelta
        .Delta?
    {
        deltas.receive(
            sent: Instant(nanoseconds: Int64(sent) * 1000), arrival: .milliseconds(arrival),
            feedbackTime: Instant(nanoseconds: Int64(arrival) * 1_000_000), size: size)
    }

    @Test("Two complete groups give the differences of their last packets' times and of their sizes")
    func groups() {
        var deltas = InterArrivalDelta()
        #expect(feed(&deltas, sent: 0, arrival: 17) == nil)
        #expect(feed(&deltas, sent: 5020, arrival: 23, size: 2) == nil)
        let first = feed(&deltas, sent: 10040, arrival: 29)
        #expect(first == .init(send: .microseconds(5020), arrival: .milliseconds(6), size: 1))
        let second = feed(&deltas, sent: 15060, arrival: 35)
        #expect(second == .init(send: .microseconds(5020), arrival: .milliseconds(6), size: -1))
    }

    @Test("Packets sent within 5 ms of the first form one group")
    func accumulates() {
        var deltas = InterArrivalDelta()
        #expect(feed(&deltas, sent: 0, arrival: 17) == nil)
        #expect(feed(&deltas, sent: 5020, arrival: 23, size: 2) == nil)
        for index in 1...10 { #expect(feed(&deltas, sent: 5020 + 20 * index, arrival: 23 + 6 * index) == nil) }
        let delta = feed(&deltas, sent: 100_000, arrival: 500)
        #expect(delta == .init(send: .microseconds(5220), arrival: .milliseconds(66), size: 11))
    }

    @Test("A packet sent before the group began is ignored")
    func reorderedPacket() {
        var deltas = InterArrivalDelta()
        #expect(feed(&deltas, sent: 0, arrival: 17) == nil)
        #expect(feed(&deltas, sent: 10_000, arrival: 28) == nil)
        #expect(feed(&deltas, sent: 5020, arrival: 281, size: 100) == nil)
        let delta = feed(&deltas, sent: 100_000, arrival: 500)
        #expect(delta == .init(send: .microseconds(10_000), arrival: .milliseconds(11), size: 0))
    }

    @Test("Packets within a group may arrive out of order")
    func reorderedWithinGroup() {
        var deltas = InterArrivalDelta()
        #expect(feed(&deltas, sent: 0, arrival: 17) == nil)
        #expect(feed(&deltas, sent: 5020, arrival: 28) == nil)
        for index in 0..<10 { #expect(feed(&deltas, sent: 5220 - 20 * index, arrival: 34 + 6 * index) == nil) }
        let delta = feed(&deltas, sent: 100_000, arrival: 500)
        #expect(delta == .init(send: .microseconds(5220), arrival: .milliseconds(71), size: 10))
    }

    @Test("Packets that leave a queue together are one burst; packets 6 ms apart are not")
    func bursts() {
        var deltas = InterArrivalDelta()
        #expect(feed(&deltas, sent: 0, arrival: 17) == nil)
        for index in 0..<10 { #expect(feed(&deltas, sent: 30_000 * (index + 1), arrival: 400 + 5 * index) == nil) }
        let burst = feed(&deltas, sent: 330_000, arrival: 545)
        #expect(burst == .init(send: .milliseconds(300), arrival: .milliseconds(428), size: 9))

        deltas = InterArrivalDelta()
        #expect(feed(&deltas, sent: 0, arrival: 17) == nil)
        #expect(feed(&deltas, sent: 30_000, arrival: 28) == nil)
        let apart = feed(&deltas, sent: 60_000, arrival: 34)
        #expect(apart == .init(send: .milliseconds(30), arrival: .milliseconds(11), size: 0))
    }

    @Test("A forward jump of the receiver's clock resets the groups")
    func forwardJump() {
        var stream = Stream()
        #expect(stream.next() == nil)
        #expect(stream.next() == nil)
        #expect(stream.next(jump: .seconds(3)) == Stream.even)
        for _ in 0..<3 { #expect(stream.next() == nil) }
        #expect(stream.next() == Stream.even)
    }

    @Test("A backward jump of the clock resets the groups after three of them")
    func backwardJump() {
        var stream = Stream()
        #expect(stream.next() == nil)
        #expect(stream.next() == nil)
        #expect(stream.next() == Stream.even)
        stream.arrival -= .seconds(1)
        for _ in 0..<6 { #expect(stream.next() == nil) }
        #expect(stream.next() == Stream.even)
    }

    @Test("Packets that keep their spacing are not a burst, however close they are")
    func steady() {
        var deltas = InterArrivalDelta()
        var found: [InterArrivalDelta.Delta] = []
        for index in 0..<7 {
            if let delta = feed(&deltas, sent: 4000 * index, arrival: 4 * index) { found.append(delta) }
        }
        let even = InterArrivalDelta.Delta(send: .milliseconds(8), arrival: .milliseconds(8), size: 0)
        #expect(found == [even, even])
    }
}

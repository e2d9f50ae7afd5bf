import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

@Suite struct LayerQueueTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    /// Pops all packets at the times that the queue tells. Returns the size and the time of each, from ``start`` on.
    private func drain(_ queue: inout LayerQueue<Int>, from start: Instant = start) -> [(size: Int, at: Duration)] {
        var departures: [(size: Int, at: Duration)] = []
        var now = start
        while true {
            while let next = queue.pop(now: now) { departures.append((next.size, now - Self.start)) }
            guard let due = queue.nextDeadline(now: now) else { return departures }
            now = due
        }
    }

    @Test(
        "Of a large frame, six packets leave at once, and the others in pairs at 1.25 times the target",
        arguments: [100, 250, 700])
    func largeFrame(kilobits: Int) {
        let target = DataRate.kilobitsPerSecond(kilobits)
        var queue = LayerQueue<Int>(target: target)
        let count = kilobits / 4
        for packet in 0..<count { queue.enqueue(packet, size: 1250, now: Self.start) }
        let departures = drain(&queue)
        #expect(departures.count == count && queue.isEmpty && queue.nextDeadline(now: Self.start) == nil)
        for (index, departure) in departures.enumerated() {
            let carried = index < 6 ? 0 : min((index - 4) / 2 * 2, count - 6)
            let due = (target * 1.25).duration(ofBytes: carried * 1250)
            #expect(abs((departure.at - due).seconds) < 0.000_2, "\(index)")
        }
    }

    @Test("Frames of the layer's bitrate don't wait")
    func smallFrames() {
        var queue = LayerQueue<Int>(target: .kilobitsPerSecond(240))
        for frame in 0..<100 {
            let now = Self.start.advanced(by: .milliseconds(100 * frame))
            for _ in 0..<3 { queue.enqueue(frame, size: 1000, now: now) }
            #expect(drain(&queue, from: now).map(\.at) == [Duration](repeating: now - Self.start, count: 3))
        }
    }

    @Test("A queue of more than half a second is full until a quarter of a second is left")
    func fullness() {
        var queue = LayerQueue<Int>(target: .kilobitsPerSecond(768))
        // 960 kbit/s are 60,000 bytes in half a second.
        for packet in 0..<60 { queue.enqueue(packet, size: 1000, now: Self.start) }
        #expect(!queue.isFull)
        queue.enqueue(60, size: 1000, now: Self.start)
        #expect(queue.isFull)
        var now = Self.start
        var left = 61
        while let due = queue.nextDeadline(now: now), queue.isFull {
            now = due
            while queue.pop(now: now) != nil { left -= 1 }
        }
        #expect((29...30).contains(left), "\(left)")
    }

    @Test("No packet waits longer than two seconds, whatever left before")
    func maximumTime() {
        for before in [0, 6] {
            var queue = LayerQueue<Int>(target: .kilobitsPerSecond(30))
            for packet in 0..<before { queue.enqueue(packet, size: 1250, now: Self.start) }
            #expect(drain(&queue).allSatisfy { $0.at == .zero })
            for packet in 0..<200 { queue.enqueue(packet, size: 1200, now: Self.start) }
            let departures = drain(&queue)
            #expect(departures.count == 200 && departures.allSatisfy { $0.at <= .seconds(2) })
        }
    }

    @Test("Another target applies at once, except of a layer that gets nothing")
    func targets() {
        var queue = LayerQueue<Int>(target: .kilobitsPerSecond(30))
        for packet in 0..<8 { queue.enqueue(packet, size: 1250, now: Self.start) }
        while queue.pop(now: Self.start) != nil {}
        queue.setTarget(.zero, now: Self.start)
        #expect(queue.rate == .kilobitsPerSecond(30) * 1.25)
        queue.setTarget(.kilobitsPerSecond(800), now: Self.start)
        #expect(drain(&queue).map(\.at) == [.milliseconds(20), .milliseconds(20)])
    }
}

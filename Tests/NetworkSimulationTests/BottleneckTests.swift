import RTCShareNetworkSimulation
import RTCShareWireFormat
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

@Suite struct BottleneckTests {
    private let megabit = CapacityTrace(constant: .kilobitsPerSecond(1000))

    @Test("Packets wait for earlier ones and pass at the capacity")
    func queueing() {
        var bottleneck = Bottleneck(capacity: megabit)
        let first = bottleneck.send(size: 1250, flow: 0, now: at(0))
        let second = bottleneck.send(size: 1250, flow: 1, now: at(4))
        #expect(first?.queueingDelay == .zero)
        #expect(first?.departure == at(10))
        #expect(second?.queueingDelay == .milliseconds(6))
        #expect(second?.departure == at(20))
        #expect(bottleneck.queueingDelay(now: at(15)) == .milliseconds(5))
        #expect(bottleneck.queueingDelay(now: at(25)) == .zero)
        #expect(bottleneck.flows[1]?.totalQueueingDelay == .milliseconds(6))
    }

    @Test("A packet that is passing when the capacity falls is slower for its remaining bits")
    func capacityFalls() {
        let trace = CapacityTrace(
            initially: .kilobitsPerSecond(1000), steps: [.init(from: at(5), rate: .kilobitsPerSecond(250))])
        #expect(trace.departure(ofBytes: 1250, from: at(0)) == at(25))
        #expect(trace.departure(ofBytes: 1250, from: at(5)) == at(45))
        #expect(trace.byteCount(from: at(0), to: at(25)) == 1250)
    }

    @Test("Packets wait while the capacity is zero")
    func outage() {
        let trace = CapacityTrace(
            initially: .kilobitsPerSecond(1000),
            steps: [
                .init(from: at(5), rate: .zero), .init(from: at(105), rate: .kilobitsPerSecond(1000)),
            ])
        #expect(trace.departure(ofBytes: 1250, from: at(0)) == at(110))
    }

    @Test(
        "The newest packet is dropped if the limit of bytes or time is exceeded",
        arguments: [
            Bottleneck.QueueLimit(byteCount: 12_500), Bottleneck.QueueLimit(duration: .milliseconds(100)),
        ])
    func tailDrop(limit: Bottleneck.QueueLimit) {
        var bottleneck = Bottleneck(capacity: megabit, limit: limit)
        let passages = (0..<12).map { _ in bottleneck.send(size: 1250, flow: 7, now: at(0)) }
        #expect(passages.prefix(10).allSatisfy { $0 != nil })
        #expect(passages.suffix(2).allSatisfy { $0 == nil })
        #expect(bottleneck.flows[7]?.packetsDropped == 2)
        #expect(bottleneck.flows[7]?.bytes == 12_500)
        let later = bottleneck.send(size: 1250, flow: 7, now: at(10))
        #expect(later != nil)
    }

    @Test("An empty queue has room for any packet")
    func emptyQueue() {
        var bottleneck = Bottleneck(capacity: megabit, limit: .init(byteCount: 100))
        let passages = [
            bottleneck.send(size: 1250, flow: 0, now: at(0)), bottleneck.send(size: 10, flow: 0, now: at(1)),
        ]
        #expect(passages[0] != nil && passages[1] == nil)
    }

    @Test("Flows share a queue's delay, and each has its own delay after it")
    func sharedQueue() {
        var network = Dumbbell<String>(
            forward: Bottleneck(capacity: megabit), backward: Bottleneck(capacity: megabit),
            paths: [.init(delay: .milliseconds(100)), .init(delay: .milliseconds(5))], seed: 1)
        let fates = [
            network.send("far", size: 1250, flow: 0, .forward, now: at(0)),
            network.send("near", size: 1250, flow: 1, .forward, now: at(0)),
            network.send("back", size: 1250, flow: 1, .backward, now: at(0)),
        ]
        #expect(fates == [.zero, .milliseconds(10), .zero].map { .delivered(queueingDelay: $0) })
        var arrivals: [String] = []
        while let next = network.nextArrival, let delivery = network.poll(now: next) {
            arrivals.append("\(delivery.payload) \(delivery.flow) at \(next.nanoseconds / 1_000_000)")
        }
        #expect(arrivals == ["back 1 at 15", "near 1 at 25", "far 0 at 110"])
    }

    @Test("Jitter delays without reordering, and loss has its rate")
    func jitterAndLoss() {
        var network = Dumbbell<Int>(
            forward: Bottleneck(capacity: CapacityTrace(constant: .kilobitsPerSecond(100_000))),
            backward: Bottleneck(capacity: megabit),
            paths: [.init(delay: .milliseconds(50), jitter: .milliseconds(5), forwardLoss: 0.2)], seed: 3)
        var lost = 0
        var arrived: [(Int, Instant)] = []
        for number in 0..<5000 {
            if case .lost = network.send(number, size: 1000, flow: 0, .forward, now: at(number)) { lost += 1 }
            while let delivery = network.poll(now: at(number)) { arrived.append((delivery.payload, delivery.arrival)) }
        }
        #expect((900...1100).contains(lost))
        #expect(arrived.map(\.0) == arrived.map(\.0).sorted())
        let delays = arrived.map { ($0.1 - at($0.0)).milliseconds }
        #expect(delays.allSatisfy { $0 >= 50 && $0 <= 66 })
        #expect(delays.contains { $0 > 60 })
    }

    @Test("Fairness and percentiles match their definitions")
    func fairnessAndPercentiles() {
        #expect(jainIndex([1, 1, 1]) == 1)
        #expect(jainIndex([3, 0, 0]) == 1.0 / 3)
        #expect(jainIndex([]) == 1)
        #expect((1...100).map(Double.init).percentile(0.95) == 95)
        #expect([5.0].percentile(0.95) == 5)
        #expect([Double]().percentile(0.5) == nil)
    }
}

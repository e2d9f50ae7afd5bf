import RTCShareNetworkSimulation
import RTCShareWireFormat
import Testing

/// TCP flows without other traffic on a bottleneck, run to an end.
private struct TCPRun {
    var users: [TCPTraffic]
    var network: Dumbbell<TCPTraffic.Packet>
    var delivered: [Int]
    var now = Instant(nanoseconds: 0)

    init(
        _ users: [TCPTraffic], kilobits: Int, queue: Duration, delays: [Duration], loss: Double = 0
    ) {
        self.users = users
        delivered = users.map { _ in 0 }
        network = Dumbbell(
            forward: Bottleneck(
                capacity: CapacityTrace(constant: .kilobitsPerSecond(kilobits)), limit: .init(duration: queue)),
            backward: Bottleneck(capacity: CapacityTrace(constant: .kilobitsPerSecond(100_000))),
            paths: delays.map { .init(delay: $0, forwardLoss: loss) }, seed: 11)
    }

    mutating func run(until end: Instant) {
        while now < end {
            for index in users.indices {
                users[index].handleTimeout(now: now)
                while let packet = users[index].poll(now: now) {
                    network.send(
                        packet, size: packet.byteCount, flow: index, packet.isData ? .forward : .backward, now: now)
                }
            }
            var next = network.nextArrival ?? end
            for user in users { next = min(next, max(now, user.nextDeadline ?? end)) }
            now = min(max(next, now), end)
            while let delivery = network.poll(now: now) {
                if delivery.payload.isData { delivered[delivery.flow] += delivery.size }
                users[delivery.flow].receive(delivery.payload, now: now)
            }
        }
    }
}

private func at(_ seconds: Int) -> Instant { Instant(nanoseconds: Int64(seconds) * 1_000_000_000) }

private func bulk(_ control: TCPCongestionControl, from start: Int = 0) -> TCPTraffic {
    TCPTraffic(.bulk, control, start: at(start), end: at(1000), seed: 1)
}

@Suite struct TCPTests {
    @Test("Slow start doubles the window each round trip, from ten segments")
    func slowStartDoubles() {
        var run = TCPRun([bulk(.newReno)], kilobits: 100_000, queue: .seconds(1), delays: [.milliseconds(50)])
        run.run(until: Instant(nanoseconds: 390_000_000))
        // Four windows have left by then, of 10, 20, 40 and 80 segments; three of them have been answered.
        #expect(run.network.forward.flows[0]?.packets == 150)
    }

    @Test("A long flow fills the bottleneck and its queue", arguments: TCPCongestionControl.allCases)
    func longFlow(control: TCPCongestionControl) throws {
        var run = TCPRun([bulk(control)], kilobits: 2000, queue: .milliseconds(300), delays: [.milliseconds(50)])
        run.run(until: at(120))
        let flow = try #require(run.network.forward.flows[0])
        #expect(Double(run.delivered[0]) * 8 / 120 > 0.97 * 2_000_000)
        #expect(flow.maximumQueueingDelay > .milliseconds(280))
        #expect(flow.totalQueueingDelay / flow.packets > .milliseconds(120))
        #expect(run.users[0].repetitions == flow.packetsDropped)
        #expect(run.users[0].timeouts == 0)
    }

    @Test("Two long flows of one round trip share fairly", arguments: TCPCongestionControl.allCases)
    func twoLongFlows(control: TCPCongestionControl) {
        var run = TCPRun(
            [bulk(control), bulk(control, from: 10)], kilobits: 4000, queue: .milliseconds(150),
            delays: [.milliseconds(40), .milliseconds(40)])
        run.run(until: at(60))
        let early = run.delivered
        run.run(until: at(240))
        #expect(jainIndex(zip(run.delivered, early).map { Double($0 - $1) }) > 0.9)
    }

    /// Mathis et al.: a rate of 1.22 segments a round trip over the square root of the loss; here each segment is
    /// acknowledged.
    @Test("With random loss NewReno has the rate of the square-root law")
    func randomLoss() {
        var run = TCPRun(
            [bulk(.newReno)], kilobits: 100_000, queue: .seconds(1), delays: [.milliseconds(50)], loss: 0.005)
        run.run(until: at(300))
        let rate = Double(run.delivered[0]) / 1500 / 300
        let law = 1.22 / (0.1 * 0.005.squareRoot())
        #expect(rate > 0.7 * law && rate < 1.3 * law, "\(rate) segments a second, the law says \(law)")
    }

    @Test("The timer backs off while everything is lost, and data flows again afterwards")
    func timerBacksOff() {
        var sender = TCPSender(.cubic)
        var now = at(0)
        while sender.pollSegment(now: now) != nil {}
        var due: [Instant] = []
        for _ in 0..<4 {
            now = sender.nextDeadline ?? now
            due.append(now)
            sender.handleTimeout(now: now)
            #expect(sender.window == 1)
            let segments = [sender.pollSegment(now: now), sender.pollSegment(now: now)]
            #expect(segments[0]?.number == 0 && segments[1] == nil)
        }
        #expect(due == [at(1), at(3), at(7), at(15)])
        var receiver = TCPReceiver()
        for _ in 0..<300 {
            now = now.advanced(by: .milliseconds(100))
            sender.handleTimeout(now: now)
            var segments: [TCPSender.Segment] = []
            while let segment = sender.pollSegment(now: now) { segments.append(segment) }
            for segment in segments {
                sender.receive(receiver.receive(segment), now: now.advanced(by: .milliseconds(50)))
            }
            if sender.acknowledged > 100 { break }
        }
        #expect(sender.acknowledged > 100)
    }

    @Test("Files end, and pauses follow them")
    func filesAndPauses() {
        let user = TCPTraffic(
            .files(byteCounts: 30_000...50_000, meanPause: .seconds(10), beginsWithFile: true), .cubic, start: at(0),
            end: at(300), seed: 5)
        var run = TCPRun([user], kilobits: 2000, queue: .milliseconds(300), delays: [.milliseconds(50)])
        run.run(until: at(320))
        #expect((15...50).contains(run.users[0].filesFinished))
        #expect(run.users[0].nextDeadline == nil)
        let mean = Double(run.delivered[0]) / Double(run.users[0].filesFinished)
        #expect(mean > 30_000 && mean < 55_000)
    }

    @Test("The receiver's acknowledgement has the block of the received segment")
    func receiverNamesBlock() {
        var sender = TCPSender(.newReno)
        var receiver = TCPReceiver()
        var segments: [TCPSender.Segment] = []
        while let segment = sender.pollSegment(now: at(0)) { segments.append(segment) }
        #expect(segments.count == 10)
        let answers = [0, 2, 5, 4, 3, 3, 1].map { receiver.receive(segments[$0]) }
        #expect(answers.map(\.next) == [1, 1, 1, 1, 1, 1, 6])
        #expect(answers.map(\.block) == [nil, 2..<3, 5..<6, 4..<6, 2..<6, 2..<6, nil])
    }
}

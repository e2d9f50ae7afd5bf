import RTCShareNetworkSimulation
import RTCShareWireFormat
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

/// All deliveries of a thousand packets of 1000 bytes, one each millisecond.
private func deliveries(_ conditions: LinkConditions, seed: UInt64) -> (
    packets: [Int], times: [Instant], SimulatedLink<Int>
) {
    var link = SimulatedLink<Int>(conditions, seed: seed)
    var packets: [Int] = []
    var times: [Instant] = []
    func take(until end: Instant) {
        while let next = link.nextArrival, next <= end {
            for packet in link.poll(now: next) {
                packets.append(packet)
                times.append(next)
            }
        }
    }
    for packet in 0..<1000 {
        take(until: at(packet))
        link.send(packet, size: 1000, now: at(packet))
    }
    take(until: .distantFuture)
    return (packets, times, link)
}

@Suite struct SimulatedLinkTests {
    private let rough = LinkConditions(
        loss: 0.2, delay: .milliseconds(30), jitter: .milliseconds(5), reordering: 0.1, duplication: 0.1)

    @Test("The same seed gives the same deliveries, another seed others")
    func isDeterministic() {
        let first = deliveries(rough, seed: 5)
        let second = deliveries(rough, seed: 5)
        let other = deliveries(rough, seed: 6)
        #expect(first.packets == second.packets)
        #expect(first.times == second.times)
        #expect(first.2.counters == second.2.counters)
        #expect(first.packets != other.packets)
    }

    @Test("Generator: known values of the algorithm")
    func generatorVectors() {
        // SplitMix64 and xoshiro256** from seed 0, as their authors' programs print them.
        var generator = SeededGenerator(seed: 0)
        #expect(
            (0..<3).map { _ in generator.next() } == [
                0x99EC_5F36_CB75_F2B4, 0xBF6E_1F78_4956_452A, 0x1A5F_849D_4933_E6E0,
            ])
    }

    @Test("A perfect link delivers all packets in order after its delay")
    func perfect() {
        let result = deliveries(LinkConditions(delay: .milliseconds(20)), seed: 1)
        #expect(result.packets == Array(0..<1000))
        #expect(result.times == (0..<1000).map { at($0 + 20) })
    }

    @Test("Events occur near their probabilities, and every packet is accounted for")
    func counts() {
        let (packets, times, link) = deliveries(rough, seed: 9)
        let counters = link.counters
        #expect((150...250).contains(counters.lost))
        #expect((60...120).contains(counters.reordered))
        #expect((50...110).contains(counters.duplicated))
        #expect(counters.sent + counters.duplicated == counters.delivered + counters.lost)
        #expect(packets.count == counters.delivered)
        #expect(times == times.sorted())
        #expect(link.packetsInFlight == 0)
    }

    @Test("Jitter without reordering keeps the order of packets")
    func jitterKeepsOrder() {
        let result = deliveries(LinkConditions(delay: .milliseconds(5), jitter: .milliseconds(40)), seed: 3)
        #expect(result.packets == Array(0..<1000))
    }

    @Test("The bottleneck carries its rate and drops packets that exceed its queue")
    func bottleneck() {
        // 8 Mbit/s come in, 4 Mbit/s go through.
        let conditions = LinkConditions(rate: .kilobitsPerSecond(4000), queueLimit: 10_000)
        let (packets, times, link) = deliveries(conditions, seed: 1)
        #expect(link.counters.overflowed + packets.count == 1000)
        #expect((495...515).contains(packets.count))
        for index in 1..<times.count { #expect(times[index] - times[index - 1] >= .milliseconds(2)) }
        for (packet, time) in zip(packets, times) { #expect(time - at(packet) <= .milliseconds(22)) }
        let timed = LinkConditions(rate: .kilobitsPerSecond(4000), queueTimeLimit: .milliseconds(50))
        for (packet, time) in zip(deliveries(timed, seed: 1).packets, deliveries(timed, seed: 1).times) {
            #expect(time - at(packet) <= .milliseconds(52))
        }
    }

    @Test("Two directions deliver in the order of arrival")
    func duplex() throws {
        var link = DuplexLink<String>(
            toRight: LinkConditions(delay: .milliseconds(10)), toLeft: LinkConditions(delay: .milliseconds(3)), seed: 1)
        link.send("to right", size: 1, from: .left, now: at(0))
        link.send("to left", size: 1, from: .right, now: at(5))
        #expect(link.nextArrival == at(8))
        let early = link.poll(now: at(7))
        #expect(early == nil)
        let deliveries = [link.poll(now: at(20)), link.poll(now: at(20))]
        let first = try #require(deliveries[0])
        #expect(first.payload == "to left" && first.end == .left && first.arrival == at(8))
        let second = try #require(deliveries[1])
        #expect(second.payload == "to right" && second.end == .right && second.arrival == at(10))
        #expect(link.nextArrival == nil)
    }
}

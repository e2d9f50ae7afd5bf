import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

/// A pacer whose every departure, packets and padding, is written down.
private struct Sender: ~Copyable {
    struct Departure {
        let packet: Int?
        let size: Int
        let cluster: Int?
        let at: Instant
    }

    var pacer: Pacer<Int>
    var departures: [Departure] = []
    /// The size of the largest padding packet.
    var largestPadding = 255

    init(target: Int, pacing: Int? = nil, padding: Int = 0) {
        pacer = Pacer(targetRate: .kilobitsPerSecond(target))
        pacer.setRates(
            target: .kilobitsPerSecond(target), pacing: pacing.map { .kilobitsPerSecond($0) },
            padding: .kilobitsPerSecond(padding), now: at(0))
    }

    mutating func run(from start: Instant, until end: Instant, size: Int = 1200) {
        var now = start
        while true {
            while let packet = pacer.pop(now: now) {
                departures.append(Departure(packet: packet, size: size, cluster: pacer.cluster, at: now))
            }
            while let wanted = pacer.paddingWanted(now: now) {
                let padding = min(wanted, largestPadding)
                pacer.didPad(padding, now: now)
                departures.append(Departure(packet: nil, size: padding, cluster: pacer.cluster, at: now))
            }
            guard let next = pacer.nextDeadline(now: now), next <= end else { return }
            #expect(next > now)
            guard next > now else { return }
            now = next
        }
    }

    /// The rate of a cluster, by the rule that measures it: without its last packet.
    func rate(of cluster: Int) -> DataRate {
        let packets = departures.filter { $0.cluster == cluster }
        guard let first = packets.first, let last = packets.last else { return .zero }
        return DataRate(byteCount: packets.dropLast().reduce(0) { $0 + $1.size }, over: last.at - first.at)
    }
}

@Suite struct PacerProbeTests {
    @Test(
        "A probe of media or of padding is sent at its rate", arguments: [0, 2, 20], [900, 1800])
    func sendsAtRate(packets: Int, kilobits: Int) {
        var sender = Sender(target: 300, pacing: 400)
        sender.pacer.allowsPadding = true
        for packet in 0..<packets { sender.pacer.enqueue(packet, size: 1200, priority: .video, now: at(0)) }
        let cluster = ProbeCluster(identifier: 7, rate: .kilobitsPerSecond(kilobits))
        sender.pacer.enqueue(cluster, now: at(0))
        sender.run(from: at(0), until: at(2000))
        let probes = sender.departures.filter { $0.cluster == 7 }
        #expect(probes.count >= cluster.minimumPackets)
        #expect(probes.reduce(0) { $0 + $1.size } >= cluster.minimumBytes)
        // Two large packets do not fill it, and would be followed by smaller ones.
        #expect(probes.allSatisfy { ($0.packet == nil) == (packets < 20) })
        let rate = Double(sender.rate(of: 7).bitsPerSecond) / Double(kilobits * 1000)
        #expect(rate > 0.85 && rate < 1.15)
        #expect(sender.departures.count { $0.packet != nil } == packets)
    }

    @Test("Clusters follow one another while audio continues")
    func keepsClustersApart() {
        var sender = Sender(target: 300)
        sender.pacer.allowsPadding = true
        for number in 1...2 {
            sender.pacer.enqueue(
                ProbeCluster(identifier: number, rate: .kilobitsPerSecond(900 * number)), now: at(0))
        }
        sender.pacer.enqueue(1, size: 100, priority: .sound, now: at(0))
        sender.run(from: at(0), until: at(100))
        #expect(sender.departures.first?.packet == 1)
        let order = sender.departures.compactMap(\.cluster)
        #expect(order == order.sorted())
        #expect(Set(order) == [1, 2])
    }

    @Test("Without padding a probe waits for a packet and expires")
    func waitsForMedia() {
        var sender = Sender(target: 300)
        sender.pacer.enqueue(ProbeCluster(identifier: 1, rate: .kilobitsPerSecond(900)), now: at(0))
        #expect(sender.pacer.nextDeadline(now: at(0)) == nil)
        #expect(sender.pacer.paddingWanted(now: at(0)) == nil)
        sender.pacer.enqueue(1, size: 50, priority: .video, now: at(10))
        sender.run(from: at(10), until: at(20))
        #expect(sender.departures.map(\.cluster) == [nil])
        sender.pacer.enqueue(2, size: 1200, priority: .video, now: at(100))
        sender.run(from: at(100), until: at(110))
        #expect(sender.departures.last?.cluster == 1)
        sender.pacer.enqueue(ProbeCluster(identifier: 2, rate: .kilobitsPerSecond(900)), now: at(200))
        sender.pacer.enqueue(3, size: 1200, priority: .video, now: at(5300))
        sender.run(from: at(5300), until: at(5400))
        #expect(sender.departures.last?.cluster == nil)
        #expect(sender.pacer.probesAbandoned == 2)
    }

    @Test("A late probe is dropped, and waiting packets continue at the usual rate")
    func givesUpLate() {
        var sender = Sender(target: 300)
        sender.pacer.enqueue(ProbeCluster(identifier: 1, rate: .kilobitsPerSecond(900)), now: at(0))
        for packet in 0..<3 { sender.pacer.enqueue(packet, size: 1200, priority: .video, now: at(0)) }
        #expect(sender.pacer.pop(now: at(0)) == 0)
        #expect(sender.pacer.cluster == 1)
        #expect(sender.pacer.pop(now: at(0)) == nil)
        // The next was due after 10.7 ms.
        #expect(sender.pacer.pop(now: at(22)) == 1)
        #expect(sender.pacer.cluster == nil)
        #expect(sender.pacer.probesAbandoned == 1)
    }

    @Test("At most five probes wait")
    func boundsRequests() {
        var sender = Sender(target: 300)
        for number in 1...11 {
            sender.pacer.enqueue(ProbeCluster(identifier: number, rate: .kilobitsPerSecond(900)), now: at(0))
        }
        sender.pacer.enqueue(1, size: 1200, priority: .video, now: at(0))
        #expect(sender.pacer.pop(now: at(0)) == 1)
        #expect(sender.pacer.cluster == 7)
    }

    @Test("Padding is sent up to its rate and no further", arguments: [0, 4])
    func padsToRate(packetsEach100Milliseconds: Int) {
        var sender = Sender(target: 800, padding: 800)
        sender.largestPadding = 1200
        sender.pacer.allowsPadding = true
        var packet = 0
        for step in 0..<20 {
            for _ in 0..<packetsEach100Milliseconds {
                sender.pacer.enqueue(packet, size: 1200, priority: .video, now: at(step * 100))
                packet += 1
            }
            sender.run(from: at(step * 100), until: at(step * 100 + 99))
        }
        let bytes = sender.departures.reduce(0) { $0 + $1.size }
        let rate = DataRate(byteCount: bytes, over: .seconds(2))
        #expect(rate > .kilobitsPerSecond(700) && rate < .kilobitsPerSecond(820))
        #expect(sender.departures.count { $0.packet != nil } == packet)
        sender.pacer.setRates(target: .kilobitsPerSecond(800), now: at(2000))
        #expect(sender.pacer.nextDeadline(now: at(2000)) == nil)
    }

    @Test("The queue is full above half a second of the target, until it falls below a quarter")
    func tellsFullness() {
        var sender = Sender(target: 400)
        for packet in 0..<20 { sender.pacer.enqueue(packet, size: 1250, priority: .video, now: at(0)) }
        #expect(sender.pacer.isQueueFull == false)
        sender.pacer.enqueue(20, size: 1250, priority: .video, now: at(0))
        #expect(sender.pacer.isQueueFull == true)
        var changes: [Int] = []
        var now = at(0)
        while sender.pacer.queuedPackets > 0 {
            let before = sender.pacer.isQueueFull
            if sender.pacer.pop(now: now) == nil { now = sender.pacer.nextDeadline(now: now) ?? .distantFuture }
            if sender.pacer.isQueueFull != before { changes.append(sender.pacer.queuedBytes) }
        }
        #expect(changes == [12_500])
        // A lower target makes a queue full that was not.
        for packet in 0..<8 { sender.pacer.enqueue(packet, size: 1250, priority: .video, now: now) }
        sender.pacer.setRates(target: .kilobitsPerSecond(100), now: now)
        #expect(sender.pacer.isQueueFull == true)
    }
}

import RTCShareCongestionControl
import RTCShareWireFormat
import TestSupport
import Testing

/// A pacer run in virtual time, and what left it when.
private struct Run {
    var departures: [(packet: Int, size: Int, at: Instant)] = []
    var wakes = 0

    /// Pops all that may leave, moves on to the deadline that the pacer names, until nothing is left or `end`.
    mutating func drain(_ pacer: inout Pacer<Int>, sizes: [Int], from start: Instant, until end: Instant) -> Instant {
        var now = start
        while true {
            wakes += 1
            while let packet = pacer.pop(now: now) { departures.append((packet, sizes[packet], now)) }
            guard let next = pacer.nextDeadline(now: now), next <= end else { return now }
            now = next
        }
    }

    /// The most bytes that left in any time of this length.
    func mostBytes(in window: Duration) -> Int {
        var most = 0
        var first = 0
        var sum = 0
        for departure in departures {
            sum += departure.size
            while departure.at - departures[first].at > window {
                sum -= departures[first].size
                first += 1
            }
            most = max(most, sum)
        }
        return most
    }
}

extension Pacer.Configuration {
    /// A rate that is raised for packets to leave within half a second.
    fileprivate static var raising: Self {
        var configuration = Self()
        configuration.maximumQueueTime = .milliseconds(500)
        return configuration
    }
}

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

@Suite struct PacerTests {
    @Test("The packets sent in any period fit the pacing rate plus one group", arguments: [300, 2500, 20_000])
    func staysWithinRate(kilobits: Int) {
        let rate = DataRate.kilobitsPerSecond(kilobits)
        var pacer = Pacer<Int>(targetRate: rate)
        var generator = SeededGenerator(seed: UInt64(kilobits))
        // A second's worth at a fifth of the pacing rate, frame by frame: no frame needs a raised rate.
        var sizes: [Int] = []
        var run = Run()
        for frame in 0..<30 {
            let now = at(frame * 33)
            var left = rate.bytes(in: .milliseconds(16))
            while left > 0 {
                let size = min(left, Int.random(in: 60...1200, using: &generator))
                pacer.enqueue(sizes.count, size: size, priority: .video, now: now)
                sizes.append(size)
                left -= size
            }
            _ = run.drain(&pacer, sizes: sizes, from: now, until: at(frame * 33 + 33))
        }
        #expect(run.departures.map(\.packet) == Array(sizes.indices))
        let pacing = rate * 2.5
        let group = max(1200, pacing.bytes(in: .milliseconds(5)))
        for window in [1, 5, 20, 100, 500] {
            let window = Duration.milliseconds(window)
            #expect(run.mostBytes(in: window) <= pacing.bytes(in: window) + group + 1)
        }
    }

    @Test("One timer serves a group of packets")
    func groupsPackets() {
        var pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(10_000))
        let sizes = Array(repeating: 1200, count: 200)
        for packet in sizes.indices { pacer.enqueue(packet, size: 1200, priority: .video, now: at(0)) }
        var run = Run()
        _ = run.drain(&pacer, sizes: sizes, from: at(0), until: at(1000))
        #expect(run.departures.count == 200)
        // 25 Mbit/s carry 15 625 bytes in 5 ms: 13 packets a group.
        #expect(run.wakes <= 200 / 13 + 2)
        let largest = Dictionary(grouping: run.departures, by: \.at).values.map(\.count).max()
        #expect(largest == 13)
    }

    @Test("A group has at most sixteen packets, however high the rate")
    func boundsGroup() {
        var pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(400_000))
        for packet in 0..<100 { pacer.enqueue(packet, size: 1200, priority: .video, now: at(0)) }
        var count = 0
        while pacer.pop(now: at(0)) != nil { count += 1 }
        #expect(count == 16)
    }

    @Test("A key frame is sent within the longest queue time, at an even pace", arguments: [100, 300, 1000])
    func keyFrameLeavesInTime(kilobits: Int) throws {
        var pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(kilobits), configuration: .raising)
        let sizes = Array(repeating: 1200, count: 250)
        for packet in sizes.indices { pacer.enqueue(packet, size: 1200, priority: .video, now: at(0)) }
        #expect(pacer.queuedBytes == 300_000)
        var run = Run()
        _ = run.drain(&pacer, sizes: sizes, from: at(0), until: at(2000))
        let last = try #require(run.departures.last)
        #expect(run.departures.count == 250)
        #expect(last.at <= at(500))
        #expect(last.at >= at(450))
        let drain = DataRate(byteCount: 300_000, over: .milliseconds(500))
        #expect(run.mostBytes(in: .milliseconds(50)) <= drain.bytes(in: .milliseconds(50)) + 3001)
        #expect(pacer.pacingRate == max(.kilobitsPerSecond(300), .kilobitsPerSecond(kilobits) * 2.5))
    }

    @Test(
        "Every packet of a growing backlog meets the longest queue time, apart from packets that overtake it",
        arguments: [0, 0.2])
    func growingBacklogLeavesInTime(overtaking: Double) {
        var pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(100), configuration: .raising)
        var generator = SeededGenerator(seed: 7)
        var sizes: [Int] = []
        var queued: [Instant] = []
        var run = Run()
        for step in 0..<100 {
            let now = at(step * 10)
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                let isRetransmission = generator.chance(overtaking)
                pacer.enqueue(
                    sizes.count, size: 1100, priority: isRetransmission ? .retransmission : .video, now: now)
                sizes.append(1100)
                queued.append(now)
            }
            _ = run.drain(&pacer, sizes: sizes, from: now, until: at(step * 10 + 10))
        }
        _ = run.drain(&pacer, sizes: sizes, from: at(1000), until: at(3000))
        #expect(run.departures.count == sizes.count)
        let longest = run.departures.map { $0.at - queued[$0.packet] }.max() ?? .zero
        #expect(longest <= .milliseconds(505) * (1 + overtaking))
    }

    @Test("Packets are sent by priority, and in the order of queueing within one")
    func keepsPriorities() {
        var configuration = Pacer<String>.Configuration()
        configuration.burstDuration = .seconds(1)
        var pacer = Pacer<String>(targetRate: .kilobitsPerSecond(10_000), configuration: configuration)
        pacer.enqueue("video 1", size: 10, priority: .video, now: at(0))
        pacer.enqueue("video 2", size: 10, priority: .video, now: at(0))
        pacer.enqueue("retransmission", size: 10, priority: .retransmission, now: at(0))
        pacer.enqueue("sound", size: 10, priority: .sound, now: at(0))
        var order: [String] = []
        while let packet = pacer.pop(now: at(0)) { order.append(packet) }
        #expect(order == ["sound", "retransmission", "video 1", "video 2"])
    }

    @Test("At low rates two full packets are sent together if they take no longer than the longest burst")
    func twoPacketsLeaveTogether() {
        // 1 Mbit/s carries two packets in 19.2 ms.
        var pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(400))
        for index in 0..<3 { pacer.enqueue(index, size: 1200, priority: .video, now: at(0)) }
        #expect(pacer.pop(now: at(0)) == 0)
        #expect(pacer.pop(now: at(0)) == 1)
        #expect(pacer.pop(now: at(0)) == nil)
        #expect(pacer.nextDeadline(now: at(0)) == Instant(nanoseconds: 19_200_000))
        #expect(pacer.pop(now: at(19)) == nil)
        #expect(pacer.pop(now: at(20)) == 2)

        // 500 kbit/s carries one.
        pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(200))
        for index in 0..<2 { pacer.enqueue(index, size: 1200, priority: .video, now: at(0)) }
        #expect(pacer.pop(now: at(0)) == 0)
        #expect(pacer.pop(now: at(0)) == nil)
        #expect(pacer.pop(now: at(20)) == 1)
    }

    @Test("Audio never waits, and video leaves audio its share")
    func soundNeverWaits() {
        var configuration = Pacer<Int>.Configuration()
        configuration.leastBurst = 0
        var pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(400), configuration: configuration)
        pacer.enqueue(0, size: 1200, priority: .video, now: at(0))
        pacer.enqueue(1, size: 1200, priority: .video, now: at(0))
        #expect(pacer.pop(now: at(0)) == 0)
        #expect(pacer.pop(now: at(0)) == nil)
        // 1 Mbit/s: 9.6 ms for the first packet.
        #expect(pacer.nextDeadline(now: at(0)) == Instant(nanoseconds: 9_600_000))
        pacer.enqueue(2, size: 100, priority: .sound, now: at(1))
        #expect(pacer.nextDeadline(now: at(1)) == at(1))
        #expect(pacer.pop(now: at(1)) == 2)
        #expect(pacer.pop(now: at(1)) == nil)
        #expect(pacer.nextDeadline(now: at(1)) == Instant(nanoseconds: 10_400_000))
        #expect(pacer.pop(now: Instant(nanoseconds: 10_399_999)) == nil)
        #expect(pacer.pop(now: Instant(nanoseconds: 10_400_000)) == 1)
        #expect(pacer.nextDeadline(now: at(11)) == nil)
    }

    @Test("Waiting packets are reported in bytes and time, and counted when discarded")
    func reportsQueue() {
        var pacer = Pacer<Int>(targetRate: .kilobitsPerSecond(400))
        #expect(pacer.queueDuration == .zero)
        for packet in 0..<4 { pacer.enqueue(packet, size: 1250, priority: .video, now: at(packet)) }
        #expect(pacer.queuedPackets == 4)
        #expect(pacer.queueDuration == .milliseconds(40))
        #expect(pacer.pop(now: at(10)) == 0)
        pacer.removeAll()
        #expect(pacer.packetsDiscarded == 3)
        #expect(pacer.queuedBytes == 0)
        #expect(pacer.pop(now: at(1000)) == nil)
        #expect(pacer.nextDeadline(now: at(1000)) == nil)
    }

    @Test("Extreme sizes, rates and times lose no packet and set no deadline in the past")
    func survivesExtremes() {
        var pacer = Pacer<Int>(targetRate: .bitsPerSecond(Int64.max))
        for packet in 0..<64 { pacer.enqueue(packet, size: .max / 128, priority: .sound, now: at(0)) }
        for packet in 0..<64 { #expect(pacer.pop(now: at(0)) == packet) }
        #expect(pacer.queuedPackets == 0 && pacer.queuedBytes == 0)
        pacer.setRates(target: .zero, now: .distantFuture)
        pacer.setRates(
            target: .bitsPerSecond(Int64.max), pacing: .zero, padding: .bitsPerSecond(Int64.max),
            now: Instant(nanoseconds: .min))
        pacer.allowsPadding = true
        pacer.enqueue(
            ProbeCluster(identifier: 1, rate: .bitsPerSecond(Int64.max), duration: .seconds(1 << 40)), now: at(0))
        pacer.enqueue(ProbeCluster(identifier: 2, rate: .zero), now: at(0))
        for _ in 0..<10 {
            if let padding = pacer.paddingWanted(now: at(0)) {
                #expect(padding > 0)
                pacer.didPad(.max, now: at(0))
            }
            #expect(pacer.nextDeadline(now: .distantFuture) ?? .distantFuture >= .distantFuture)
        }
        #expect(pacer.probePackets > 0)
        pacer.enqueue(0, size: -5, priority: .video, now: Instant(nanoseconds: .min))
        #expect(pacer.queuedPackets == 1 && pacer.queuedBytes == 0)
        // Time has come to its end, and what was padded can't drain any more: the packet waits, and is counted.
        #expect(pacer.pop(now: Instant(nanoseconds: .min)) == nil)
        #expect(pacer.nextDeadline(now: .distantFuture) == .distantFuture)
        pacer.removeAll()
        #expect(pacer.queuedPackets == 0 && pacer.packetsDiscarded == 1)
    }
}

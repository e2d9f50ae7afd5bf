import RTCShareMedia
import Testing

@testable import RTCShareAudioCoding

/// Drives a buffer in virtual time: packets of 20 ms at times of the test's choice, and a player who comes each 5 ms.
private struct Run {
    /// One letter a step: p packet, r recover, c conceal, s silence.
    struct Played: Equatable {
        let letter: Character
        /// The payload's number, or 0.
        let number: UInt8
        let due: Int
    }

    var buffer = AudioJitterBuffer()
    var now = 0
    private(set) var played: [Played] = []
    /// The clock and the timestamps begin anywhere.
    private let start: Duration = .seconds(1000)
    var firstTimestamp: Int64 = 777_000

    var letters: String { String(played.map(\.letter)) }
    var numbers: [UInt8] { played.filter { $0.letter == "p" }.map(\.number) }
    var statistics: JitterBufferStatistics { buffer.statistics }
    /// Each step begins where the one before ended.
    var isUnbroken: Bool { zip(played, played.dropFirst()).allSatisfy { $1.due - $0.due == 20 } }

    /// A packet comes at `milliseconds`; without `sent` its sound is the `number`th 20 ms.
    mutating func insert(
        _ number: Int, at milliseconds: Int, sent: Int? = nil, repeating: Bool = false, sampleCount: Int = 960
    ) {
        run(until: milliseconds)
        // RFC 6716 §3.1: 0x48 is wideband speech of 20 ms; in the byte after it, the second bit says "repeats".
        let payload: [UInt8] = [repeating ? 0x48 : 0x80, repeating ? 0xC0 : 0, UInt8(truncatingIfNeeded: number)]
        buffer.insert(
            sequenceNumber: Int64(number), timestamp: firstTimestamp + Int64(sent ?? number * 20) * 48,
            payload: payload,
            sampleCount: sampleCount, now: start + .milliseconds(milliseconds))
    }

    /// The player comes each 5 ms, just before a packet of the same instant does.
    mutating func run(until end: Int) {
        while now < end {
            pop()
            now += 5
        }
    }

    mutating func pop() {
        for _ in 0..<1000 {
            let step = buffer.pop(now: start + .milliseconds(now))
            let due = Int(buffer.stepDue / 48) - 1_000_000
            switch step {
            case .wait: return
            case .packet(let payload, _): played.append(Played(letter: "p", number: payload[2], due: due))
            case .recover(let payload, _): played.append(Played(letter: "r", number: payload[2], due: due))
            case .conceal: played.append(Played(letter: "c", number: 0, due: due))
            case .silence: played.append(Played(letter: "s", number: 0, due: due))
            }
        }
        Issue.record("the buffer never says to wait")
    }
}

@Suite("AudioJitterBuffer")
struct AudioJitterBufferTests {
    @Test("Packets in order are played in order at intervals of 20 ms")
    func steady() {
        var run = Run()
        #expect(run.buffer.pop(now: .seconds(1000)) == .wait(until: nil))
        for number in 0..<50 { run.insert(number, at: number * 20) }
        run.run(until: 1020)
        #expect(run.letters == String(repeating: "p", count: 49))
        #expect(run.numbers == Array(0..<49))
        #expect(run.played.map(\.due) == (0..<49).map { 40 + $0 * 20 })
        #expect(run.statistics.totalSamplesReceived == 49 * 960)
        #expect(run.statistics.jitterBufferEmittedCount == 49 * 960)
        #expect(run.statistics.jitterBufferDelay == .milliseconds(40) * 49 * 960)
        #expect(run.statistics.concealedSamples == 0)
        #expect(run.statistics.packetsDiscarded == 0)
        #expect(run.buffer.targetDelay == .milliseconds(20))
        #expect(run.buffer.currentDelay == .milliseconds(40))
        #expect(run.buffer.surplus == 960)
    }

    @Test(
        "Packets that arrive out of order within the delay are reordered",
        arguments: [[0, 2, 1, 3, 4, 5], [1, 0, 2, 3, 5, 4], [0, 1, 2, 4, 3, 5]])
    func reordering(order: [Int]) {
        var run = Run()
        for (index, number) in order.enumerated() { run.insert(number, at: index * 20) }
        run.insert(6, at: 120)
        run.run(until: 200)
        #expect(run.numbers.starts(with: [0, 1, 2, 3, 4, 5, 6]))
        #expect(run.letters.hasPrefix("ppppppp"))
        #expect(run.statistics.packetsDiscarded == 0)
    }

    @Test("A duplicate packet is played once and not counted as discarded")
    func duplicates() {
        var run = Run()
        for number in 0..<20 {
            run.insert(number, at: number * 20)
            run.insert(number, at: number * 20)
            if number > 5 { run.insert(number - 5, at: number * 20) }
        }
        #expect(run.letters == String(repeating: "p", count: 17))
        #expect(run.statistics.packetsDiscarded == 0)
    }

    @Test("A lost packet is concealed, or recovered when the next packet repeats it")
    func loss() {
        for repeating in [false, true] {
            var run = Run()
            for number in 0..<30 where number != 10 {
                run.insert(number, at: number * 20, repeating: repeating)
            }
            #expect(run.letters.hasPrefix("pppppppppp" + (repeating ? "r" : "c") + "pppppppp"))
            #expect(run.statistics.concealedSamples == (repeating ? 0 : 960))
            #expect(run.statistics.concealmentEvents == (repeating ? 0 : 1))
            #expect(run.statistics.silentConcealedSamples == 0)
            #expect(run.statistics.fecPacketsReceived == (repeating ? 29 : 0))
            #expect(run.statistics.totalSamplesReceived == run.played.count * 960)
        }
    }

    @Test("The last packet of a burst of losses is recovered, and the burst counts as one event")
    func burst() {
        var run = Run()
        for number in 0..<30 where !(10..<13).contains(number) { run.insert(number, at: number * 20, repeating: true) }
        #expect(run.letters.hasPrefix("ppppppppppccrppppp"))
        #expect(run.statistics.concealedSamples == 2 * 960)
        #expect(run.statistics.concealmentEvents == 1)
        #expect(run.statistics.silentConcealedSamples == 0)
    }

    @Test("A pause of the sender is silence, not loss")
    func pause() {
        var run = Run()
        // Numbers go on, timestamps leave 300 ms out, and the packet after it comes when it is sent.
        for number in 0..<20 { run.insert(number, at: number * 20) }
        for number in 20..<40 { run.insert(number, at: number * 20 + 300, sent: number * 20 + 300) }
        #expect(run.numbers.starts(with: 0..<38))
        #expect(run.statistics.concealmentEvents == 0)
        #expect(run.statistics.packetsDiscarded == 0)
        #expect(run.statistics.concealedSamples == run.statistics.silentConcealedSamples)
        #expect(run.statistics.concealedSamples > 0)
        // The wait was 40 ms where 20 are enough; nobody hears that the pause is shorter by that.
        #expect(run.statistics.removedSamplesForAcceleration == 960)
        #expect(run.buffer.currentDelay == .milliseconds(20))
    }

    @Test("A packet lost before a pause is one event, at the beginning of the pause")
    func lossAndPause() {
        var run = Run()
        for number in 0..<20 { run.insert(number, at: number * 20) }
        for number in 21..<40 { run.insert(number, at: number * 20 + 300, sent: number * 20 + 300) }
        #expect(run.statistics.concealmentEvents == 1)
        #expect(run.numbers.starts(with: Array(0..<20) + Array(21..<37)))
    }

    @Test("When packets stop, half a second is concealed, and silence follows until they return")
    func outage() {
        var run = Run()
        for number in 0..<20 { run.insert(number, at: number * 20) }
        for number in 120..<140 { run.insert(number, at: number * 20) }
        let letters = run.letters
        #expect(letters.hasPrefix(String(repeating: "p", count: 20) + String(repeating: "c", count: 25) + "s"))
        #expect(!letters.drop { $0 != "s" }.drop { $0 == "s" }.contains { $0 != "p" })
        #expect(run.numbers.starts(with: Array(0..<20) + Array(120..<137)))
        #expect(run.statistics.concealmentEvents == 1)
        #expect(run.statistics.concealedSamples == 100 * 960)
        #expect(run.statistics.silentConcealedSamples == 75 * 960)
    }

    @Test("A packet after its concealment counts as discarded, and few of them change nothing")
    func late() {
        var run = Run()
        for number in 0..<150 where number != 100 { run.insert(number, at: number * 20) }
        var late = Run()
        for number in 0..<150 {
            if number == 100 { continue }
            late.insert(number, at: number * 20)
            if number == 106 { late.insert(100, at: number * 20 + 5) }
        }
        #expect(late.statistics.packetsDiscarded == 1)
        #expect(late.letters == run.letters)
        #expect(late.buffer.targetDelay == run.buffer.targetDelay)
    }

    @Test("The delay follows the jitter up and down between 20 ms and 1 s")
    func adaptation() {
        var generator = SeededGenerator(seed: 3)
        var run = Run()
        var number = 0
        func travel(_ count: Int, jitter: Int, _ generator: inout SeededGenerator) {
            // Packets come in the order of their arrival, which is not that of their numbers.
            var arrivals = (number..<(number + count)).map {
                ($0, $0 * 20 + Int.random(in: 0...jitter, using: &generator))
            }
            arrivals.sort { $0.1 < $1.1 }
            for (number, time) in arrivals { run.insert(number, at: max(time, run.now)) }
            number += count
        }
        travel(250, jitter: 0, &generator)
        #expect(run.buffer.targetDelay == .milliseconds(20))
        travel(500, jitter: 100, &generator)
        #expect((.milliseconds(90) ... .milliseconds(115)).contains(run.buffer.targetDelay))
        let before = run.statistics
        travel(500, jitter: 100, &generator)
        let discarded = run.statistics.packetsDiscarded - before.packetsDiscarded
        #expect(discarded < 25, "\(discarded) of 500 at a wait of \(run.buffer.currentDelay)")
        travel(500, jitter: 1500, &generator)
        #expect(run.buffer.targetDelay == .seconds(1))
        travel(1500, jitter: 0, &generator)
        #expect(run.buffer.targetDelay == .milliseconds(20))
        #expect(run.buffer.currentDelay <= .milliseconds(310))
    }

    @Test(
        "A packet after its time is played late when nothing newer was played",
        arguments: [false, true])
    func overdue(isReversed: Bool) {
        var run = Run()
        for number in 0..<20 { run.insert(number, at: number * 20) }
        let held = isReversed ? Array((20...26).reversed()) : Array(20...26)
        for number in held { run.insert(number, at: 520) }
        for number in 27..<40 { run.insert(number, at: number * 20) }
        #expect(run.letters.hasPrefix(String(repeating: "p", count: 20) + "cccc" + String(repeating: "p", count: 13)))
        #expect(run.numbers.starts(with: 0..<33))
        #expect(run.statistics.packetsDiscarded == 0)
        #expect(run.statistics.concealmentEvents == 1)
        #expect(run.statistics.insertedSamplesForDeceleration == 4 * 960)
        #expect(run.buffer.currentDelay == .milliseconds(120))
    }

    @Test("Delayed packets lengthen the playout delay instead of being lost")
    func growth() {
        var run = Run()
        for number in 0..<100 { run.insert(number, at: number * 20) }
        // From now on every packet takes 70 ms longer.
        for number in 100..<400 { run.insert(number, at: number * 20 + 70) }
        #expect(run.statistics.packetsDiscarded < 15)
        #expect(run.statistics.insertedSamplesForDeceleration >= 20 * 48)
        #expect(run.letters.suffix(200).allSatisfy { $0 == "p" })
    }

    @Test("A restarted stream is played from its restart", arguments: [-50_000_000, 50_000_000])
    func restart(jump: Int64) {
        for numberJump in [0, 5000] {
            var run = Run()
            for number in 0..<20 { run.insert(number, at: number * 20) }
            run.firstTimestamp += jump
            for number in 20..<60 { run.insert(number + numberJump, at: number * 20, sent: number * 20) }
            #expect(run.numbers.suffix(30).elementsEqual(run.numbers.suffix(30).sorted()) || numberJump > 0)
            #expect(run.letters.suffix(35).allSatisfy { $0 == "p" })
            #expect(run.statistics.packetsDiscarded <= 3)
            #expect(run.isUnbroken)
        }
    }

    @Test("A packet from before a restart that arrives after it does not undo the restart")
    func straggler() {
        var run = Run()
        for number in 0..<20 { run.insert(number, at: number * 20) }
        let old = run.firstTimestamp
        run.firstTimestamp += 10_000_000
        run.insert(21, at: 420)
        run.firstTimestamp = old
        run.insert(20, at: 421)
        run.firstTimestamp += 10_000_000
        for number in 22..<60 { run.insert(number, at: number * 20) }
        #expect(run.numbers.suffix(30).elementsEqual(run.numbers.suffix(30).sorted()))
        #expect(run.letters.suffix(30).allSatisfy { $0 == "p" })
    }

    @Test("Timestamps that stood still during a pause count as a restart")
    func stoppedTimestamps() {
        for pause in [500, 5000] {
            var run = Run()
            for number in 0..<20 { run.insert(number, at: number * 20) }
            for number in 20..<100 { run.insert(number, at: number * 20 + pause) }
            #expect(run.letters.suffix(50).allSatisfy { $0 == "p" }, "\(run.letters)")
            #expect(run.statistics.packetsDiscarded < 15)
            #expect(run.isUnbroken)
        }
    }

    @Test("The delay is short again after delayed packets arrived at once")
    func heldUp() {
        for hold in [400, 1500, 4000] {
            var run = Run()
            for number in 0..<100 { run.insert(number, at: number * 20) }
            let end = 2000 + hold
            for number in 100..<(100 + hold / 20) { run.insert(number, at: end) }
            for number in (100 + hold / 20)..<(300 + hold / 20) { run.insert(number, at: number * 20) }
            #expect(run.buffer.currentDelay <= .milliseconds(1020), "\(hold)")
            for number in (300 + hold / 20)..<(1200 + hold / 20) { run.insert(number, at: number * 20) }
            #expect(run.buffer.currentDelay <= .milliseconds(310), "\(hold)")
            #expect(run.letters.suffix(100).allSatisfy { $0 == "p" }, "\(hold)")
            #expect(run.isUnbroken, "\(hold)")
        }
    }

    @Test("Audio that arrives at once is played, also at the beginning", arguments: [0, 100])
    func atOnce(before: Int) {
        var run = Run()
        for number in 0..<before { run.insert(number, at: number * 20) }
        let arrival = before * 20 + (before == 0 ? 0 : 1180)
        for number in before..<(before + 60) { run.insert(number, at: arrival) }
        run.run(until: arrival + 1000)
        let letters = run.letters.suffix(45)
        #expect(letters.allSatisfy { $0 == "p" }, "\(run.letters)")
        #expect(run.statistics.packetsDiscarded <= 15)
    }

    @Test("Playback after an absence continues with the newest packets")
    func absence() {
        var run = Run()
        for number in 0..<20 { run.insert(number, at: number * 20) }
        for number in 20..<500 {
            // Nobody pops for ten seconds.
            run.now = number * 20
            run.insert(number, at: number * 20)
        }
        let before = run.played.count
        for number in 500..<600 { run.insert(number, at: number * 20) }
        #expect(run.played.count - before < 110)
        #expect(run.letters.suffix(90).allSatisfy { $0 == "p" })
        #expect(run.statistics.packetsDiscarded > 200)
    }

    @Test("Packets of other or changing lengths are played without a gap")
    func lengths() {
        var run = Run()
        var time = 0
        for number in 0..<100 {
            let milliseconds = [10, 20, 40, 60][number / 25]
            run.insert(number, at: time + milliseconds, sent: time, sampleCount: milliseconds * 48)
            time += milliseconds
        }
        #expect(run.numbers.starts(with: 0..<98))
        #expect(run.statistics.packetsDiscarded == 0)
    }

    @Test("Acceleration and deceleration move the next due time")
    func scaling() {
        var run = Run()
        run.insert(0, at: 0)
        run.insert(1, at: 20)
        run.run(until: 45)
        run.buffer.shorten(by: 240)
        #expect(run.statistics.removedSamplesForAcceleration == 240)
        #expect(run.buffer.nextDue == .milliseconds(1_000_055))
        run.buffer.lengthen(by: 480)
        #expect(run.statistics.insertedSamplesForDeceleration == 480)
        #expect(run.buffer.nextDue == .milliseconds(1_000_065))
    }

    @Test("Absurd values are counted, are never played and never trap")
    func nonsense() {
        var buffer = AudioJitterBuffer()
        let extremes: [Int64] = [.min, -1, 0, 1, .max]
        for number in extremes {
            for timestamp in extremes {
                for count in [Int.min, 0, 960, 5760, 5761, .max] {
                    for now in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .seconds(1)] {
                        buffer.insert(
                            sequenceNumber: number, timestamp: timestamp, payload: [0x80], sampleCount: count, now: now)
                        _ = buffer.pop(now: now)
                        _ = buffer.pop(now: .seconds(5))
                    }
                }
            }
        }
        #expect(buffer.statistics.packetsDiscarded > 0)
    }

    @Test("Playback of packets in any order ends, stays within the capacity and plays each sample once")
    func chaos() {
        for seed in 1...40 as ClosedRange<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var buffer = AudioJitterBuffer()
            var now: Duration = .seconds(5)
            var sum = 0
            for _ in 0..<600 {
                now += .milliseconds(Int.random(in: 0...30, using: &generator))
                buffer.insert(
                    sequenceNumber: Int64.random(in: 0...700, using: &generator),
                    timestamp: Int64.random(in: 0...400_000, using: &generator),
                    payload: [UInt8.random(in: 0...255, using: &generator), 0xFF],
                    sampleCount: Int.random(in: 1...5760, using: &generator), now: now)
                #expect(buffer.packets.count <= AudioJitterBuffer.capacity)
                var steps = 0
                steps: while steps < 20_000 {
                    steps += 1
                    switch buffer.pop(now: now) {
                    case .wait: break steps
                    case .packet(_, let count), .recover(_, let count), .conceal(let count), .silence(let count):
                        #expect(count > 0)
                        sum += count
                    }
                }
                #expect(steps < 20_000)
            }
            #expect(buffer.statistics.totalSamplesReceived == sum)
            #expect(buffer.statistics.silentConcealedSamples <= buffer.statistics.concealedSamples)
        }
    }
}

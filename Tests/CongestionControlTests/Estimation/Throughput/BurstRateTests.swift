import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCShareCongestionControl

@Suite struct BurstRateTests {
    /// Pictures that leave one after the other, half a second apart, over a path that carries so much.
    private struct Path {
        var rates = BurstRate()
        var capacity: DataRate
        var now = Instant(nanoseconds: 5_000_000_000)
        private var number: UInt16 = 65_500

        init(_ kilobitsPerSecond: Int) {
            capacity = .kilobitsPerSecond(kilobitsPerSecond)
        }

        /// Sends a picture of packets of 1000 bytes at this rate, and gives feedback on it; `lost` of them don't arrive.
        mutating func send(_ packets: Int, at rate: DataRate, lost: Int = 0) {
            var results: [TransportFeedbackTracker.PacketResult] = []
            var free = now
            var sent = now
            for index in 0..<packets {
                free = max(free, sent).advanced(by: capacity.duration(ofBytes: 1000))
                number &+= 1
                results.append(
                    .init(
                        number: TransportSequenceNumber(number), size: 1000, sent: sent,
                        arrival: index * lost / packets != (index + 1) * lost / packets
                            ? nil : .nanoseconds(free.nanoseconds) + .seconds(7)))
                sent = sent.advanced(by: rate.duration(ofBytes: 1000))
            }
            now = now.advanced(by: .milliseconds(500))
            // Feedback comes in parts, and in any order within each.
            for start in stride(from: 0, to: results.count, by: 20) {
                rates.receive(results[start..<min(start + 20, results.count)].reversed(), now: now)
            }
        }

        /// The first packet of the next picture ends the one before.
        mutating func rate() -> DataRate? {
            send(1, at: capacity)
            return rates.rate(now: now)
        }
    }

    private func known(_ path: inout Path) -> DataRate { path.rate() ?? .zero }

    @Test("A burst that arrives as fast as it was sent doubles the next burst's rate")
    func grows() throws {
        var path = Path(100_000)
        let unknown = path.rate()
        #expect(unknown == nil)
        for rate in [5000, 10_000, 20_000] {
            path.send(60, at: .kilobitsPerSecond(rate))
            let measured = path.rate()
            let next = try #require(measured)
            #expect(abs(Int(next.bitsPerSecond) - rate * 2000) < rate * 40)
        }
        // What leaves slowly says nothing else.
        path.send(60, at: .kilobitsPerSecond(3000))
        let slow = known(&path)
        #expect(slow > .kilobitsPerSecond(39_000))
    }

    @Test("A burst that arrives more slowly has filled the path, and the next burst is slower than that")
    func full() throws {
        var path = Path(8000)
        path.send(60, at: .kilobitsPerSecond(6000))
        let grown = known(&path)
        #expect(grown > .kilobitsPerSecond(11_000))
        path.send(60, at: .kilobitsPerSecond(12_000))
        let measured = path.rate()
        let found = try #require(measured)
        #expect(found > .kilobitsPerSecond(6500) && found < .kilobitsPerSecond(7000))
        // As often as it is tried.
        path.send(60, at: found)
        let again = known(&path)
        #expect(again <= .kilobitsPerSecond(7000))
    }

    @Test("A receiver that was busy once does not mark the path as full for good")
    func busyReceiver() {
        var path = Path(5000)
        path.send(60, at: .kilobitsPerSecond(12_000))
        let full = known(&path)
        #expect(full > .zero && full < .kilobitsPerSecond(5000))
        path.capacity = .kilobitsPerSecond(100_000)
        path.now = path.now.advanced(by: BurstRate.patience)
        var rates = [full]
        for _ in 0..<6 {
            path.send(60, at: rates[rates.count - 1])
            rates.append(known(&path))
        }
        // A little at first, and then as ever.
        #expect(rates == rates.sorted() && rates[1] < full * 1.3)
        #expect(rates[6] > .kilobitsPerSecond(40_000), "\(rates)")
    }

    @Test("Few packets measure nothing, and lost ones discard the measurement")
    func unclear() {
        var path = Path(100_000)
        path.send(BurstRate.leastPackets - 1, at: .kilobitsPerSecond(5000))
        let few = path.rate()
        #expect(few == nil)
        path.send(BurstRate.leastPackets, at: .kilobitsPerSecond(5000))
        let small = known(&path)
        #expect(small > .kilobitsPerSecond(9000))
        path.send(60, at: .kilobitsPerSecond(5000), lost: 2)
        let kept = known(&path)
        #expect(kept > .zero)
        path.send(60, at: .kilobitsPerSecond(5000), lost: 10)
        let lost = path.rate()
        #expect(lost == nil)
    }

    @Test("Few packets that arrive slowly do not indicate a full path")
    func slow() {
        var path = Path(5000)
        path.send(BurstRate.leastPacketsOfFull - 1, at: .kilobitsPerSecond(12_000))
        let few = path.rate()
        #expect(few == nil)
        path.send(BurstRate.leastPacketsOfFull, at: .kilobitsPerSecond(12_000))
        let found = known(&path)
        #expect(found > .zero && found < .kilobitsPerSecond(5000))
    }

    @Test("Old measurements expire")
    func old() {
        var path = Path(100_000)
        path.send(60, at: .kilobitsPerSecond(5000))
        let before = known(&path)
        #expect(before > .zero)
        path.now = path.now.advanced(by: BurstRate.lifetime)
        #expect(path.rates.rate(now: path.now) == nil)
    }
}

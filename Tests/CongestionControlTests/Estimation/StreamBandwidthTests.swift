import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The bandwidth of a TCP connection, from the bytes that its peer acknowledges.
@Suite struct StreamBandwidthTests {
    /// A connection that carries a rate, and a sender that writes what it is told.
    private struct Connection {
        var bandwidth = StreamBandwidth(
            start: .kilobitsPerSecond(1000), minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(10_000))
        var capacity: DataRate
        var roundTripTime = Duration.milliseconds(40)
        var window = 1 << 20
        private var now = Instant(nanoseconds: 0)
        private var acknowledged = 0.0
        private var waiting = 0.0

        init(kilobitsPerSecond: Int) { capacity = .kilobitsPerSecond(kilobitsPerSecond) }

        /// Writes `share` of the target for a time, with a pause of the acknowledgments after each `stall`.
        mutating func run(for time: Duration, using share: Double, stallingEach stall: Duration? = nil) {
            let step = StreamBandwidth.reportInterval
            var stalled = 0.0
            for index in 0..<Int(time / step) {
                now = now.advanced(by: step)
                waiting += Double((bandwidth.target * share).bytes(in: step))
                let isStalled =
                    stall.map { (step * index).seconds.truncatingRemainder(dividingBy: $0.seconds) < 0.1 } ?? false
                let carried = min(waiting, Double(capacity.bytes(in: step)) + (isStalled ? 0 : stalled))
                stalled = isStalled ? stalled + carried : 0
                if !isStalled {
                    waiting -= carried
                    acknowledged += carried
                }
                report(unsent: Int(waiting))
            }
        }

        /// Acknowledges nothing for a time while bytes wait, and then everything.
        mutating func stall(for time: Duration) {
            let carried = Double(capacity.bytes(in: time))
            for _ in 0..<Int(time / StreamBandwidth.reportInterval) {
                now = now.advanced(by: StreamBandwidth.reportInterval)
                report(unsent: 5000)
            }
            acknowledged += carried
            waiting = 0
            now = now.advanced(by: StreamBandwidth.reportInterval)
            report(unsent: 0)
        }

        private mutating func report(unsent: Int) {
            bandwidth.receive(
                StreamProgress(
                    acknowledged: UInt64(acknowledged), delivered: UInt64(acknowledged), unsent: unsent, window: window,
                    roundTripTime: roundTripTime, minimumRoundTripTime: .milliseconds(40)), now: now)
        }

        var target: Double { Double(bandwidth.target.bitsPerSecond) / 1000 }
        var queue: Duration { capacity.duration(ofBytes: Int(waiting)) }
    }

    @Test(
        "A target in use grows until bytes wait, and then stays below the rate that TCP carries",
        arguments: [500, 2000, 6000])
    func convergence(kilobitsPerSecond: Int) {
        var connection = Connection(kilobitsPerSecond: kilobitsPerSecond)
        connection.run(for: .seconds(10), using: 1)
        for _ in 0..<40 {
            connection.run(for: .milliseconds(500), using: 1)
            #expect((0.6...1.1).contains(connection.target / Double(kilobitsPerSecond)), "\(connection.target)")
            #expect(connection.queue < .milliseconds(200), "\(connection.queue)")
        }
    }

    @Test("A target that is not in use stays")
    func idle() {
        var connection = Connection(kilobitsPerSecond: 5000)
        connection.run(for: .seconds(20), using: 0.3)
        #expect(connection.target == 1000)
    }

    @Test("A path that carries less lowers the target within half a second, and a wider one raises it again")
    func changes() {
        var connection = Connection(kilobitsPerSecond: 4000)
        connection.run(for: .seconds(10), using: 1)
        connection.capacity = .kilobitsPerSecond(800)
        connection.run(for: .milliseconds(600), using: 1)
        #expect(connection.target < 1600)
        connection.run(for: .seconds(3), using: 1)
        #expect(connection.target < 900)
        connection.capacity = .kilobitsPerSecond(4000)
        connection.run(for: .seconds(10), using: 1)
        #expect(connection.target > 2400)
    }

    @Test("Retransmissions, which delay acknowledgments, lower the target a little")
    func retransmissions() {
        var connection = Connection(kilobitsPerSecond: 2000)
        connection.run(for: .seconds(20), using: 1, stallingEach: .seconds(1))
        #expect((1000...2200).contains(connection.target), "\(connection.target)")
    }

    @Test("A retransmission timeout, after which much is acknowledged at once, hardly lowers the target")
    func stalls() {
        var connection = Connection(kilobitsPerSecond: 8000)
        connection.run(for: .seconds(15), using: 1)
        let before = connection.target
        connection.stall(for: .milliseconds(450))
        #expect(connection.target >= before / 2, "\(connection.target) after \(before)")
        connection.run(for: .seconds(2), using: 1)
        #expect(connection.target >= before * 0.7, "\(connection.target) after \(before)")
    }

    @Test("If TCP has filled a queue on the path, the target falls further below its rate")
    func queuedPath() {
        var targets: [Double] = []
        for roundTripTime in [Duration.milliseconds(60), .milliseconds(300)] {
            var connection = Connection(kilobitsPerSecond: 2000)
            connection.roundTripTime = roundTripTime
            connection.run(for: .milliseconds(2000), using: 3)
            targets.append(connection.target)
        }
        #expect((1750...1850).contains(targets[0]) && (1450...1550).contains(targets[1]), "\(targets)")
    }

    @Test("A congestion window that a loss makes smaller lowers the target with the next report, until it grows again")
    func window() {
        var connection = Connection(kilobitsPerSecond: 2000)
        connection.run(for: .seconds(10), using: 1)
        let before = connection.target
        connection.window = 5000
        connection.run(for: StreamBandwidth.reportInterval, using: 1)
        #expect((899...901).contains(connection.target), "\(connection.target)")
        connection.window = 1 << 20
        connection.run(for: StreamBandwidth.reportInterval, using: 1)
        #expect(connection.target > before * 0.7, "\(connection.target) after \(before)")
    }

    @Test("The target stays within its bounds")
    func bounds() {
        var connection = Connection(kilobitsPerSecond: 50_000)
        connection.run(for: .seconds(20), using: 1)
        #expect(connection.target == 10_000)
        connection.bandwidth.setBounds(minimum: .kilobitsPerSecond(30), maximum: .kilobitsPerSecond(2500))
        #expect(connection.target == 2500)
        connection.capacity = .kilobitsPerSecond(1)
        connection.run(for: .seconds(5), using: 1)
        #expect(connection.target == 30)
    }
}

import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The scenarios of libwebrtc's `probe_bitrate_estimator_unittest`.
@Suite struct ProbeEstimatorTests {
    struct Packet: Sendable {
        var size = 1000
        var sent: Int
        var arrival: Int
        var cluster = 0
    }

    struct Scenario: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let packets: [Packet]
        var minimumBytes = 5000
        var minimumPackets = 5
        /// Bits per second, within 10; nil for no result.
        let expected: Int64?
    }

    private static func packets(_ times: [(Int, Int)], size: Int = 1000) -> [Packet] {
        times.map { Packet(size: size, sent: $0.0, arrival: $0.1) }
    }

    private static func cluster(_ identifier: Int, packets: Int = 5, bytes: Int = 5000) -> ProbeCluster {
        ProbeCluster(
            identifier: identifier, rate: .bitsPerSecond(bytes * 8), duration: .seconds(1), minimumPackets: packets)
    }

    private static func feed(
        _ packet: Packet, to estimator: inout ProbeEstimator, minimumPackets: Int = 5, minimumBytes: Int = 5000
    ) -> DataRate? {
        estimator.receive(
            sent: Instant(nanoseconds: (1_000_000 + Int64(packet.sent)) * 1_000_000),
            arrival: .milliseconds(1_000_000 + packet.arrival), size: packet.size,
            of: cluster(packet.cluster, packets: minimumPackets, bytes: minimumBytes))
    }

    private static let even = [(0, 10), (10, 20), (20, 30), (30, 40)]

    static let scenarios = [
        Scenario(testDescription: "one cluster", packets: packets(even), expected: 800_000),
        Scenario(
            testDescription: "too few packets", packets: packets([(0, 10), (10, 20), (20, 30)], size: 2000),
            expected: nil),
        Scenario(
            testDescription: "too few bytes", packets: packets(even + [(40, 50)], size: 800), minimumBytes: 6000,
            expected: nil),
        Scenario(
            testDescription: "small cluster", packets: packets(even + [(40, 50), (50, 60)], size: 150),
            minimumBytes: 1000, expected: 120_000),
        Scenario(
            testDescription: "large cluster", packets: packets((0..<25).map { ($0, $0 + 5) }, size: 12_500),
            minimumBytes: 312_500, minimumPackets: 30, expected: 100_000_000),
        Scenario(
            testDescription: "fast arrival", packets: packets([(0, 15), (10, 30), (20, 35), (30, 40)]),
            expected: 800_000),
        Scenario(
            testDescription: "too fast arrival", packets: packets([(0, 19), (10, 22), (20, 25), (40, 27)]),
            expected: nil),
        Scenario(
            testDescription: "slow arrival", packets: packets([(0, 10), (10, 40), (20, 70), (30, 85)]),
            expected: 304_000),
        Scenario(
            testDescription: "all at once", packets: packets([(0, 50), (10, 50), (20, 50), (40, 50)]), expected: nil),
        Scenario(
            testDescription: "the last packet sent is left out",
            packets: packets(even) + [Packet(size: 1500, sent: 40, arrival: 50)], expected: 800_000),
        Scenario(
            testDescription: "the first packet that arrives is left out",
            packets: [Packet(size: 1500, sent: 0, arrival: 10)] + packets(Array(even.dropFirst())), expected: 760_000),
    ]

    @Test("A cluster measures the lower of its send and arrival rates", arguments: scenarios)
    func scenario(_ scenario: Scenario) {
        var estimator = ProbeEstimator()
        var rate: DataRate?
        for packet in scenario.packets {
            rate = Self.feed(
                packet, to: &estimator, minimumPackets: scenario.minimumPackets, minimumBytes: scenario.minimumBytes)
        }
        expect(rate, scenario.expected)
    }

    private func expect(_ rate: DataRate?, _ expected: Int64?, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect((rate == nil) == (expected == nil), sourceLocation: sourceLocation)
        guard let rate, let expected else { return }
        #expect(abs(rate.bitsPerSecond - expected) <= 10, sourceLocation: sourceLocation)
    }

    @Test("Clusters are measured separately, and again with each packet")
    func clusters() {
        var estimator = ProbeEstimator()
        var rate: DataRate?
        for packet in Self.packets([(0, 10), (10, 20), (20, 30), (40, 60)]) { rate = Self.feed(packet, to: &estimator) }
        expect(rate, 456_000)
        expect(Self.feed(Packet(sent: 50, arrival: 60), to: &estimator), 640_000)
        for (sent, arrival) in [(60, 70), (65, 77), (70, 84), (75, 90)] {
            rate = Self.feed(Packet(sent: sent, arrival: arrival, cluster: 1), to: &estimator)
        }
        expect(rate, 1_140_000)
    }

    @Test("A packet a second after the rest of its cluster resets the cluster")
    func oldClusters() {
        var estimator = ProbeEstimator()
        for packet in Self.packets([(0, 10), (10, 20), (20, 30)]) { _ = Self.feed(packet, to: &estimator) }
        #expect(Self.feed(Packet(sent: 6040, arrival: 6060), to: &estimator) == nil)
    }

    @Test("The newest result can be taken once")
    func take() {
        var estimator = ProbeEstimator()
        #expect(estimator.takeEstimate() == nil)
        for packet in Self.packets(Self.even) { _ = Self.feed(packet, to: &estimator) }
        expect(estimator.takeEstimate(), 800_000)
        #expect(estimator.takeEstimate() == nil)
    }
}

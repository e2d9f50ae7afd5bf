import RTCShareCongestionControl
import RTCShareWireFormat
import Testing

/// The scenarios of libwebrtc's `alr_detector_unittest`, at an estimate of 300 kbit/s.
@Suite struct ALRDetectorTests {
    private struct Traffic {
        var detector: ALRDetector
        var now = Instant(nanoseconds: 1_000_000_000)

        init(_ configuration: ALRDetector.Configuration = .init()) {
            detector = ALRDetector(configuration: configuration)
            detector.setEstimate(.kilobitsPerSecond(300))
        }

        var isLimited: Bool { detector.startTime != nil }

        mutating func send(percent: Int, milliseconds: Int) {
            for _ in 0..<milliseconds / 10 {
                now = now.advanced(by: .milliseconds(10))
                detector.packetSent(bytes: 300_000 * percent * 10 / 800_000, now: now)
            }
        }
    }

    @Test("Low traffic begins a region, full use ends it", arguments: [ALRDetector.Configuration(), .conservative])
    func detection(configuration: ALRDetector.Configuration) {
        var traffic = Traffic(configuration)
        #expect(!traffic.isLimited)
        traffic.send(percent: 90, milliseconds: 1000)
        #expect(!traffic.isLimited)
        traffic.send(percent: 20, milliseconds: 1500)
        #expect(traffic.isLimited)
        traffic.send(percent: 100, milliseconds: 4000)
        #expect(!traffic.isLimited)
    }

    @Test("A short spike does not end a region", arguments: [ALRDetector.Configuration(), .conservative])
    func shortSpike(configuration: ALRDetector.Configuration) {
        var traffic = Traffic(configuration)
        traffic.send(percent: 20, milliseconds: 1000)
        #expect(traffic.isLimited)
        traffic.send(percent: 150, milliseconds: 100)
        #expect(traffic.isLimited)
        traffic.send(percent: 100, milliseconds: 3000)
        #expect(!traffic.isLimited)
    }

    @Test(
        "A lower estimate ends a region only once traffic uses it fully",
        arguments: [ALRDetector.Configuration(), .conservative])
    func estimateDrops(configuration: ALRDetector.Configuration) {
        var traffic = Traffic(configuration)
        traffic.send(percent: 20, milliseconds: 1000)
        #expect(traffic.isLimited)
        traffic.detector.setEstimate(.kilobitsPerSecond(60))
        #expect(traffic.isLimited)
        traffic.send(percent: 50, milliseconds: 1000)
        #expect(!traffic.isLimited)
    }

    @Test("Silence begins a region once it has lasted, without another packet")
    func silence() {
        var traffic = Traffic()
        traffic.send(percent: 80, milliseconds: 1000)
        #expect(!traffic.isLimited)
        traffic.detector.process(now: traffic.now.advanced(by: .milliseconds(150)))
        #expect(!traffic.isLimited)
        let seen = traffic.now.advanced(by: .milliseconds(1200))
        traffic.detector.process(now: seen)
        #expect(traffic.detector.startTime == seen)
    }

    @Test("Without an estimate there is no region, and time that goes back changes nothing")
    func noEstimate() {
        var detector = ALRDetector()
        let start = Instant(nanoseconds: 5_000_000_000)
        detector.packetSent(bytes: 100, now: start)
        detector.packetSent(bytes: 100, now: start.advanced(by: .seconds(5)))
        detector.process(now: start)
        #expect(detector.startTime == nil)
    }

    @Test("Traffic of 100 percent begins no region at limits of 90, 0 and -10 percent; 85 percent does within 2.1 s")
    func configured() {
        var traffic = Traffic(.init(usageRatio: 0.9, startLevel: 0, stopLevel: -0.1))
        traffic.send(percent: 100, milliseconds: 1000)
        #expect(!traffic.isLimited)
        traffic.send(percent: 85, milliseconds: 2100)
        #expect(traffic.isLimited)
    }
}

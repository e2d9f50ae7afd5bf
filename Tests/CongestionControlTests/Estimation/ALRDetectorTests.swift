import CongestionControl
import Testing
import WireFormat

/// The scenarios of libwebrtc's `alr_detector_unittest`, at an estimate of 300 kbit/s.
@Suite struct ALRDetectorTests {
    private struct Traffic {
        var detector = ALRDetector()
        var now = Instant(nanoseconds: 1_000_000_000)

        init() { detector.setEstimate(.kilobitsPerSecond(300)) }

        var isLimited: Bool { detector.startTime != nil }

        mutating func send(percent: Int, milliseconds: Int) {
            for _ in 0..<milliseconds / 10 {
                now = now.advanced(by: .milliseconds(10))
                detector.packetSent(bytes: 300_000 * percent * 10 / 800_000, now: now)
            }
        }
    }

    @Test("Little sent begins a region, full use ends it")
    func detection() {
        var traffic = Traffic()
        #expect(!traffic.isLimited)
        traffic.send(percent: 90, milliseconds: 1000)
        #expect(!traffic.isLimited)
        traffic.send(percent: 20, milliseconds: 1500)
        #expect(traffic.isLimited)
        traffic.send(percent: 100, milliseconds: 4000)
        #expect(!traffic.isLimited)
    }

    @Test("A short spike does not end a region")
    func shortSpike() {
        var traffic = Traffic()
        traffic.send(percent: 20, milliseconds: 1000)
        #expect(traffic.isLimited)
        traffic.send(percent: 150, milliseconds: 100)
        #expect(traffic.isLimited)
        traffic.send(percent: 100, milliseconds: 3000)
        #expect(!traffic.isLimited)
    }

    @Test("A lower estimate ends a region only once traffic shows it full")
    func estimateDrops() {
        var traffic = Traffic()
        traffic.send(percent: 20, milliseconds: 1000)
        #expect(traffic.isLimited)
        traffic.detector.setEstimate(.kilobitsPerSecond(60))
        #expect(traffic.isLimited)
        traffic.send(percent: 50, milliseconds: 1000)
        #expect(!traffic.isLimited)
    }

    @Test("Silence is a region from when it has lasted, without another packet")
    func silence() {
        var traffic = Traffic()
        traffic.send(percent: 65, milliseconds: 1000)
        #expect(!traffic.isLimited)
        traffic.detector.process(now: traffic.now.advanced(by: .milliseconds(300)))
        #expect(!traffic.isLimited)
        let seen = traffic.now.advanced(by: .milliseconds(1200))
        traffic.detector.process(now: seen)
        #expect(traffic.detector.startTime == seen)
    }

    @Test("Without an estimate nothing is limited, and time that goes back changes nothing")
    func noEstimate() {
        var detector = ALRDetector()
        let start = Instant(nanoseconds: 5_000_000_000)
        detector.packetSent(bytes: 100, now: start)
        detector.packetSent(bytes: 100, now: start.advanced(by: .seconds(5)))
        detector.process(now: start)
        #expect(detector.startTime == nil)
    }
}

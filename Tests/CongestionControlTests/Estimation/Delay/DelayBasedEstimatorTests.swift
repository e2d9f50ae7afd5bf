import RTCShareCongestionControl
import RTCShareRTP
import RTCShareWireFormat
import Testing

/// The scenarios of libwebrtc's `delay_based_bwe_unittest` that concern the estimate: their inputs and bounds.
@Suite struct DelayBasedEstimatorTests {
    /// A sender of frames over a link of some capacity, with feedback for each frame.
    private struct Stream {
        var estimator = DelayBasedEstimator()
        var throughput = RobustThroughputEstimator()
        var now = Instant(nanoseconds: 100_000_000_000)
        var capacity = DataRate.kilobitsPerSecond(1000)
        var clockOffset = Duration.zero
        private var linkFree = Instant(nanoseconds: 0)
        private var number = TransportSequenceNumber(0)

        @discardableResult
        mutating func frame(_ rate: DataRate, framesPerSecond: Double) -> DelayBasedEstimator.Result {
            let interval = Duration.seconds(1 / framesPerSecond)
            let bytes = max(1, rate.bytes(in: interval))
            let count = (bytes + 1199) / 1200
            return send(count: count, size: bytes / count, interval: interval)
        }

        mutating func send(count: Int, size: Int, interval: Duration) -> DelayBasedEstimator.Result {
            var results: [TransportFeedbackTracker.PacketResult] = []
            for _ in 0..<count {
                linkFree = max(linkFree, now).advanced(by: capacity.duration(ofBytes: size))
                let arrival = linkFree - Instant(nanoseconds: 0) + clockOffset
                results.append(.init(number: number, size: size, sent: now, arrival: arrival))
                number = number.next
            }
            throughput.receive(results)
            let result = estimator.receive(
                results, acknowledged: throughput.estimate, probe: nil, isApplicationLimited: false,
                now: max(now, linkFree))
            now = now.advanced(by: interval)
            return result
        }

        var estimate: DataRate { estimator.estimate ?? .zero }
    }

    @Test("Without a start rate the estimate waits for five seconds of measurements")
    func initialBehaviour() {
        var stream = Stream()
        stream.capacity = .kilobitsPerSecond(10_000)
        for _ in 0..<200 {
            stream.frame(.kilobitsPerSecond(480), framesPerSecond: 50)
            #expect(stream.estimator.estimate == nil)
        }
        for _ in 0..<100 { stream.frame(.kilobitsPerSecond(480), framesPerSecond: 50) }
        #expect(stream.estimate > .kilobitsPerSecond(450))
        #expect(stream.estimate < .kilobitsPerSecond(780))
    }

    @Test("A start rate above the link's is detected and reduced within 40 frames")
    func initialOveruse() {
        var stream = Stream()
        stream.capacity = .kilobitsPerSecond(200)
        stream.estimator.setStart(.kilobitsPerSecond(300))
        var cut: DataRate?
        for _ in 0..<40 where cut == nil {
            let result = stream.frame(.kilobitsPerSecond(300), framesPerSecond: 90)
            if stream.estimator.usage == .overusing { cut = result.estimate }
        }
        #expect((cut ?? .zero) > .kilobitsPerSecond(100))
        #expect((cut ?? .zero) <= .kilobitsPerSecond(200))
    }

    @Test(
        "A halved link is detected within a second, whatever the receiver's clock does",
        arguments: [Duration.zero, .seconds(30), .seconds(-30)])
    func capacityDrop(clockChange: Duration) {
        var stream = Stream()
        stream.estimator.setStart(.kilobitsPerSecond(900))
        for _ in 0..<300 { stream.frame(stream.estimate, framesPerSecond: 30) }
        #expect(stream.estimate > .kilobitsPerSecond(820))
        #expect(stream.estimate < .kilobitsPerSecond(1180))
        stream.clockOffset = clockChange
        stream.capacity = .kilobitsPerSecond(500)
        let drop = stream.now
        while stream.estimate > .kilobitsPerSecond(500), stream.now - drop < .seconds(3) {
            stream.frame(stream.estimate, framesPerSecond: 30)
        }
        #expect(stream.now - drop < .milliseconds(1400))
    }

    @Test("From a low start the estimate rises beyond half of the link's rate")
    func ramp() {
        var stream = Stream()
        stream.estimator.setStart(.kilobitsPerSecond(30))
        var frames = 0
        while stream.estimate < .kilobitsPerSecond(500), frames < 2000 {
            stream.frame(stream.estimate, framesPerSecond: 30)
            frames += 1
        }
        #expect(frames < 1300)
    }

    @Test("A link that became slower during silence reduces the estimate", arguments: [35, 640])
    func silence(seconds: Int) {
        var stream = Stream()
        stream.capacity = .kilobitsPerSecond(10_000)
        stream.estimator.setStart(.kilobitsPerSecond(800))
        for _ in 0..<3000 { stream.frame(.kilobitsPerSecond(800), framesPerSecond: 100) }
        let before = stream.estimate
        stream.now = stream.now.advanced(by: .seconds(seconds))
        // 1000 bytes each 10 ms that take 20 ms to cross.
        stream.capacity = .kilobitsPerSecond(400)
        for _ in 0..<60 { stream.frame(.kilobitsPerSecond(800), framesPerSecond: 100) }
        #expect(stream.estimate < before)
    }

    @Test("Feedback without arrivals changes nothing")
    func nothingArrived() {
        var stream = Stream()
        stream.estimator.setStart(.kilobitsPerSecond(300))
        let result = stream.estimator.receive(
            [], acknowledged: nil, probe: .kilobitsPerSecond(900), isApplicationLimited: false, now: stream.now)
        #expect(result.estimate == nil)
        #expect(stream.estimate == .kilobitsPerSecond(300))
    }

    @Test("The result of a probe becomes the estimate")
    func probeResult() {
        var stream = Stream()
        stream.estimator.setStart(.kilobitsPerSecond(300))
        let result = stream.estimator.receive(
            [.init(number: TransportSequenceNumber(1), size: 1000, sent: stream.now, arrival: .seconds(1))],
            acknowledged: nil, probe: .kilobitsPerSecond(900), isApplicationLimited: false, now: stream.now)
        #expect(result.isProbe)
        #expect(result.estimate == .kilobitsPerSecond(900))
    }
}

import RTCShareCongestionControl
@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

/// Whole calls, both of whose ends are this library's, over paths that lose.
@Suite("Forward error correction in calls")
struct ForwardErrorCorrectionCallTests {
    private func sent(_ call: SimulatedCall) -> OutboundStatistics.Video {
        call.sender.outbound[0].stream?.statistics.video ?? OutboundStatistics.Video()
    }

    private func received(_ call: SimulatedCall) -> InboundVideoStatistics {
        call.viewer.receivers.media[0].video?.statistics ?? InboundVideoStatistics()
    }

    private static func path(loss: Double, delay: Int = 100) -> LinkConditions {
        LinkConditions(loss: loss, delay: .milliseconds(delay))
    }

    @Test("Losses on a long path are recovered without a retransmission's round trip")
    func repairs() throws {
        func call(_ editAnswer: @escaping (String) -> String = { $0 }) throws -> SimulatedCall {
            var options = SimulatedCall.Options()
            options.editAnswer = editAnswer
            let call = try SimulatedCall(conditions: Self.path(loss: 0.05), seed: 901, options: options)
            call.run(for: .seconds(30))
            call.run(for: .seconds(2), sendsFrames: false)
            try #require(call.record.connected != nil)
            return call
        }
        /// Frames that took longer than the path and the time that they take to leave.
        func late(_ call: SimulatedCall) -> Double {
            let frames = call.record.frames.suffix(600)
            return Double(frames.count { $0.completion - $0.firstArrival > .milliseconds(100) }) / Double(frames.count)
        }
        let (with, without) = (try call(), try call { $0.replacing(" red/", with: " x-red/") })
        #expect(sent(with).fecPacketsSent > 500)
        #expect(received(with).fecPacketsReceived > 400)
        #expect(received(with).packetsRecovered > 50)
        #expect(sent(without).fecPacketsSent == 0)
        #expect(late(without) > 0.1)
        #expect(late(with) < late(without) / 4)
        #expect(with.record.frames.count == with.framesSent)
        #expect(with.record.failures.isEmpty)
    }

    @Test("One FEC packet covers several frames when the rate allows none for each")
    func sharedCorrections() throws {
        // Some sixty packets are lost in a call, of which chance alone recovers a tenth more or less.
        let outcomes = try (UInt64(900)..<916).map(correctedCall)
        for (frames, corrections, _, _) in outcomes {
            #expect(corrections < frames / 2, "\(corrections) for \(frames) frames")
        }
        let (recovered, lost) = outcomes.reduce((0, 0)) { ($0.0 + $1.recovered, $0.1 + $1.lost) }
        #expect(Double(recovered) > Double(lost) * 0.6, "\(recovered) of \(lost)")
    }

    /// Returns the counts of the 30 s after the first five of a call: frames, corrections, and recovered and lost packets
    /// with media.
    private func correctedCall(
        seed: UInt64
    ) throws -> (frames: Int, corrections: UInt64, recovered: Int, lost: Int) {
        var options = SimulatedCall.Options()
        options.sender.maximumBitrate = .kilobitsPerSecond(700)
        let call = try SimulatedCall(conditions: Self.path(loss: 0.02), seed: seed, options: options)
        call.followsTargets = true
        var random = SeededGenerator(seed: seed)
        let lost = Box(0)
        call.loses = { datagram, end in
            guard end == .left, DatagramKind(datagram.bytes.span.bytes) == .rtp, datagram.bytes[1] & 0x7F == 112,
                Double.random(in: 0..<1, using: &random) < 0.02
            else { return false }
            lost.value += 1
            return true
        }
        call.run(for: .seconds(5))
        // What is lost now is in RED, and counted.
        call.link.toRight.conditions.loss = 0
        let (frames, corrections) = (call.framesSent, sent(call).fecPacketsSent)
        let recovered = received(call).packetsRecovered
        lost.value = 0
        call.run(for: .seconds(30))
        return (
            call.framesSent - frames, sent(call).fecPacketsSent - corrections,
            received(call).packetsRecovered - recovered, lost.value
        )
    }

    @Test("The receiver is asked to delay playout only while packets are lost")
    func holds() throws {
        let call = try SimulatedCall(conditions: Self.path(loss: 0.05, delay: 50), seed: 904)
        call.run(for: .seconds(3), sendsFrames: false)
        let delays = try call.playoutDelays()
        call.run(for: .seconds(10))
        let held = try #require(delays.value.last)
        #expect(held.minimum >= .milliseconds(120) && held.minimum <= .milliseconds(180))
        #expect(held.maximum == held.minimum)
        call.link.toRight.conditions.loss = 0
        call.run(for: .seconds(30))
        #expect(delays.value.last == PlayoutDelay(minimum: .zero, maximum: .zero))
        #expect(delays.value.count < 10, "\(delays.value)")
    }

    @Test(
        "No FEC is sent on a lossless path or on a short one", arguments: [(0.0, 100), (0.05, 10)])
    func costsNothing(loss: Double, delay: Int) throws {
        let call = try SimulatedCall(conditions: Self.path(loss: loss, delay: delay), seed: 902)
        let red = Box(0)
        call.tap = { datagram, end in
            if end == .left, DatagramKind(datagram.bytes.span.bytes) == .rtp, datagram.bytes[1] & 0x7F == 112 {
                red.value += 1
            }
        }
        call.run(for: .seconds(20))
        #expect(call.record.frames.count > 500)
        #expect(red.value == 0 && sent(call).fecPacketsSent == 0)
    }

    @Test("FEC ends with the loss, and the encoder gets its rate back")
    func ends() throws {
        let call = try SimulatedCall(conditions: Self.path(loss: 0), seed: 903)
        var random = SeededGenerator(seed: 903)
        let isLossy = Box(true)
        call.loses = { datagram, end in
            end == .left && isLossy.value && DatagramKind(datagram.bytes.span.bytes) == .rtp
                && Double.random(in: 0..<1, using: &random) < 0.05
        }
        call.followsTargets = true
        call.run(for: .seconds(15))
        #expect(sent(call).fecPacketsSent > 50)
        let overhead = call.sender.outbound[0].video?.protection?.policy.ratio ?? 0
        #expect(overhead > 0.05)
        isLossy.value = false
        call.run(for: .seconds(20))
        let before = sent(call).fecPacketsSent
        call.run(for: .seconds(10))
        #expect(sent(call).fecPacketsSent == before)
    }

    @Test("Video and FEC together keep to the estimated bandwidth")
    func keepsToEstimate() throws {
        var conditions = Self.path(loss: 0.04)
        conditions.rate = .kilobitsPerSecond(2000)
        let call = try SimulatedCall(conditions: conditions, seed: 904)
        call.followsTargets = true
        call.run(for: .seconds(20))
        try #require(sent(call).fecPacketsSent > 100)
        for _ in 0..<20 {
            call.run(for: .milliseconds(500))
            guard let overhead = call.sender.outbound[0].video?.protection?.policy.overhead,
                let target = call.sender.targetBitrate(media: 0)?.bitrate
            else { continue }
            // The encoder was told its target up to a second ago.
            let estimate = call.sender.bandwidth.estimator.target
            #expect(target * (1 + overhead) <= estimate * 1.2)
        }
    }

    @Test("Numbers, retransmissions and frames continue when an answer removes FEC and adds it again")
    func renegotiation() throws {
        let call = try SimulatedCall(conditions: Self.path(loss: 0.05), seed: 905)
        call.run(for: .seconds(10))
        let first = sent(call).fecPacketsSent
        try #require(first > 0)
        try call.renegotiate { $0.replacing(" red/", with: " x-red/") }
        call.run(for: .seconds(1))
        let before = sent(call).fecPacketsSent
        call.run(for: .seconds(5))
        #expect(sent(call).fecPacketsSent == before)
        try call.renegotiate()
        call.run(for: .seconds(10))
        #expect(sent(call).fecPacketsSent > before)
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(call.record.frames.count == call.framesSent)
    }

    @Test("Frames of more packets than a mask covers arrive whole, even with FEC packets among them")
    func largeFrames() throws {
        var options = SimulatedCall.Options()
        options.sender.maximumBitrate = .kilobitsPerSecond(20_000)
        options.sender.startBitrate = .kilobitsPerSecond(15_000)
        let call = try SimulatedCall(conditions: Self.path(loss: 0.03), seed: 906, options: options)
        call.followsTargets = true
        call.run(for: .seconds(20))
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(received(call).packetsRecovered > 50)
        #expect(call.record.frames.contains { $0.packetCount > 48 })
        #expect(Double(call.record.frames.count) > Double(call.framesSent) * 0.97)
    }
}

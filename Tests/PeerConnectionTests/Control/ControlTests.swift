import RTCShareCongestionControl
import RTCShareRTP
import RTCShareSecureTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// The handling of a peer's RTCP.
@Suite struct ControlTests {
    /// A call that stands, with a key frame sent and every request answered.
    private func makeCall(seed: UInt64) throws -> SimulatedCall {
        let call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: seed)
        call.run(for: .seconds(2))
        try #require(call.record.connected != nil)
        call.record.keyFrameRequests = 0
        return call
    }

    private func source(_ call: SimulatedCall) -> SynchronizationSource {
        SynchronizationSource(call.sender.localMedia[0].source)
    }

    private func pictureLoss(_ call: SimulatedCall) -> RTCPPacket {
        .pictureLossIndication(PictureLossIndication(sender: SynchronizationSource(7), media: source(call)))
    }

    private func intraRequest(_ call: SimulatedCall, _ number: UInt8) -> RTCPPacket {
        .fullIntraRequest(
            FullIntraRequest(
                sender: SynchronizationSource(7), entries: [.init(source: source(call), sequenceNumber: number)]))
    }

    @Test("Several requests in one datagram ask the encoder once")
    func requestsAtOnce() throws {
        let call = try makeCall(seed: 301)
        call.receive([pictureLoss(call), intraRequest(call, 1), pictureLoss(call), intraRequest(call, 2)])
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequests == 1)
        let outbound = try #require(call.sender.report(now: call.now).outboundRTP[0]?.video)
        #expect(outbound.pliCount == 2)
        #expect(outbound.firCount == 2)
        #expect(outbound.keyFramesSent == 2)
    }

    @Test("A request is passed on at once, even soon after another")
    func repeatedRequests() throws {
        let call = try makeCall(seed: 302)
        for number in 1...3 {
            call.receive([pictureLoss(call)])
            call.run(for: .milliseconds(50))
            #expect(call.record.keyFrameRequests == number)
        }
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequests == 3)
    }

    @Test("A full intra request repeated with the same number is one request")
    func repeatedIntraRequest() throws {
        let call = try makeCall(seed: 303)
        call.receive([intraRequest(call, 9)])
        call.run(for: .seconds(1))
        call.receive([intraRequest(call, 9)])
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequests == 1)
        call.receive([intraRequest(call, 10)])
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequests == 2)
    }

    @Test("Frames before the connection are counted, and the first frame after it must be a key frame")
    func framesBeforeConnection() throws {
        let call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: 304)
        let frame = PacketizedFrame(
            [0x11, 0, 0, 1, 2, 3], format: .vp8, number: FrameNumber(1), isKeyFrame: false, captureTime: .zero,
            width: 16, height: 16)
        call.sender.send(frame, media: 0, now: call.now)
        call.run(for: .seconds(1), sendsFrames: false)
        #expect(call.record.keyFrameRequests == 0)
        for _ in 0..<5 { call.sender.send(frame, media: 0, now: call.now) }
        call.run(for: .milliseconds(10), sendsFrames: false)
        #expect(call.record.keyFrameRequests == 1)
        #expect(call.sender.counts.framesDroppedBeforeConnection == 6)
    }

    @Test("Feedback for an unknown source is counted and requests nothing")
    func unknownSource() throws {
        let call = try makeCall(seed: 305)
        let stranger = SynchronizationSource(0xDEAD_BEEF)
        let before = call.sender.counts.packetsUnknown
        call.receive(
            [
                .pictureLossIndication(PictureLossIndication(sender: SynchronizationSource(7), media: stranger)),
                .genericNACK(
                    GenericNACK(sender: SynchronizationSource(7), media: stranger, lost: [SequenceNumber(1)])),
            ])
        call.run(for: .seconds(1))
        #expect(call.sender.counts.packetsUnknown == before + 2)
        #expect(call.record.keyFrameRequests == 0)
    }

    @Test("Packets requested repeatedly are not resent repeatedly")
    func repeatedNACKs() throws {
        let call = try SimulatedCall(conditions: LinkConditions(delay: .milliseconds(20)), seed: 306)
        let wire = Box<[[UInt8]]>([])
        call.tap = { datagram, end in
            if end == .left, DatagramKind(datagram.bytes.span.bytes) == .rtp { wire.value.append(datagram.bytes) }
        }
        call.run(for: .seconds(2))
        let sent = wire.value.count
        let all = wire.value.map { SequenceNumber(UInt16($0[2]) << 8 | UInt16($0[3])) }
        wire.value = []
        let nack = RTCPPacket.genericNACK(
            GenericNACK(sender: SynchronizationSource(7), media: source(call), lost: all))
        for _ in 0..<100 { call.receive([nack]) }
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(wire.value.count <= sent, "each once: \(wire.value.count) for \(sent)")
        #expect(!wire.value.isEmpty)
    }

    @Test("A goodbye of one of two reporters ends nothing; the last one's ends the call")
    func reporterGoodbyes() throws {
        let call = try makeCall(seed: 307)
        let viewer = call.viewer.receivers.media[0].localSource
        let other = SynchronizationSource(0x0102_0304)
        call.receive([.receiverReport(ReceiverReport(source: other))])
        call.receive([.goodbye(Goodbye(sources: [other]))])
        call.run(for: .milliseconds(100))
        #expect(call.record.goodbyes == 0)
        call.receive([.goodbye(Goodbye(sources: [viewer])), .goodbye(Goodbye(sources: [viewer]))])
        call.run(for: .milliseconds(1))
        #expect(call.record.goodbyes == 1)
    }

    @Test("A limited number of the peer's report sources is remembered")
    func boundedReporters() throws {
        let call = try makeCall(seed: 309)
        for source in UInt32(1)...500 {
            call.receive([.receiverReport(ReceiverReport(source: SynchronizationSource(source)))])
        }
        #expect(call.sender.control.reporters.count == RTCPExchange.maximumReporters)
    }

    private func limit(_ kilobits: Int, on call: SimulatedCall, of media: SynchronizationSource? = nil) {
        let entry = TemporaryMaximumBitrate.Entry(
            source: media ?? source(call), bitrate: .kilobitsPerSecond(kilobits), overhead: 40)
        let limits = TemporaryMaximumBitrate(sender: SynchronizationSource(7), entries: [entry])
        call.receive([.temporaryMaximumBitrate(limits)])
    }

    @Test("A requested maximum bitrate is kept to and announced, zero pauses, and a later one resumes with a key frame")
    func requestedBitrate() throws {
        let call = try makeCall(seed: 310)
        call.followsTargets = true
        let keys = try #require(call.senderKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.local)
        let announced = Box<[TemporaryMaximumBitrate]>([])
        call.tap = { datagram, end in
            var bytes = datagram.bytes
            guard end == .left, DatagramKind(bytes.span.bytes) == .rtcp, (try? receiver.unprotectRTCP(&bytes)) != nil,
                let packets = try? RTCPPacket.parse(compound: bytes.span.bytes)
            else { return }
            for case .temporaryMaximumBitrate(let limits) in packets { announced.value.append(limits) }
        }
        func target() -> DataRate { call.sender.targetBitrate(media: 0)?.bitrate ?? .zero }
        limit(300, on: call)
        call.run(for: .seconds(1))
        #expect(target() > .kilobitsPerSecond(200) && target() < .kilobitsPerSecond(300))
        #expect(call.record.keyFrameRequests == 0)
        limit(0, on: call)
        call.run(for: .milliseconds(100))
        #expect(target() == .zero)
        let sent = call.record.sent.count
        call.run(for: .seconds(2), sendsFrames: false)
        #expect(call.record.sent.count - sent < 10, "reports and checks: no padding")
        limit(800, on: call)
        call.run(for: .seconds(1))
        #expect(target() > .kilobitsPerSecond(600) && target() < .kilobitsPerSecond(800))
        #expect(call.record.keyFrameRequests == 1)
        limit(900, on: call)
        limit(300, on: call, of: SynchronizationSource(0xDEAD_BEEF))
        call.run(for: .seconds(1))
        #expect(call.record.keyFrameRequests == 1)
        #expect(announced.value.allSatisfy { $0.isNotification && $0.sender == source(call) })
        let entries = announced.value.flatMap(\.entries)
        #expect(entries.map(\.bitrate) == [300, 0, 800, 900].map { .kilobitsPerSecond($0) })
        #expect(entries.allSatisfy { $0.source == SynchronizationSource(7) && $0.overhead == 40 })
    }

    /// Reports of so many packets, all lost, in 24 bytes each.
    private func announcing(_ count: Int, from first: UInt16, reports: Int) -> [RTCPPacket] {
        let feedback = TransportFeedback(
            sender: SynchronizationSource(7), media: SynchronizationSource(8),
            baseSequenceNumber: TransportSequenceNumber(first), referenceTime: 0, feedbackPacketCount: 0,
            deltas: [Int16?](repeating: nil, count: count))
        return [RTCPPacket](repeating: .transportFeedback(feedback), count: reports)
    }

    @Test("Feedback is processed only at the rate at which receivers need to report")
    func boundedFeedback() throws {
        let call = try makeCall(seed: 308)
        #expect(call.sender.counts.packetsUnknown == 0, "all that a receiver tells by itself is read")
        let burst = FeedbackAllowance.burst / 8192
        call.receive(announcing(8192, from: 40_000, reports: 100))
        #expect(call.sender.counts.packetsUnknown == 100 - UInt64(burst))
        // At the same instant nothing more is, however many datagrams there are.
        for _ in 0..<20 { call.receive(announcing(8192, from: 40_000, reports: 100)) }
        #expect(call.sender.counts.packetsUnknown == 2100 - UInt64(burst))
        let before = call.sender.bandwidth.sentPackets.feedbackReceived
        call.now = call.now.advanced(by: .seconds(1))
        call.receive(announcing(8192, from: 40_000, reports: 100))
        #expect(call.sender.bandwidth.sentPackets.feedbackReceived == before + burst)
    }

    @Test("Feedback on five thousand packets per second, each reported three times, is always processed")
    func allowanceSuffices() {
        var allowance = FeedbackAllowance()
        var now = Instant(nanoseconds: 0)
        for _ in 0..<400 {
            now = now.advanced(by: .milliseconds(50))
            allowance.refill(now: now)
            allowance.left -= 5000 / 20 * 3
            #expect(allowance.left >= 0)
        }
        allowance.left = 0
        now = now.advanced(by: .microseconds(1))
        for _ in 0..<100 {
            now = now.advanced(by: .microseconds(1))
            allowance.refill(now: now)
        }
        #expect(allowance.left == 101 * FeedbackAllowance.perSecond / 1_000_000, "no time is lost by asking often")
    }
}

extension SimulatedCall {
    /// Passes packets of the peer's RTCP to the sender, in one datagram.
    func receive(_ packets: [RTCPPacket]) {
        var bytes: [UInt8] = []
        for packet in packets { packet.append(to: &bytes) }
        sender.receiveControl(bytes.span.bytes, now: now)
        sender.handleTimeout(now: now)
    }
}

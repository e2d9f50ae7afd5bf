import RTCShareCongestionControl
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

private let media = SynchronizationSource(0x1111)
private let rtx = SynchronizationSource(0x2222)
private let local = SynchronizationSource(0x3333)
private let vp8 = PayloadType(masking: 96)
private let vp8rtx = PayloadType(masking: 97)
private let formats = [NegotiatedFormat(.vp8, payloadType: vp8, retransmission: vp8rtx)]

private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

/// The bytes of a packet, over rtx where `retransmissionNumber` is given.
private func datagram(
    _ packet: VP8TestStream.Packet, retransmissionNumber: SequenceNumber? = nil, payloadType: PayloadType = vp8
) throws -> [UInt8] {
    let header = OutgoingRTPHeader(
        marker: packet.marker, payloadType: retransmissionNumber == nil ? payloadType : vp8rtx,
        sequenceNumber: retransmissionNumber ?? packet.number, timestamp: packet.timestamp,
        source: retransmissionNumber == nil ? media : rtx)
    let size =
        header.byteCount(map: HeaderExtensionMap()) + (retransmissionNumber == nil ? 0 : 2)
    var bytes = [UInt8](repeating: 0, count: size)
    var span = bytes.mutableSpan
    var writer = ByteWriter(span.mutableBytes)
    try header.write(to: &writer, map: HeaderExtensionMap())
    if retransmissionNumber != nil { try RetransmissionPayload.writePrefix(packet.number, to: &writer) }
    return bytes + packet.descriptor.bytes + packet.payload
}

extension InboundVideoStream {
    fileprivate mutating func receive(_ datagram: [UInt8], now: Instant) throws {
        try datagram.withRawSpan { (span) throws(RTPError) in
            let header = try RTPHeader(parsing: span)
            receive(header, in: span, now: now)
        }
    }
}

/// A sender and a receiver over a link, in virtual time.
private struct Call: ~Copyable {
    enum Message: Sendable {
        case rtp([UInt8])
        case rtcp(RTCPPacket)
    }

    var link: DuplexLink<Message>
    var receiver: InboundVideoStream
    var stream = VP8TestStream(seed: 2)
    var pacer = Pacer<(packet: VP8TestStream.Packet, isRetransmission: Bool)>(targetRate: .kilobitsPerSecond(2500))
    var history = RetransmissionHistory<VP8TestStream.Packet>()
    var nextRetransmission = SequenceNumber(65_530)
    var wantsKeyFrame = true
    var sent: [(data: [UInt8], isKeyFrame: Bool, at: Instant)] = []
    var received: [(data: [UInt8], at: Instant)] = []
    var reports: [ReportBlock] = []
    var usesRetransmissionStream: Bool

    init(_ conditions: LinkConditions, seed: UInt64, usesRetransmissionStream: Bool = true) {
        link = DuplexLink(toRight: conditions, seed: seed)
        self.usesRetransmissionStream = usesRetransmissionStream
        var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
        if usesRetransmissionStream { configuration.retransmissionSource = rtx }
        receiver = InboundVideoStream(configuration: configuration)
        receiver.setRoundTripTime(.milliseconds(50))
    }

    mutating func run(frames: Int, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for index in 0..<frames {
            try advance(to: at(index * 33))
            let packets = stream.frame(
                isKeyFrame: wantsKeyFrame, packetCount: wantsKeyFrame ? 30 : Int.random(in: 1...8, using: &generator),
                size: 1000)
            sent.append((packets.flatMap(\.payload), wantsKeyFrame, at(index * 33)))
            wantsKeyFrame = false
            for packet in packets { pacer.enqueue((packet, false), size: 1030, priority: .video, now: at(index * 33)) }
        }
        try advance(to: at(frames * 33 + 3000))
    }

    mutating func advance(to end: Instant) throws {
        var now = end
        repeat {
            // Always the earliest thing that is to happen.
            now = end
            for next in [link.nextArrival, pacer.nextDeadline(now: clock), receiver.nextDeadline(now: clock)] {
                if let next { now = min(now, next) }
            }
            now = max(now, clock)
            steps += 1
            try #require(steps < 1_000_000, "time stands still")
            clock = now
            try step(now)
        } while now < end
    }

    private var clock = at(0)
    private var steps = 0

    private mutating func step(_ now: Instant) throws {
        while let entry = pacer.pop(now: now) {
            if entry.isRetransmission, usesRetransmissionStream {
                let bytes = try datagram(entry.packet, retransmissionNumber: nextRetransmission)
                nextRetransmission = nextRetransmission.next
                link.send(.rtp(bytes), size: bytes.count, from: .left, now: now)
            } else {
                let bytes = try datagram(entry.packet)
                if !entry.isRetransmission {
                    history.insert(entry.packet.number, entry.packet, size: bytes.count, now: now)
                }
                link.send(.rtp(bytes), size: bytes.count, from: .left, now: now)
            }
        }
        while let delivery = link.poll(now: now) {
            switch delivery.payload {
            case .rtp(let bytes): try receiver.receive(bytes, now: now)
            case .rtcp(.genericNACK(let nack)):
                for number in nack.lost {
                    guard let packet = history.lookup(number, now: now, roundTripTime: .milliseconds(40)) else {
                        continue
                    }
                    history.didRetransmit(number, now: now)
                    pacer.enqueue((packet, true), size: 1030, priority: .retransmission, now: now)
                }
            case .rtcp(.pictureLossIndication), .rtcp(.fullIntraRequest): wantsKeyFrame = true
            case .rtcp: break
            }
        }
        for packet in receiver.pollFeedback(now: now) {
            link.send(.rtcp(packet), size: packet.bytes.count, from: .right, now: now)
        }
        if let block = receiver.pollReportBlock(now: now) { reports.append(block) }
        while let frame = receiver.pollFrame() { received.append((frame.data, now)) }
    }
}

@Suite struct InboundVideoStreamTests {
    @Test(
        "Every frame arrives in order over a lossy, reordering link, with and without RTX",
        arguments: [0, 0.05, 0.2], [true, false])
    func recovers(loss: Double, usesRetransmissionStream: Bool) throws {
        var call = Call(
            LinkConditions(
                loss: loss, delay: .milliseconds(25), jitter: .milliseconds(3), reordering: 0.1,
                reorderingDelay: .milliseconds(6), duplication: 0.1),
            seed: 11, usesRetransmissionStream: usesRetransmissionStream)
        try call.run(frames: 300, seed: 5)
        var cursor = 0
        for frame in call.received {
            let index = try #require(call.sent[cursor...].firstIndex { $0.data == frame.data })
            #expect(index == cursor || call.sent[index].isKeyFrame)
            cursor = index + 1
        }
        let statistics = call.receiver.statistics
        #expect(statistics.framesReceived == call.received.count)
        // At the end nothing that comes later shows the loss of a frame's last packets.
        #expect(call.received.count >= (loss < 0.1 ? 299 : 290))
        #expect((statistics.nackCount > 0) == (loss > 0))
        #expect((statistics.retransmittedPacketsReceived > 0) == (loss > 0))
        #expect(statistics.packetsRejected == 0)
        if loss < 0.1 { #expect(statistics.pliCount == 0) }
        #expect(call.reports.count >= 9)
        if usesRetransmissionStream, loss > 0 {
            let share = Double(call.reports.reduce(0) { $0 + Int($1.fractionLost) }) / 256 / Double(call.reports.count)
            // Second copies make up for some of the losses (RFC 3550 A.3).
            #expect(share < loss * 1.5)
        }
    }

    @Test("A packet whose payload can't be read leads to a key frame request at once")
    func unreadablePayload() throws {
        var receiver = InboundVideoStream(configuration: .init(source: media, formats: formats, localSource: local))
        var stream = VP8TestStream(seed: 6)
        for packet in stream.frame(isKeyFrame: true, packetCount: 2) {
            try receiver.receive(datagram(packet), now: at(0))
        }
        #expect(receiver.pollFrame() != nil)
        #expect(receiver.pollFeedback(now: at(0)).isEmpty)
        let packets = stream.frame(isKeyFrame: false, packetCount: 2)
        // A descriptor that ends before its extension.
        try receiver.receive(Array(datagram(packets[0]).prefix(12)) + [0x80], now: at(33))
        try receiver.receive(datagram(packets[1]), now: at(33))
        #expect(receiver.pollFrame() == nil && receiver.statistics.packetsRejected == 1)
        let request = PictureLossIndication(sender: local, media: media)
        #expect(receiver.pollFeedback(now: at(33)) == [.pictureLossIndication(request)])
    }

    @Test("A requested packet of a codec without RTX is a retransmission, although another codec has RTX")
    func codecWithoutRTX() throws {
        for hasRTX in [false, true] {
            let formats = [
                NegotiatedFormat(.vp8, payloadType: vp8, retransmission: hasRTX ? vp8rtx : nil),
                NegotiatedFormat(
                    TestPayloadFormat.shared, payloadType: PayloadType(masking: 98),
                    retransmission: PayloadType(masking: 99)),
            ]
            var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
            configuration.retransmissionSource = rtx
            var receiver = InboundVideoStream(configuration: configuration)
            receiver.setRoundTripTime(.milliseconds(40))
            var stream = VP8TestStream(seed: 7)
            let packets = stream.frame(isKeyFrame: true, packetCount: 4)
            for index in [0, 1, 3] { try receiver.receive(datagram(packets[index]), now: at(0)) }
            let lost = GenericNACK(sender: local, media: media, lost: [packets[2].number])
            #expect(receiver.pollFeedback(now: at(50)).contains(.genericNACK(lost)))
            try receiver.receive(datagram(packets[2]), now: at(60))
            #expect(receiver.pollFrame() != nil)
            #expect(receiver.statistics.retransmittedPacketsReceived == (hasRTX ? 0 : 1))
        }
    }

    @Test("The lost end of a frame is requested although no newer packet arrives", arguments: [true, false])
    func asksForTail(isKeyFrame: Bool) throws {
        var receiver = InboundVideoStream(configuration: .init(source: media, formats: formats, localSource: local))
        receiver.setRoundTripTime(.milliseconds(40))
        var stream = VP8TestStream(seed: 1)
        if !isKeyFrame {
            for packet in stream.frame(isKeyFrame: true, packetCount: 2) {
                try receiver.receive(datagram(packet), now: at(0))
            }
            _ = receiver.pollFrame()
        }
        let packets = stream.frame(isKeyFrame: isKeyFrame, packetCount: 4)
        for packet in packets.prefix(2) { try receiver.receive(datagram(packet), now: at(0)) }
        func nack(_ packet: VP8TestStream.Packet) -> [RTCPPacket] {
            [.genericNACK(GenericNACK(sender: local, media: media, lost: [packet.number]))]
        }
        #expect(receiver.pollFeedback(now: at(99)).isEmpty)
        #expect(receiver.nextDeadline(now: at(99)) == at(100))
        #expect(receiver.pollFeedback(now: at(100)) == nack(packets[2]))
        #expect(receiver.nextDeadline(now: at(100)) == at(140))
        try receiver.receive(datagram(packets[2]), now: at(140))
        #expect(receiver.pollFeedback(now: at(239)).isEmpty)
        #expect(receiver.pollFeedback(now: at(240)) == nack(packets[3]))
        try receiver.receive(datagram(packets[3]), now: at(280))
        let frame = receiver.pollFrame()
        #expect(frame?.data == packets.flatMap(\.payload))
        #expect(receiver.pollFeedback(now: at(900)).isEmpty)
    }

    @Test("A packet is given up after the last unanswered request, and a key frame is requested")
    func givesUp() throws {
        var receiver = InboundVideoStream(configuration: .init(source: media, formats: formats, localSource: local))
        receiver.setRoundTripTime(.milliseconds(40))
        var stream = VP8TestStream(seed: 1)
        let lost = stream.frame(isKeyFrame: true, packetCount: 1) + stream.frame(isKeyFrame: false, packetCount: 3)
        for packet in [lost[0], lost[1], lost[3]] { try receiver.receive(datagram(packet), now: at(0)) }
        _ = receiver.pollFrame()
        let request = RTCPPacket.pictureLossIndication(PictureLossIndication(sender: local, media: media))
        var asked: [Int] = []
        var requested: Int?
        for time in stride(from: 0, through: 1000, by: 10) where requested == nil {
            let packets = receiver.pollFeedback(now: at(time))
            if packets == [request] { requested = time } else if !packets.isEmpty { asked.append(time) }
        }
        #expect(asked == Array(stride(from: 10, through: 370, by: 40)))
        #expect(requested == 410)
    }

    @Test("The same seed gives the same packets")
    func isDeterministic() throws {
        let conditions = LinkConditions(loss: 0.1, delay: .milliseconds(25), reordering: 0.1, duplication: 0.1)
        var first = Call(conditions, seed: 3)
        var second = Call(conditions, seed: 3)
        try first.run(frames: 60, seed: 1)
        try second.run(frames: 60, seed: 1)
        #expect(first.received.map(\.at) == second.received.map(\.at))
        #expect(first.receiver.statistics == second.receiver.statistics)
        #expect(first.link.toRight.counters == second.link.toRight.counters)
    }

    @Test("A key frame is requested at most once per interval, until one arrives")
    func limitsKeyFrameRequests() throws {
        var receiver = InboundVideoStream(configuration: .init(source: media, formats: formats, localSource: local))
        var stream = VP8TestStream(seed: 1)
        for packet in stream.frame(isKeyFrame: false, packetCount: 1) {
            try receiver.receive(datagram(packet), now: at(0))
        }
        let request = RTCPPacket.pictureLossIndication(PictureLossIndication(sender: local, media: media))
        #expect(receiver.pollFeedback(now: at(0)) == [request])
        #expect(receiver.pollFeedback(now: at(299)).isEmpty)
        #expect(receiver.nextDeadline(now: at(299)) == at(300))
        #expect(receiver.pollFeedback(now: at(300)) == [request])
        for packet in stream.frame(isKeyFrame: true, packetCount: 1) {
            try receiver.receive(datagram(packet), now: at(310))
        }
        let frame = receiver.pollFrame()
        #expect(frame?.isKeyFrame == true)
        #expect(receiver.pollFeedback(now: at(700)).isEmpty)
        receiver.requestKeyFrame(now: at(700))
        #expect(receiver.pollFeedback(now: at(700)) == [request])
        #expect(receiver.statistics.pliCount == 3)
        #expect(receiver.statistics.framesDropped == 1)
    }

    @Test("The deadline of a key frame request is not before its time, however late the deadline is read")
    func lateDeadline() throws {
        var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
        configuration.sendsNACK = false
        var receiver = InboundVideoStream(configuration: configuration)
        var stream = VP8TestStream(seed: 1)
        for packet in stream.frame(isKeyFrame: false, packetCount: 1) {
            try receiver.receive(datagram(packet), now: at(0))
        }
        #expect(receiver.pollFeedback(now: at(0)).count == 1)
        for packet in stream.frame(isKeyFrame: true, packetCount: 2).prefix(1) {
            try receiver.receive(datagram(packet), now: at(100))
        }
        // A request is due 500 ms after the start of the key frame, and the interval of requests has passed.
        #expect(receiver.pollFeedback(now: at(599)).isEmpty)
        #expect(receiver.nextDeadline(now: at(599)) == at(600))
        #expect(receiver.nextDeadline(now: at(602)) == at(600))
        #expect(receiver.pollFeedback(now: at(602)).count == 1)
        #expect(receiver.nextDeadline(now: at(602)) == at(902))
    }

    @Test("FIR counts its requests when PLI was not negotiated")
    func fullIntraRequest() throws {
        var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
        configuration.keyFrameRequest = .fullIntraRequest
        var receiver = InboundVideoStream(configuration: configuration)
        var stream = VP8TestStream(seed: 1)
        for packet in stream.frame(isKeyFrame: false, packetCount: 1) {
            try receiver.receive(datagram(packet), now: at(0))
        }
        for (count, time) in [(1, 0), (2, 300)] as [(UInt8, Int)] {
            #expect(
                receiver.pollFeedback(now: at(time)) == [
                    .fullIntraRequest(
                        FullIntraRequest(sender: local, entries: [.init(source: media, sequenceNumber: count)]))
                ])
        }
        #expect(receiver.statistics.firCount == 2)
    }

    private static func redReceiver() -> InboundVideoStream {
        var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
        configuration.retransmissionSource = rtx
        configuration.forwardErrorCorrection = ForwardErrorCorrectionTypes(
            red: PayloadType(masking: 112), redRetransmission: PayloadType(masking: 113),
            ulpfec: PayloadType(masking: 114))
        return InboundVideoStream(configuration: configuration)
    }

    /// A datagram put into RED: a byte more before its payload, and another payload type.
    private static func inRED(_ datagram: [UInt8], prefix: Int = 0, payloadType: UInt8 = 112) -> [UInt8] {
        var bytes = datagram
        bytes[1] = bytes[1] & 0x80 | payloadType
        bytes.insert(96, at: 12 + prefix)
        return bytes
    }

    @Test("Packets in RED are received like others, including retransmitted ones")
    func receivesRED() throws {
        var receiver = Self.redReceiver()
        var stream = VP8TestStream(seed: 1)
        let frames = (0..<3).map { stream.frame(isKeyFrame: $0 == 0, packetCount: 2, size: 100) }
        for packet in frames[0] { try receiver.receive(Self.inRED(datagram(packet)), now: at(0)) }
        try receiver.receive(datagram(frames[1][0]), now: at(0))
        let again = try datagram(frames[1][1], retransmissionNumber: SequenceNumber(9))
        try receiver.receive(Self.inRED(again, prefix: 2, payloadType: 113), now: at(1))
        for packet in frames[2] { try receiver.receive(Self.inRED(datagram(packet)), now: at(2)) }
        for frame in frames { #expect(receiver.pollFrame()?.data == frame.flatMap(\.payload)) }
        #expect(receiver.statistics.packetsRejected == 0 && receiver.statistics.retransmittedPacketsReceived == 1)
    }

    @Test("A block of RED that is unknown leads to a key frame request at once")
    func unknownBlock() throws {
        var receiver = Self.redReceiver()
        var stream = VP8TestStream(seed: 1)
        for index in 0..<3 {
            var bytes = try Self.inRED(datagram(stream.frame(isKeyFrame: index == 0, packetCount: 1)[0]))
            if index == 1 { bytes[12] = 77 }
            try receiver.receive(bytes, now: at(index))
        }
        #expect(receiver.pollFrame()?.isKeyFrame == true)
        #expect(
            receiver.pollFeedback(now: at(3)) == [
                .pictureLossIndication(PictureLossIndication(sender: local, media: media))
            ])
        #expect(receiver.statistics.packetsRejected == 1)
    }

    @Test("A packet recovered by FEC is requested no more and counts as lost")
    func recovers() throws {
        var receiver = Self.redReceiver()
        var stream = VP8TestStream(seed: 1)
        let packets = stream.frame(isKeyFrame: true, packetCount: 4, size: 100)
        var encoder = ULPFECEncoder()
        encoder.begin(corrections: 1)
        for (index, packet) in packets.enumerated() {
            let bytes = try Self.inRED(datagram(packet))
            encoder.add(
                header: bytes.span.bytes.extracting(0..<12), payloadType: vp8,
                payload: bytes.span.bytes.extracting(13..<bytes.count))
            if index != 1 { try receiver.receive(bytes, now: at(0)) }
        }
        var correction = try Self.inRED(datagram(packets[0])).prefix(13) + [UInt8](repeating: 0, count: 200)
        (correction[1], correction[12]) = (112, 114)
        let number = packets[3].number.next.rawValue
        (correction[2], correction[3]) = (UInt8(number >> 8), UInt8(number & 0xFF))
        do {
            var rest = Array(correction[13...])
            var span = rest.mutableSpan
            var writer = ByteWriter(span.mutableBytes)
            try encoder.write(0, to: &writer)
            let count = writer.offset
            correction = correction.prefix(13) + rest.prefix(count)
        }
        #expect(receiver.pollFrame() == nil)
        try receiver.receive(Array(correction), now: at(5))
        #expect(receiver.pollFrame()?.data == packets.flatMap(\.payload))
        #expect(receiver.pollFeedback(now: at(1000)).isEmpty)
        let statistics = receiver.statistics
        #expect(statistics.packetsRecovered == 1 && statistics.packetsLost == 1 && statistics.packetsRejected == 0)
        #expect(statistics.packetsRepaired == 1)
        #expect(statistics.fecPacketsReceived == 1)
        #expect(statistics.fecBytesReceived == correction.count - 13)
    }

    @Test(
        "A lost packet is repaired by its retransmission, once, and a late one was not lost", arguments: [true, false])
    func countsRepairs(isSeparate: Bool) throws {
        var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
        configuration.retransmissionSource = isSeparate ? rtx : nil
        var receiver = InboundVideoStream(configuration: configuration)
        var stream = VP8TestStream(seed: 1)
        let packets = stream.frame(isKeyFrame: true, packetCount: 6, size: 1000)
        for index in [0, 2, 4, 5] { try receiver.receive(datagram(packets[index]), now: at(0)) }
        #expect(!receiver.pollFeedback(now: at(50)).isEmpty)
        for number: UInt16 in [9, 10] {
            let number = isSeparate ? SequenceNumber(number) : nil
            try receiver.receive(datagram(packets[1], retransmissionNumber: number), now: at(80))
        }
        try receiver.receive(datagram(packets[3]), now: at(90))
        let statistics = receiver.statistics
        #expect(statistics.packetsRepaired == (isSeparate ? 1 : 0))
        #expect(max(statistics.packetsLost, 0) - statistics.packetsRepaired == 0)
    }

    @Test("Bytes of payloads, headers with padding, and retransmissions are counted separately")
    func countsBytes() throws {
        var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
        configuration.retransmissionSource = rtx
        var receiver = InboundVideoStream(configuration: configuration)
        var stream = VP8TestStream(seed: 1)
        let packets = stream.frame(isKeyFrame: true, packetCount: 2, size: 100)
        try receiver.receive(datagram(packets[0]), now: at(0))
        try receiver.receive(datagram(packets[1], retransmissionNumber: SequenceNumber(9)), now: at(1))
        var strange = try datagram(packets[1], payloadType: PayloadType(masking: 100))
        strange[0] |= 0x20
        strange += [0, 0, 3]
        try receiver.receive(strange, now: at(2))
        let statistics = receiver.statistics
        #expect(statistics.packetsReceived == 3)
        #expect(statistics.bytesReceived == 104 + 106 + 104)
        #expect(statistics.headerBytesReceived == 12 + 12 + 15)
        #expect(statistics.retransmittedPacketsReceived == 1)
        #expect(statistics.retransmittedBytesReceived == 106)
        #expect(statistics.packetsRejected == 1)
        #expect(statistics.lastPacketReceivedTimestamp == at(2))
        let frame = receiver.pollFrame()
        #expect(frame?.data == packets.flatMap(\.payload))
        #expect(receiver.statistics.framesAssembledFromMultiplePackets == 1)
        #expect(receiver.statistics.totalAssemblyTime == .milliseconds(1))
    }

    @Test("Payloads truncated at any length or with any byte changed do not trap", arguments: [false, true])
    func survivesDamage(overRetransmission: Bool) throws {
        var configuration = InboundVideoStream.Configuration(source: media, formats: formats, localSource: local)
        configuration.retransmissionSource = rtx
        var stream = VP8TestStream(seed: 1)
        let packet = stream.frame(isKeyFrame: true, packetCount: 1, size: 12, layer: .base)[0]
        let whole = try datagram(packet, retransmissionNumber: overRetransmission ? SequenceNumber(1) : nil)
        for length in 12...whole.count {
            var receiver = InboundVideoStream(configuration: configuration)
            try receiver.receive(Array(whole.prefix(length)), now: at(0))
            _ = receiver.pollFeedback(now: at(1000))
            #expect(receiver.statistics.packetsReceived == 1)
        }
        var receiver = InboundVideoStream(configuration: configuration)
        for index in whole.indices {
            for value in UInt8.min...UInt8.max {
                var damaged = whole
                damaged[index] = value
                try? receiver.receive(damaged, now: at(index))
                _ = receiver.pollFeedback(now: at(index))
                while receiver.pollFrame() != nil {}
            }
        }
    }
}

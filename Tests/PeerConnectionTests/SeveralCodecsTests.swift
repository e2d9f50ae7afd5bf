import RTCShareRTP
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection

/// Two video codecs in one media section.
@Suite struct SeveralCodecsTests {
    private static let both: [any VideoPayloadFormat] = [.vp8, TestPayloadFormat.shared]

    private static func offer() throws -> SessionDescription {
        let source = try #require(Samples.content.source)
        return try Samples.offer(sections: [
            .video(codecs: NegotiableCodec.video(both), source: source, isSlides: true)
        ])
    }

    private static func answer(_ formats: [any VideoPayloadFormat]) throws -> SessionDescription {
        var parameters = Samples.answering
        parameters.codecs = NegotiableCodec.video(formats)
        return try SessionDescription.parse(Negotiation.makeAnswer(to: offer(), parameters).answer.description)
    }

    private static func codecs(_ description: SessionDescription) throws -> [NegotiatedCodec] {
        try Negotiation.negotiate(offer: offer(), answer: description).acceptedMedia[0].codecs
    }

    @Test("An offer has the codecs in order, each with retransmission, and one error correction")
    func offered() throws {
        let media = try Self.offer().media[0]
        #expect(media.formats == ["96", "97", "98", "99", "112", "113", "114"])
        #expect(
            try media.rtpMaps().map(\.description) == [
                "96 VP8/90000", "97 rtx/90000", "98 TEST/90000", "99 rtx/90000", "112 red/90000", "113 rtx/90000",
                "114 ulpfec/90000",
            ])
        #expect(try media.formatParameters(of: 99)?["apt"] == "98")
        #expect(try media.feedback(for: 98) == media.feedback(for: 96))
    }

    @Test("An answer has all common codecs in the order of the offer, and the offer takes the order of the answer")
    func order() throws {
        let answer = try Self.answer(Self.both.reversed())
        #expect(answer.media[0].formats == ["96", "97", "98", "99", "112", "113", "114"])
        let codecs = try Self.codecs(answer)
        #expect(codecs.map(\.map.encodingName) == ["VP8", "TEST"] && codecs.map(\.rtxPayloadType) == [97, 99])
        let reordered = answer.description.replacing("SAVPF 96 97 98 99", with: "SAVPF 98 99 96 97")
        #expect(try Self.codecs(.parse(reordered)).map(\.map.payloadType) == [98, 96])
    }

    @Test("An answer that takes only the second codec has only its payload types")
    func second() throws {
        let answer = try Self.answer([TestPayloadFormat.shared])
        #expect(answer.media[0].formats == ["98", "99", "112", "113", "114"])
        let codecs = try Self.codecs(answer)
        #expect(codecs.map(\.map.encodingName) == ["TEST"] && codecs.map(\.rtxPayloadType) == [99])
    }

    @Test("A codec of the answer without feedback does not end that of the others")
    func feedback() throws {
        let lines = try Self.answer(Self.both).description.split(separator: "\r\n")
            .filter { !$0.hasPrefix("a=rtcp-fb:98") }
        let answer = try SessionDescription.parse(lines.map { $0 + "\r\n" }.joined())
        let media = try Negotiation.negotiate(offer: Self.offer(), answer: answer).acceptedMedia[0]
        #expect(media.codecs.map(\.feedback.count) == [6, 0] && media.feedback.count == 6)
        let offer = try Self.offer().description.split(separator: "\r\n").filter { !$0.hasPrefix("a=rtcp-fb:96 nack") }
        var parameters = Samples.answering
        parameters.codecs = NegotiableCodec.video(Self.both)
        let (own, session) = try Negotiation.makeAnswer(
            to: .parse(offer.map { $0 + "\r\n" }.joined()), parameters)
        #expect(try own.media[0].feedback(for: 96).count == 4 && own.media[0].feedback(for: 98).count == 6)
        #expect(session.acceptedMedia[0].feedback.contains(.nack))
    }

    @Test("A codec with a payload type of RTCP is left out, and the others stay")
    func numberOfRTCP() throws {
        let answer = try Self.answer(Self.both).description.replacing("SAVPF 96 97 98", with: "SAVPF 72 97 98")
            .replacing("a=rtpmap:96 ", with: "a=rtpmap:72 ")
        #expect(try Self.codecs(.parse(answer)).map(\.map.payloadType) == [98])
        let offer = try Self.offer().description.replacing("SAVPF 96 97 98", with: "SAVPF 72 97 98")
            .replacing("a=rtpmap:96 ", with: "a=rtpmap:72 ")
        var parameters = Samples.answering
        parameters.codecs = NegotiableCodec.video(Self.both)
        let own = try Negotiation.makeAnswer(to: .parse(offer), parameters).answer
        #expect(own.media[0].formats.prefix(2) == ["98", "99"])
    }

    // Calls.

    /// A call that is connected, with the payload types of the sender's packets.
    private struct Call {
        let call: SimulatedCall
        let types: Box<[UInt8]>
        private var number = FrameNumber(40_000)

        init(
            seed: UInt64, viewer formats: [any VideoPayloadFormat] = both,
            loses: @escaping (_ payloadType: UInt8) -> Bool = { _ in false }
        ) throws {
            var options = SimulatedCall.Options()
            options.sender.videoFormats = both
            options.viewer.videoFormats = formats
            call = try SimulatedCall(
                conditions: LinkConditions(delay: .milliseconds(5)), seed: seed, options: options)
            types = Box<[UInt8]>([])
            let types = types
            func payloadType(_ datagram: Datagram, _ end: SimulatedCall.End) -> UInt8? {
                let isRTP = end == .left && DatagramKind(datagram.bytes.span.bytes) == .rtp
                return isRTP ? datagram.bytes[1] & 0x7F : nil
            }
            call.loses = { datagram, end in
                guard let type = payloadType(datagram, end) else { return false }
                types.value.append(type)
                return loses(type)
            }
            call.run(for: .milliseconds(500), sendsFrames: false)
            try #require(call.record.connected != nil)
        }

        /// Sends a frame of the second codec.
        mutating func sendTestFrame(isKeyFrame: Bool = false) {
            let frame = PacketizedFrame(
                [isKeyFrame ? TestPayloadFormat.key : 0] + (0..<3000).map { UInt8(truncatingIfNeeded: $0) },
                format: TestPayloadFormat.shared, number: number.takeNext(), isKeyFrame: isKeyFrame,
                captureTime: .nanoseconds(call.now.nanoseconds), width: 32, height: 16, stream: 1)
            call.sender.send(frame, media: 0, now: call.now)
            call.run(for: .milliseconds(50), sendsFrames: false)
        }

        func sendVP8Frame() {
            call.sendFrame(media: 0)
            // A key frame takes a while at the start bitrate.
            call.run(for: .milliseconds(500), sendsFrames: false)
        }

        /// The names of the codecs of received frames, with a star for key frames.
        var received: [String] {
            call.record.frames.map { $0.format.encodingName + ($0.isKeyFrame ? "*" : "") }
        }
    }

    @Test("Frames of the second codec are sent to a viewer that takes only this one, and no others")
    func onlySecond() throws {
        var call = try Call(seed: 1101, viewer: [TestPayloadFormat.shared])
        call.sendVP8Frame()
        #expect(call.types.value.isEmpty && call.call.sender.counts.framesDroppedBeforeConnection == 1)
        call.sendTestFrame(isKeyFrame: true)
        call.sendTestFrame()
        #expect(call.received == ["TEST*", "TEST"])
        #expect(call.call.record.frames.first?.data.count == 3001 && call.call.record.frames.first?.size?.width == 32)
        #expect(Set(call.types.value).isSubset(of: [98, 99]))
    }

    @Test("The codec changes with a key frame, and back, and frames have its payload type")
    func change() throws {
        var call = try Call(seed: 1102)
        for _ in 0..<2 { call.sendVP8Frame() }
        call.sendTestFrame()
        for index in 0..<3 { call.sendTestFrame(isKeyFrame: index == 0) }
        #expect(call.received == ["VP8*", "VP8", "TEST*", "TEST", "TEST"])
        #expect(call.call.sender.sendingSummary(now: call.call.now).codec == "TEST")
        // A key frame of the first codec was requested for the frame that was refused.
        for _ in 0..<2 { call.sendVP8Frame() }
        #expect(call.received.suffix(2) == ["VP8*", "VP8"])
        // Padding repeats packets with other payload types.
        let types = call.types.value.filter { [96, 98].contains($0) }
        #expect(types.indices.filter { $0 == 0 || types[$0 - 1] != types[$0] }.map { types[$0] } == [96, 98, 96])
        let frames = call.call.record.frames
        let numbers = (frames.first?.pictureID, frames.last?.pictureID)
        #expect(numbers.1.flatMap { last in numbers.0.map { last.distance(from: $0) } } == frames.count - 1)
        #expect(call.call.viewer.receivers.media[0].video?.statistics.pliCount == 0)
    }

    @Test("Packets of the former codec are retransmitted with its payload type after the change")
    func retransmission() throws {
        let isLosing = Box(false)
        var call = try Call(seed: 1103, loses: { isLosing.value && $0 == 96 })
        call.sendVP8Frame()
        isLosing.value = true
        call.sendVP8Frame()
        isLosing.value = false
        call.types.value = []
        call.sendTestFrame(isKeyFrame: true)
        call.sendTestFrame()
        call.call.run(for: .milliseconds(300), sendsFrames: false)
        #expect(call.received == ["VP8*", "VP8", "TEST*", "TEST"])
        #expect(call.types.value.contains(97) && !call.types.value.contains(96))
        let statistics = call.call.sender.report(now: call.call.now)
        #expect(statistics.codecs.map(\.mimeType) == ["video/TEST"])
    }

    // Assembly.

    private static func packets(
        _ format: any VideoPayloadFormat, _ frame: [UInt8]
    ) throws -> [(content: PacketContent, piece: [UInt8])] {
        let frame = PacketizedFrame(
            frame, format: format, number: FrameNumber(1), isKeyFrame: false, captureTime: .zero, width: 16, height: 16,
            maximumPayloadByteCount: 16)
        return try (0..<frame.fragmentCount).map { index in
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = try bytes.withUnsafeMutableBytes { memory in
                var writer = ByteWriter(memory.mutableBytes)
                try frame.writePayload(at: index, to: &writer)
                return writer.offset
            }
            bytes.removeLast(16 - count)
            let (content, piece) = try format.read(bytes.span.bytes)
            return (content, Array(bytes[piece]))
        }
    }

    private static let key = [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x00, 0x05, 0xD0, 0x02] as [UInt8]

    @Test("A frame that is no key frame does not follow a frame of another codec")
    func foreignDelta() throws {
        var assembler = FrameAssembler()
        let packets = try Self.packets(.vp8, Self.key) + Self.packets(TestPayloadFormat.shared, [0])
        for (index, packet) in packets.enumerated() {
            assembler.insert(
                SequenceNumber(UInt16(index)), timestamp: RTPTimestamp(UInt32(index)), marker: true,
                content: packet.content, piece: packet.piece, now: at(milliseconds: index))
        }
        #expect(assembler.pollFrame()?.data == Self.key)
        #expect(assembler.pollFrame() == nil && assembler.framesDropped == 1)
        #expect(assembler.needsKeyFrame(now: at(milliseconds: 2)))
    }

    @Test("Packets of two codecs are not one frame")
    func mixedFrame() throws {
        var assembler = FrameAssembler()
        let first = try Self.packets(.vp8, Self.key + Self.key)
        let other = try Self.packets(TestPayloadFormat.shared, [UInt8](repeating: 0, count: 20))
        for (index, packet) in [first[0], other[1]].enumerated() {
            assembler.insert(
                SequenceNumber(UInt16(index)), timestamp: RTPTimestamp(1), marker: index == 1, content: packet.content,
                piece: packet.piece, now: at(milliseconds: 0))
        }
        #expect(assembler.pollFrame() == nil)
    }
}

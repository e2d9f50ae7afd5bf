import RTCShareRTP
import RTCShareWireFormat
import TestSupport

/// An RTP packet is read with everything in it, and explained.
struct RTPTarget: FuzzTarget {
    private let map: HeaderExtensionMap

    init() {
        var map = HeaderExtensionMap()
        for (index, kind) in HeaderExtensionKind.allCases.enumerated() { map[kind] = UInt8(index + 1) }
        self.map = map
    }

    func run(_ input: [UInt8]) throws {
        let packet = input.span.bytes
        _ = DatagramKind(packet)
        for format in VideoPayloadFormats.explained {
            let formats = (0...127).compactMap { PayloadType($0) }.map { ($0, format) }
            _ = PacketExplanation(formats: Dictionary(uniqueKeysWithValues: formats)).explain(packet)
        }
        let header = try RTPHeader(parsing: packet)
        expect(header.payloadRange.upperBound + header.paddingByteCount == input.count, "a packet is taken whole")
        expect(header.extensionRange.upperBound <= header.payloadRange.lowerBound, "extensions stand in the header")
        let extensions = HeaderExtensions(header, in: packet, map: map)
        _ = header.contributingSources(in: packet)
        let payload = header.payload(of: packet)
        _ = try? VP8FrameHeader(parsing: payload)
        if let opus = try? OpusPacket(parsing: payload) {
            expect(opus.sampleCount <= OpusPacket.maximumSampleCount, "an Opus packet is 120 ms at most")
        }
        if let (descriptor, count) = try? VP8PayloadDescriptor.parse(payload) {
            expect(count <= payload.byteCount, "a descriptor lies within its payload")
            let read = try VP8PayloadDescriptor.parse(descriptor.bytes.span.bytes)
            expect(read.descriptor == descriptor, "a descriptor is the same once it was written and read")
        }
        try writeAgain(header, extensions)
    }

    /// What this library can write of a header is the same when it is read.
    private func writeAgain(_ header: RTPHeader, _ extensions: HeaderExtensions) throws {
        // An identification that is not UTF-8 grows where it is read, and may not fit any more.
        if let text = extensions.mediaIdentification, text.utf8.count > 255 { return }
        let outgoing = OutgoingRTPHeader(
            marker: header.marker, payloadType: header.payloadType, sequenceNumber: header.sequenceNumber,
            timestamp: header.timestamp, source: header.source, extensions: extensions)
        let bytes = try written(outgoing.byteCount(map: map)) { writer in try outgoing.write(to: &writer, map: map) }
        let read = try RTPHeader(parsing: bytes.span.bytes)
        expect(
            read.sequenceNumber == header.sequenceNumber && read.source == header.source
                && HeaderExtensions(read, in: bytes.span.bytes, map: map) == extensions,
            "a header is the same once it was written and read")
    }

    func seeds() throws -> [String: [UInt8]] {
        var stream = VP8TestStream(seed: 1)
        var seeds: [String: [UInt8]] = [:]
        for packet in stream.frame(isKeyFrame: true, packetCount: 2, layer: .base) {
            var extensions = HeaderExtensions()
            extensions.mediaIdentification = "0"
            extensions.transportSequenceNumber = TransportSequenceNumber(7)
            extensions.videoOrientation = VideoOrientation(quarterTurns: 1)
            let header = OutgoingRTPHeader(
                marker: packet.marker, payloadType: PayloadType(masking: 96), sequenceNumber: packet.number,
                timestamp: packet.timestamp,
                source: SynchronizationSource(1), extensions: extensions)
            let head = try written(header.byteCount(map: map)) { writer in try header.write(to: &writer, map: map) }
            seeds["vp8-\(packet.number)"] = head + packet.descriptor.bytes + packet.payload
        }
        return seeds
    }
}

/// A compound RTCP packet is read, explained and written again.
struct RTCPTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        _ = PacketExplanation().explain(input.span.bytes)
        let packets = try RTCPPacket.parse(compound: input.span.bytes)
        expect(packets.count <= RTCPPacket.maximumPacketCount, "the packets of a compound are bounded")
        let written = packets.flatMap(\.bytes)
        let read = try RTCPPacket.parse(compound: written.span.bytes)
        expect(read.count == packets.count, "as many packets are read as were written")
        // The zeros behind what was unreadable may make it readable.
        guard packets.allSatisfy(\.isReadable) else { return }
        let again = read.flatMap(\.bytes)
        expect(again == written, "packets are the same once they were written and read")
    }

    func seeds() -> [String: [UInt8]] {
        let (one, two) = (SynchronizationSource(1), SynchronizationSource(2))
        let feedback = RTCPBundleWriter(source: one, canonicalName: "x", allowsReducedSize: false).datagrams(
            report: .receiverReport(ReceiverReport(source: one, reportBlocks: [])),
            feedback: [
                .pictureLossIndication(PictureLossIndication(sender: one, media: two)),
                .receiverEstimatedMaximumBitrate(
                    ReceiverEstimatedMaximumBitrate(sender: one, bitrate: .kilobitsPerSecond(300), sources: [two])),
                .transportFeedback(
                    TransportFeedback(
                        sender: one, media: two, baseSequenceNumber: TransportSequenceNumber(1), referenceTime: 1,
                        feedbackPacketCount: 1, deltas: [0, 4, nil, 300, -9])),
                .goodbye(Goodbye(sources: [one])),
            ])
        var seeds = Dictionary(uniqueKeysWithValues: feedback.enumerated().map { ("feedback-\($0)", $1) })
        let limit = TemporaryMaximumBitrate.Entry(source: two, bitrate: .kilobitsPerSecond(300), overhead: 40)
        seeds["limits"] = [false, true].flatMap { isNotification in
            RTCPPacket.temporaryMaximumBitrate(
                TemporaryMaximumBitrate(isNotification: isNotification, sender: one, entries: [limit])
            ).bytes
        }
        return seeds
    }
}

/// A recording of rtpdump, whose packets are explained.
struct RTPDumpTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        var reader = try RTPDumpReader(input)
        let explanation = PacketExplanation()
        while let packet = try reader.next() { _ = explanation.explain(packet.bytes.span.bytes) }
    }

    func seeds() -> [String: [UInt8]] {
        let packet: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0x10, 1, 2]
        let head = Array("#!rtpplay1.0 0.0.0.0/0\n".utf8) + [UInt8](repeating: 0, count: 16)
        let record: [UInt8] = [0, UInt8(packet.count + 8), 0, UInt8(packet.count), 0, 0, 0, 9] + packet
        return ["two": head + record + record]
    }
}

extension RTCPPacket {
    fileprivate var isReadable: Bool {
        if case .opaque(let packet) = self { packet.error == nil } else { true }
    }
}

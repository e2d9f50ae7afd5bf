import RTCShareWireFormat

/// Describes a packet in one line, for people who inspect a recording.
package struct PacketExplanation: Sendable {
    /// The payload formats of payload types whose payloads are also described.
    package var formats: [PayloadType: any VideoPayloadFormat]

    package init(formats: [PayloadType: any VideoPayloadFormat] = [:]) {
        self.formats = formats
    }

    /// Creates the explanation of decrypted packets whose description is unknown.
    ///
    /// Each dynamic payload type has the payload format of which most packets begin a readable key frame. Types of
    /// which none does have the first format, unless they are in the second range (RFC 5761 §4), which is used less.
    package init(
        guessingFormatsOf packets: [[UInt8]], among formats: [any VideoPayloadFormat] = VideoPayloadFormats.explained
    ) {
        self.init()
        var keyFrameCounts: [PayloadType: [Int]] = [:]
        for packet in packets where DatagramKind(packet.span.bytes) == .rtp {
            guard let header = try? RTPHeader(parsing: packet.span.bytes), !header.payloadRange.isEmpty,
                (96...127).contains(header.payloadType.rawValue) || (35...63).contains(header.payloadType.rawValue)
            else { continue }
            let payload = header.payload(of: packet.span.bytes)
            for (index, format) in formats.enumerated() {
                guard (try? format.read(payload))?.content.startsKeyFrame == true, (try? format.explain(payload)) != nil
                else { continue }
                keyFrameCounts[header.payloadType, default: formats.map { _ in 0 }][index] += 1
            }
        }
        for type in (96...127).compactMap({ PayloadType($0) }) { self.formats[type] = formats.first }
        for (type, counts) in keyFrameCounts {
            self.formats[type] = zip(formats, counts).max { $0.1 < $1.1 }?.0
        }
    }

    /// Returns one line, without a line end, about a decrypted packet.
    package func explain(_ packet: RawSpan) -> String {
        do throws(RTPError) {
            switch DatagramKind(packet) {
            case .rtp: return try explainRTP(packet)
            case .rtcp:
                let packets = try RTCPPacket.parse(compound: packet)
                return "RTCP " + packets.map(Self.line).joined(separator: ", ")
            case let kind: return "neither RTP nor RTCP (\(kind)), \(packet.byteCount) bytes"
            }
        } catch {
            return "not readable: \(error)"
        }
    }

    private func explainRTP(_ packet: RawSpan) throws(RTPError) -> String {
        let header = try RTPHeader(parsing: packet)
        var parts = [
            "RTP pt=\(header.payloadType)", "seq=\(header.sequenceNumber)", "ts=\(header.timestamp)",
            "ssrc=\(header.source)",
        ]
        if header.marker { parts.append("marker") }
        if header.contributingSourceCount > 0 {
            parts.append("csrc=\(header.contributingSources(in: packet).map(\.description).joined(separator: "+"))")
        }
        var ids: [String] = []
        var reader = HeaderExtensionReader(header, in: packet)
        while let element = reader.next() { ids.append("\(element.id):\(element.range.count)") }
        if !ids.isEmpty { parts.append("extensions=\(ids.joined(separator: "+"))") }
        if header.paddingByteCount > 0 { parts.append("padding=\(header.paddingByteCount)") }
        parts.append("payload=\(header.payloadRange.count)")
        if let format = formats[header.payloadType], !header.payloadRange.isEmpty {
            parts.append(Self.explain(header.payload(of: packet), in: format))
        }
        return parts.joined(separator: " ")
    }

    private static func explain(_ payload: RawSpan, in format: any VideoPayloadFormat) -> String {
        do throws(RTPError) {
            return "\(format.encodingName) \(try format.explain(payload))"
        } catch {
            return "\(format.encodingName) not readable: \(error)"
        }
    }

    private static func line(_ packet: RTCPPacket) -> String {
        switch packet {
        case .senderReport(let report):
            "SR ssrc=\(report.source) ts=\(report.rtpTimestamp) packets=\(report.packetCount) "
                + "octets=\(report.octetCount)\(blocks(report.reportBlocks))"
        case .receiverReport(let report): "RR ssrc=\(report.source)\(blocks(report.reportBlocks))"
        case .sourceDescription(let description):
            "SDES "
                + description.chunks.map { "ssrc=\($0.source) cname=\(($0.canonicalName ?? "-").printable)" }
                .joined(separator: " ")
        case .goodbye(let goodbye):
            "BYE \(list(goodbye.sources))" + (goodbye.reason.map { " reason=\($0.printable)" } ?? "")
        case .application(let packet): "APP ssrc=\(packet.source) data=\(packet.data.count)"
        case .genericNACK(let nack):
            "NACK media=\(nack.media) lost=\(nack.lost.map(\.description).joined(separator: "+"))"
        case .transportFeedback(let feedback):
            "TWCC #\(feedback.feedbackPacketCount) base=\(feedback.baseSequenceNumber) "
                + "count=\(feedback.deltas.count) received=\(feedback.deltas.count { $0 != nil })"
        case .pictureLossIndication(let indication): "PLI media=\(indication.media)"
        case .fullIntraRequest(let request):
            "FIR " + request.entries.map { "ssrc=\($0.source) seq=\($0.sequenceNumber)" }.joined(separator: " ")
        case .temporaryMaximumBitrate(let limits):
            (limits.isNotification ? "TMMBN" : "TMMBR")
                + limits.entries.map { " ssrc=\($0.source) \($0.bitrate.bitsPerSecond) bit/s" }.joined()
        case .receiverEstimatedMaximumBitrate(let estimate):
            "REMB \(estimate.bitrate.bitsPerSecond) bit/s \(list(estimate.sources))"
        case .opaque(let packet):
            "type \(packet.packetType)/\(packet.count) \(packet.body.count) bytes"
                + (packet.error.map { " (\($0))" } ?? "")
        }
    }

    private static func blocks(_ blocks: [ReportBlock]) -> String {
        blocks.map { block in
            " [ssrc=\(block.source) lost=\(block.fractionLost)/256 total=\(block.cumulativeLost) "
                + "highest=\(block.extendedHighestSequenceNumber) jitter=\(block.jitter)]"
        }.joined()
    }

    private static func list(_ sources: [SynchronizationSource]) -> String {
        "ssrc=" + sources.map(\.description).joined(separator: "+")
    }
}

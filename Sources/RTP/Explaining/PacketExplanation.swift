import RTCShareWireFormat

/// Describes a packet in one line, for people who inspect a recording.
package struct PacketExplanation: Sendable {
    /// The payload types whose VP8 descriptor is also described.
    package var vp8PayloadTypes: Set<PayloadType>

    package init(vp8PayloadTypes: Set<PayloadType> = []) {
        self.vp8PayloadTypes = vp8PayloadTypes
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
        if vp8PayloadTypes.contains(header.payloadType), !header.payloadRange.isEmpty {
            parts.append(Self.explainVP8(header.payload(of: packet)))
        }
        return parts.joined(separator: " ")
    }

    private static func explainVP8(_ payload: RawSpan) -> String {
        do throws(RTPError) {
            let (descriptor, count) = try VP8PayloadDescriptor.parse(payload)
            var parts = ["VP8 S=\(descriptor.startsPartition ? 1 : 0) PID=\(descriptor.partitionIndex)"]
            if descriptor.isNonReference { parts.append("N=1") }
            if let id = descriptor.pictureID { parts.append("picture=\(id.value)") }
            if let index = descriptor.temporalLevelZeroIndex { parts.append("TL0PICIDX=\(index)") }
            if let layer = descriptor.temporalLayer {
                parts.append("TID=\(layer.index) Y=\(layer.dependsOnBaseOnly ? 1 : 0)")
            }
            if let index = descriptor.keyFrameIndex { parts.append("KEYIDX=\(index)") }
            if descriptor.startsFrame {
                let frame = try VP8FrameHeader(parsing: payload.extracting(count..<payload.byteCount))
                parts.append(frame.isKeyFrame ? "key frame \(frame.width)x\(frame.height)" : "frame")
            }
            return parts.joined(separator: " ")
        } catch {
            return "VP8 not readable: \(error)"
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

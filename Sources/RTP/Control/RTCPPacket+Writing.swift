import RTCShareWireFormat

extension RTCPPacket {
    /// The packet's bytes, a multiple of four.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// Appends the packet's bytes to a compound packet.
    ///
    /// Items beyond a packet's maximum count are written into further packets: reports with more than 31 blocks
    /// continue in receiver reports, descriptions and goodbyes of more than 31 sources in packets of their own type
    /// (RFC 3550 §6.4.1).
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .senderReport(let report): report.append(to: &bytes)
        case .receiverReport(let report): report.append(to: &bytes)
        case .sourceDescription(let description): description.append(to: &bytes)
        case .goodbye(let goodbye): goodbye.append(to: &bytes)
        case .application(let packet): packet.append(to: &bytes)
        case .genericNACK(let nack): nack.append(to: &bytes)
        case .transportFeedback(let feedback): feedback.append(to: &bytes)
        case .pictureLossIndication(let indication): indication.append(to: &bytes)
        case .fullIntraRequest(let request): request.append(to: &bytes)
        case .temporaryMaximumBitrate(let limits): limits.append(to: &bytes)
        case .receiverEstimatedMaximumBitrate(let estimate): estimate.append(to: &bytes)
        case .opaque(let packet):
            bytes.appendRTCP(packet.packetType, count: packet.count) { $0 += packet.body }
        }
    }
}

/// The maximum number of sources or blocks that the five-bit count of a packet allows.
private let maximumCount = 31

extension [UInt8] {
    /// Appends a packet: the common header, the bytes that `body` appends, zeros up to a multiple of four, and the
    /// length.
    fileprivate mutating func appendRTCP(_ packetType: UInt8, count: some BinaryInteger, body: (inout [UInt8]) -> Void)
    {
        let start = self.count
        append(0x80 | UInt8(truncatingIfNeeded: count) & 0x1F)
        append(packetType)
        append(bigEndian: UInt16(0))
        body(&self)
        while (self.count - start) % 4 != 0 { append(0) }
        replace(bigEndian: UInt16(truncatingIfNeeded: (self.count - start) / 4 - 1), at: start + 2)
    }

    fileprivate mutating func append(_ source: SynchronizationSource) {
        append(bigEndian: source.rawValue)
    }

    fileprivate mutating func append(_ block: ReportBlock) {
        append(block.source)
        append(block.fractionLost)
        // The count is limited to 24 bits, as in RFC 3550 §A.3 (§6.4.1 does not define it).
        append(bigEndian24: UInt32(bitPattern: Swift.max(-0x80_0000, Swift.min(0x7F_FFFF, block.cumulativeLost))))
        append(bigEndian: block.extendedHighestSequenceNumber)
        append(bigEndian: block.jitter)
        append(bigEndian: block.lastSenderReport.rawValue)
        append(bigEndian: block.delaySinceLastSenderReport.rawValue)
    }
}

extension SenderReport {
    fileprivate func append(to bytes: inout [UInt8]) {
        let blocks = reportBlocks.prefix(maximumCount)
        bytes.appendRTCP(RTCPPacketType.senderReport, count: blocks.count) { bytes in
            bytes.append(source)
            bytes.append(bigEndian: ntpTimestamp.rawValue)
            bytes.append(bigEndian: rtpTimestamp.rawValue)
            bytes.append(bigEndian: packetCount)
            bytes.append(bigEndian: octetCount)
            for block in blocks { bytes.append(block) }
        }
        let rest = reportBlocks.dropFirst(maximumCount)
        guard !rest.isEmpty else { return }
        ReceiverReport(source: source, reportBlocks: Array(rest)).append(to: &bytes)
    }
}

extension ReceiverReport {
    fileprivate func append(to bytes: inout [UInt8]) {
        var rest = reportBlocks[...]
        repeat {
            let blocks = rest.prefix(maximumCount)
            rest = rest.dropFirst(maximumCount)
            bytes.appendRTCP(RTCPPacketType.receiverReport, count: blocks.count) { bytes in
                bytes.append(source)
                for block in blocks { bytes.append(block) }
            }
        } while !rest.isEmpty
    }
}

extension SourceDescription {
    fileprivate func append(to bytes: inout [UInt8]) {
        var rest = chunks[...]
        repeat {
            let chunks = rest.prefix(maximumCount)
            rest = rest.dropFirst(maximumCount)
            bytes.appendRTCP(RTCPPacketType.sourceDescription, count: chunks.count) { bytes in
                for chunk in chunks { Self.append(chunk, to: &bytes) }
            }
        } while !rest.isEmpty
    }

    private static func append(_ chunk: Chunk, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(chunk.source)
        for item in chunk.items where item.type != 0 {
            let value = item.value.prefix(255)
            bytes.append(item.type)
            bytes.append(UInt8(value.count))
            bytes += value
        }
        repeat { bytes.append(0) } while (bytes.count - start) % 4 != 0
    }
}

extension Goodbye {
    fileprivate func append(to bytes: inout [UInt8]) {
        var rest = sources[...]
        repeat {
            let sources = rest.prefix(maximumCount)
            rest = rest.dropFirst(maximumCount)
            bytes.appendRTCP(RTCPPacketType.goodbye, count: sources.count) { bytes in
                for source in sources { bytes.append(source) }
                guard let reason else { return }
                let text = reason.utf8.prefix(255)
                bytes.append(UInt8(text.count))
                bytes += text
            }
        } while !rest.isEmpty
    }
}

extension ApplicationPacket {
    fileprivate func append(to bytes: inout [UInt8]) {
        bytes.appendRTCP(RTCPPacketType.application, count: subtype) { bytes in
            bytes.append(source)
            bytes.append(bigEndian: name)
            bytes += data
        }
    }
}

extension GenericNACK {
    fileprivate func append(to bytes: inout [UInt8]) {
        bytes.appendRTCP(RTCPPacketType.transportLayerFeedback, count: FeedbackMessageType.genericNACK) { bytes in
            bytes.append(sender)
            bytes.append(media)
            for entry in entries {
                bytes.append(bigEndian: entry.packetID.rawValue)
                bytes.append(bigEndian: entry.followingLost)
            }
        }
    }
}

extension TransportFeedback {
    fileprivate func append(to bytes: inout [UInt8]) {
        let type = FeedbackMessageType.transportFeedback
        // Zeros fill the last word instead of RTP padding, which is allowed only in the last packet of a compound
        // packet.
        bytes.appendRTCP(RTCPPacketType.transportLayerFeedback, count: type) { bytes in
            bytes.append(sender)
            bytes.append(media)
            bytes.append(bigEndian: baseSequenceNumber.rawValue)
            bytes.append(bigEndian: UInt16(truncatingIfNeeded: deltas.count))
            bytes.append(bigEndian24: UInt32(bitPattern: referenceTime))
            bytes.append(feedbackPacketCount)
            for chunk in statusChunks { bytes.append(bigEndian: chunk) }
            for case let delta? in deltas {
                if let small = UInt8(exactly: delta) {
                    bytes.append(small)
                } else {
                    bytes.append(bigEndian: delta)
                }
            }
        }
    }
}

extension PictureLossIndication {
    fileprivate func append(to bytes: inout [UInt8]) {
        let type = FeedbackMessageType.pictureLossIndication
        bytes.appendRTCP(RTCPPacketType.payloadSpecificFeedback, count: type) { bytes in
            bytes.append(sender)
            bytes.append(media)
        }
    }
}

extension FullIntraRequest {
    fileprivate func append(to bytes: inout [UInt8]) {
        let type = FeedbackMessageType.fullIntraRequest
        bytes.appendRTCP(RTCPPacketType.payloadSpecificFeedback, count: type) { bytes in
            bytes.append(sender)
            bytes.append(media)
            for entry in entries {
                bytes.append(entry.source)
                bytes.append(bigEndian: UInt32(entry.sequenceNumber) << 24)
            }
        }
    }
}

extension TemporaryMaximumBitrate {
    fileprivate func append(to bytes: inout [UInt8]) {
        let type =
            isNotification
            ? FeedbackMessageType.temporaryMaximumBitrateNotification
            : FeedbackMessageType.temporaryMaximumBitrateRequest
        bytes.appendRTCP(RTCPPacketType.transportLayerFeedback, count: type) { bytes in
            bytes.append(sender)
            bytes.append(media)
            for entry in entries {
                bytes.append(entry.source)
                let rate = entry.bitrate.exponentAndMantissa(mantissaBitCount: Self.mantissaBitCount)
                bytes.append(bigEndian: rate << UInt32(Self.overheadBitCount) | UInt32(entry.overhead & 0x1FF))
            }
        }
    }
}

extension ReceiverEstimatedMaximumBitrate {
    fileprivate func append(to bytes: inout [UInt8]) {
        let type = FeedbackMessageType.applicationLayerFeedback
        bytes.appendRTCP(RTCPPacketType.payloadSpecificFeedback, count: type) { bytes in
            bytes.append(sender)
            // The media source of the message is always zero (§2.2).
            bytes.append(bigEndian: UInt32(0))
            bytes.append(bigEndian: Self.identifier)
            let sources = sources.prefix(255)
            bytes.append(UInt8(sources.count))
            bytes.append(bigEndian24: bitrate.exponentAndMantissa(mantissaBitCount: Self.mantissaBitCount))
            for source in sources { bytes.append(source) }
        }
    }
}

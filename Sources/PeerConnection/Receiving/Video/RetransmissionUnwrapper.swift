package import RTCShareRTP

/// Finds the original of a retransmission packet (RFC 4588 §4, §8.1): `apt` tells the payload type, the FID group the
/// source.
package struct RetransmissionUnwrapper: Sendable {
    /// The original that a retransmission packet carries.
    package struct Original: Hashable, Sendable {
        /// The stream that lacked the packet.
        package let source: SynchronizationSource
        /// The payload type of that stream.
        package let payloadType: PayloadType
        /// The packet's number in that stream.
        package let sequenceNumber: SequenceNumber
        /// Where the original payload is in the payload of the retransmission.
        package let payloadRange: Range<Int>
    }

    /// What a payload of a retransmission stream is.
    package enum Content: Hashable, Sendable {
        /// The stream or the payload type is no retransmission.
        case notRetransmission
        /// Padding, as probes for bandwidth are.
        case padding
        /// A payload too short to hold a sequence number.
        case malformed
        /// A packet of another stream.
        case original(Original)
    }

    private var sources: [SynchronizationSource: SynchronizationSource] = [:]
    private var payloadTypes: [PayloadType: PayloadType] = [:]

    /// An unwrapper that knows no streams.
    package init() {}

    /// `source` retransmits for `original` (`a=ssrc-group:FID original source`).
    package mutating func add(source: SynchronizationSource, for original: SynchronizationSource) {
        sources[source] = original
    }

    /// `payloadType` retransmits `original` (`a=fmtp:payloadType apt=original`).
    package mutating func add(payloadType: PayloadType, for original: PayloadType) {
        payloadTypes[payloadType] = original
    }

    /// What a packet of `source` with this payload type carries in `payload`.
    package func content(source: SynchronizationSource, payloadType: PayloadType, payload: RawSpan) -> Content {
        guard let originalSource = sources[source], let originalType = payloadTypes[payloadType] else {
            return .notRetransmission
        }
        do {
            guard let number = try RetransmissionPayload.originalSequenceNumber(of: payload) else { return .padding }
            return .original(
                Original(
                    source: originalSource, payloadType: originalType, sequenceNumber: number,
                    payloadRange: RetransmissionPayload.prefixByteCount..<payload.byteCount))
        } catch {
            return .malformed
        }
    }
}

package import RTCShareRTP

/// Finds the original of a retransmission packet (RFC 4588 §4, §8.1): `apt` determines its payload type, the FID group
/// its source.
package struct RetransmissionUnwrapper: Sendable {
    /// The original packet of a retransmission.
    package struct Original: Hashable, Sendable {
        /// The stream that lacked the packet.
        package let source: SynchronizationSource
        /// The payload type of that stream.
        package let payloadType: PayloadType
        /// The packet's number in that stream.
        package let sequenceNumber: SequenceNumber
        /// The range of the original payload in the payload of the retransmission.
        package let payloadRange: Range<Int>
    }

    /// The content of a payload in a retransmission stream.
    package enum Content: Hashable, Sendable {
        /// The source or the payload type is not that of retransmissions.
        case notRetransmission
        /// Padding, such as a bandwidth probe.
        case padding
        /// A payload too short for a sequence number.
        case malformed
        /// A packet of another stream.
        case original(Original)
    }

    private var sources: [SynchronizationSource: SynchronizationSource] = [:]
    private var payloadTypes: [PayloadType: PayloadType] = [:]

    /// Creates an unwrapper without streams.
    package init() {}

    /// Adds a source that retransmits `original` (`a=ssrc-group:FID original source`).
    package mutating func add(source: SynchronizationSource, for original: SynchronizationSource) {
        sources[source] = original
    }

    /// Adds a payload type that retransmits `original` (`a=fmtp:payloadType apt=original`).
    package mutating func add(payloadType: PayloadType, for original: PayloadType) {
        payloadTypes[payloadType] = original
    }

    /// Returns the content of a packet's `payload`, from its source and its payload type.
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

/// Combines RTCP packets into datagrams: compound packets, or reduced-size packets if these were negotiated
/// (RFC 3550 §6.1, RFC 5506).
package struct RTCPBundleWriter: Hashable, Sendable {
    /// The source that sends the packets.
    package let source: SynchronizationSource
    /// The CNAME in every compound packet.
    package let canonicalName: String
    /// The subgroup to which the source is shared, in every compound packet; nil for all participants.
    package let subgroup: String?
    /// Whether `a=rtcp-rsize` was negotiated, so that feedback can be sent without a report.
    package let allowsReducedSize: Bool
    /// The maximum number of bytes in a datagram, before encryption.
    package let maximumByteCount: Int

    package init(
        source: SynchronizationSource, canonicalName: String, subgroup: String? = nil, allowsReducedSize: Bool,
        maximumByteCount: Int = 1150
    ) {
        self.subgroup = subgroup
        self.source = source
        self.canonicalName = canonicalName
        self.allowsReducedSize = allowsReducedSize
        self.maximumByteCount = maximumByteCount
    }

    /// Returns datagrams that contain `feedback`, in its order.
    ///
    /// A compound datagram begins with `report`, or else with an empty receiver report, and the CNAME. The report
    /// itself is sent once. With reduced size only the first datagram is compound, and only if there is a report. A
    /// packet that is too large for any datagram is sent in its own datagram.
    package func datagrams(report: RTCPPacket? = nil, feedback: [RTCPPacket] = []) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        var current: [UInt8] = []
        var prefixCount = 0
        func begin() {
            current = []
            if let report, datagrams.isEmpty {
                current = prefix(report)
            } else if !allowsReducedSize {
                current = prefix(.receiverReport(ReceiverReport(source: source)))
            }
            prefixCount = current.count
        }
        begin()
        for packet in feedback.flatMap(split) {
            let bytes = packet.bytes
            if current.count > prefixCount, current.count + bytes.count > maximumByteCount {
                datagrams.append(current)
                begin()
            }
            current += bytes
        }
        // A datagram that contains only a prefix is sent only for the caller's report.
        if current.count > prefixCount || (report != nil && datagrams.isEmpty) { datagrams.append(current) }
        return datagrams
    }

    private func prefix(_ report: RTCPPacket) -> [UInt8] {
        var bytes: [UInt8] = []
        report.append(to: &bytes)
        RTCPPacket.sourceDescription(
            SourceDescription(source: source, canonicalName: canonicalName, subgroup: subgroup)
        )
        .append(to: &bytes)
        return bytes
    }

    /// Splits a NACK, the only packet that can be split. The pieces are far smaller than a datagram.
    private func split(_ packet: RTCPPacket) -> [RTCPPacket] {
        guard case .genericNACK(let nack) = packet, nack.entries.count > Self.maximumEntriesOfNACK else {
            return [packet]
        }
        return stride(from: 0, to: nack.entries.count, by: Self.maximumEntriesOfNACK).map { start in
            let entries = nack.entries[start..<min(nack.entries.count, start + Self.maximumEntriesOfNACK)]
            return .genericNACK(GenericNACK(sender: nack.sender, media: nack.media, entries: Array(entries)))
        }
    }

    private static let maximumEntriesOfNACK = 128
}

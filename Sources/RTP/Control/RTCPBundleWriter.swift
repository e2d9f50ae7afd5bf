/// Puts RTCP packets together into datagrams: compound packets, or reduced-size ones where both sides agreed on them
/// (RFC 3550 §6.1, RFC 5506).
package struct RTCPBundleWriter: Hashable, Sendable {
    /// The source in whose name the packets are sent.
    package let source: SynchronizationSource
    /// The CNAME that every compound packet states.
    package let canonicalName: String
    /// The subgroup that the source is shared to, which every compound packet states; nil for everybody.
    package let subgroup: String?
    /// Whether `a=rtcp-rsize` was negotiated, so that feedback may go without a report.
    package let allowsReducedSize: Bool
    /// Most bytes of a datagram, before encryption.
    package let maximumByteCount: Int

    /// A writer for one source.
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

    /// Datagrams with `feedback`, in its order.
    ///
    /// Where a datagram must be compound it begins with `report` and the CNAME, or with an empty receiver report and the
    /// CNAME where there is no report; the report itself is sent once. With reduced size only the first datagram, and
    /// only with a report, is compound. A packet too large for any datagram goes alone.
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
        // A prefix alone is worth a datagram only where it is a report that was asked for.
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

    /// A NACK is the one packet that can be cut: the pieces stay well below a datagram's size.
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

import RTCShareWireFormat

/// A name such as `9b36eaac-bb2e-49bb-bb78-21c41c499900.local`, which a browser announces instead of its address.
package struct MulticastDNSName: Hashable, Sendable, CustomStringConvertible {
    /// The name in lower case, without a dot at the end.
    package let description: String

    /// Creates a name of one label under `local`, as in candidates (draft-ietf-mmusic-mdns-ice-candidates §3.2.1); nil
    /// for anything else.
    package init?(_ text: some StringProtocol) {
        var text = text.lowercased()
        if text.hasSuffix(".") { text.removeLast() }
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == 2, labels[1] == "local", (1...63).contains(labels[0].utf8.count) else { return nil }
        description = text
    }

    /// Creates a name from a message. `text` must be in lower case.
    init(read text: String) {
        description = text
    }

    /// Appends the label, `local` and the root (RFC 1035 §3.1).
    func append(to bytes: inout [UInt8]) {
        for label in description.split(separator: ".") {
            bytes.append(UInt8(clamping: label.utf8.count))
            bytes.append(contentsOf: label.utf8.prefix(63))
        }
        bytes.append(0)
    }

    /// Parses a name that can be compressed (RFC 1035 §4.1.4). Returns the end of the name's own bytes.
    ///
    /// Each pointer must point further back than the previous one, which ends every chain, and the name has at most 255
    /// bytes.
    static func read(
        _ bytes: RawSpan, at start: Int
    ) throws(MulticastDNSError) -> (name: MulticastDNSName, end: Int) {
        var text: [UInt8] = []
        var offset = start
        var end: Int?
        var earliest = start
        while true {
            guard let length = bytes.byte(at: offset) else { throw .truncated(offset: offset) }
            switch length {
            case 0:
                let name = String(decoding: text, as: UTF8.self).lowercased()
                return (MulticastDNSName(read: name), end ?? offset + 1)
            case 1...63:
                let label = offset + 1..<offset + 1 + Int(length)
                guard label.upperBound <= bytes.byteCount else { throw .truncated(offset: offset) }
                guard text.count + Int(length) + 1 <= 255 else { throw .malformedName(offset: start) }
                if !text.isEmpty { text.append(UInt8(ascii: ".")) }
                text.append(contentsOf: [UInt8](bytes.extracting(label)))
                offset = label.upperBound
            case 0xC0...:
                guard let low = bytes.byte(at: offset + 1) else { throw .truncated(offset: offset) }
                let target = Int(length & 0x3F) << 8 | Int(low)
                guard target < earliest else { throw .malformedName(offset: start) }
                if end == nil { end = offset + 2 }
                earliest = target
                offset = target
            default:
                throw .malformedName(offset: start)
            }
        }
    }
}

extension RawSpan {
    fileprivate func byte(at offset: Int) -> UInt8? {
        guard offset >= 0, offset < byteCount else { return nil }
        return unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}

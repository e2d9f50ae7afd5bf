import RTCShareWireFormat

/// One element of a header extension block: its local id and the range of its bytes in the packet.
package struct HeaderExtensionElement: Hashable, Sendable {
    /// The local id that `a=extmap` assigned.
    package let id: UInt8
    /// The range of the element's bytes in the packet, without the id and the length. It can be empty in the two-byte
    /// form.
    package let range: Range<Int>
}

/// A reader of the elements of a header extension block, in the one-byte or the two-byte form (RFC 8285 §4.2, §4.3).
///
/// A block of another profile has no elements. An element that extends past the block ends the reading. The elements
/// before it still count, because a packet is worth more than one of its extensions.
package struct HeaderExtensionReader: ~Escapable {
    private let packet: RawSpan
    private let form: Form
    private var offset: Int
    private let end: Int

    private enum Form { case oneByte, twoByte, unknown }

    /// Creates a reader at the first element of the packet that `header` was parsed from.
    @_lifetime(copy packet)
    package init(_ header: RTPHeader, in packet: RawSpan) {
        self.packet = packet
        let range = header.extensionRange.clamped(to: 0..<packet.byteCount)
        self.offset = range.lowerBound
        self.end = range.upperBound
        switch header.extensionProfile {
        case 0xBEDE: form = .oneByte
        // The low four bits are for the application and do not identify the form (RFC 8285 §4.3).
        case 0x1000...0x100F: form = .twoByte
        default: form = .unknown
        }
    }

    /// Returns the next element; nil at the end of the block.
    @_lifetime(self: copy self)
    package mutating func next() -> HeaderExtensionElement? {
        switch form {
        case .oneByte: nextOneByteElement()
        case .twoByte: nextTwoByteElement()
        case .unknown: nil
        }
    }

    @_lifetime(self: copy self)
    private mutating func nextOneByteElement() -> HeaderExtensionElement? {
        while offset < end {
            let head = byte(at: offset)
            let id = head >> 4
            offset += 1
            if head == 0 { continue }
            // Id 15, and id 0 with a length, end the whole block (RFC 8285 §4.2).
            guard id != 0, id != 15 else { break }
            return element(id: id, count: Int(head & 0x0F) + 1)
        }
        offset = end
        return nil
    }

    @_lifetime(self: copy self)
    private mutating func nextTwoByteElement() -> HeaderExtensionElement? {
        while offset < end {
            let id = byte(at: offset)
            offset += 1
            if id == 0 { continue }
            guard offset < end else { break }
            let count = Int(byte(at: offset))
            offset += 1
            return element(id: id, count: count)
        }
        offset = end
        return nil
    }

    @_lifetime(self: copy self)
    private mutating func element(id: UInt8, count: Int) -> HeaderExtensionElement? {
        guard count <= end - offset else {
            offset = end
            return nil
        }
        let start = offset
        offset += count
        return HeaderExtensionElement(id: id, range: start..<offset)
    }

    private func byte(at offset: Int) -> UInt8 {
        packet.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
    }
}

extension RTPHeader {
    /// Returns the range of the element with a local id in the packet from which this header was parsed; nil if there
    /// is none.
    package func extensionElement(_ id: UInt8, in packet: RawSpan) -> Range<Int>? {
        var reader = HeaderExtensionReader(self, in: packet)
        while let element = reader.next() {
            if element.id == id { return element.range }
        }
        return nil
    }
}

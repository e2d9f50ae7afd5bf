import RTCShareWireFormat

/// The number of a frame in its stream, from which a payload format takes the numbers that it has on the wire.
package struct FrameNumber: SerialNumber {
    package let rawValue: UInt16

    package init(_ rawValue: UInt16) { self.rawValue = rawValue }

    /// Returns this number, and moves to the next.
    package mutating func takeNext() -> FrameNumber {
        defer { self = next }
        return self
    }
}

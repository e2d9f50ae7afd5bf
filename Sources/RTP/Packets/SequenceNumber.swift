public import RTCShareWireFormat

/// The sequence number of an RTP packet (RFC 3550 §5.1).
public struct SequenceNumber: SerialNumber, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt16
    /// Creates the number with this value on the wire.
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }
    /// The number in decimal.
    public var description: String { "\(rawValue)" }
}

/// The sequence number that counts every packet of a transport, whatever its source
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
public struct TransportSequenceNumber: SerialNumber, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt16
    /// Creates the number with this value on the wire.
    public init(_ rawValue: UInt16) { self.rawValue = rawValue }
    /// The number in decimal.
    public var description: String { "\(rawValue)" }
}

/// The media clock's time in an RTP packet (RFC 3550 §5.1), in ticks of the payload's clock rate.
public struct RTPTimestamp: SerialNumber, CustomStringConvertible {
    /// The ticks, modulo 2³².
    public let rawValue: UInt32
    /// Creates the timestamp with this value on the wire.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the timestamp of media captured at `time`, for a clock of `clockRate` Hz that is at `offset` at time
    /// zero.
    public init(mediaTime time: Duration, clockRate: Int, offset: RTPTimestamp) {
        let nanoseconds = time.wholeNanoseconds
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let ticks = seconds &* Int64(clockRate) &+ rest &* Int64(clockRate) / 1_000_000_000
        self.init(offset.rawValue &+ UInt32(truncatingIfNeeded: ticks))
    }

    /// Returns the media time from `earlier` to this timestamp, along the shorter direction, for a clock of `clockRate`
    /// Hz.
    public func duration(since earlier: RTPTimestamp, clockRate: Int) -> Duration {
        .nanoseconds(Int64(distance(from: earlier)) * 1_000_000_000 / Int64(max(1, clockRate)))
    }

    /// The timestamp in decimal.
    public var description: String { "\(rawValue)" }
}

/// A synchronization source (SSRC): one stream of RTP packets with its own numbers and clock (RFC 3550 §3).
public struct SynchronizationSource: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The identifier on the wire.
    public let rawValue: UInt32
    /// Creates the source with this identifier.
    public init(_ rawValue: UInt32) { self.rawValue = rawValue }
    /// Orders sources by their identifiers, which has no meaning but is stable.
    public static func < (left: SynchronizationSource, right: SynchronizationSource) -> Bool {
        left.rawValue < right.rawValue
    }
    /// The identifier in decimal, as in SDP.
    public var description: String { "\(rawValue)" }
}

/// The seven bits that identify the format of a payload (RFC 3550 §5.1).
public struct PayloadType: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number on the wire, at most 127.
    public let rawValue: UInt8

    /// Creates the payload type with this number; nil above 127.
    public init?(_ rawValue: some BinaryInteger) {
        guard let value = UInt8(exactly: rawValue), value < 128 else { return nil }
        self.rawValue = value
    }

    /// Creates the payload type in the low seven bits of a header byte. The marker bit above them is ignored.
    public init(masking byte: UInt8) { self.rawValue = byte & 0x7F }

    /// Orders payload types by their numbers.
    public static func < (left: PayloadType, right: PayloadType) -> Bool { left.rawValue < right.rawValue }
    /// The number in decimal.
    public var description: String { "\(rawValue)" }
}

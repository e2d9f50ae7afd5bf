/// A counter that wraps around, compared by serial number arithmetic (RFC 1982 §3.2; RFC 3550 §A.1).
public protocol SerialNumber: Hashable, Sendable {
    /// The unsigned integer on the wire.
    associatedtype RawValue: FixedWidthInteger & UnsignedInteger & Sendable
    /// The number on the wire.
    var rawValue: RawValue { get }
    /// Creates the number with this value on the wire.
    init(_ rawValue: RawValue)
}

extension SerialNumber {
    /// Returns the signed distance from `other` to this number along the shorter direction, positive if this number is
    /// newer.
    @inlinable
    public func distance(from other: Self) -> Int {
        let difference = rawValue &- other.rawValue
        let half = RawValue(1) << RawValue(RawValue.bitWidth - 1)
        return difference < half ? Int(difference) : -Int(other.rawValue &- rawValue)
    }

    /// Whether this number comes after `other`. Two numbers half the circle apart are neither newer nor older.
    @inlinable
    public func isNewer(than other: Self) -> Bool {
        let distance = distance(from: other)
        return distance > 0
    }

    /// Returns the number `offset` after this one, with wraparound.
    @inlinable
    public func advanced(by offset: Int) -> Self {
        Self(rawValue &+ RawValue(truncatingIfNeeded: offset))
    }

    /// The number after this one.
    @inlinable public var next: Self { advanced(by: 1) }
}

/// Converts serial numbers into numbers that never wrap. It assumes that each number is near the newest one so far.
public struct SerialNumberUnwrapper<Number: SerialNumber>: Sendable {
    @usableFromInline var newest: (number: Number, unwrapped: Int64)?

    /// Creates an unwrapper for which the first number has its own value.
    @inlinable
    public init() {}

    /// Returns the number without its wrap. It can be negative for a number that is older than the first one.
    @inlinable
    public mutating func unwrap(_ number: Number) -> Int64 {
        let unwrapped = peek(number)
        if newest.map({ unwrapped > $0.unwrapped }) ?? true { newest = (number, unwrapped) }
        return unwrapped
    }

    /// Returns the same number as ``unwrap(_:)``, without storing it as the newest one.
    @inlinable
    public func peek(_ number: Number) -> Int64 {
        guard let newest else { return Int64(number.rawValue) }
        return newest.unwrapped + Int64(number.distance(from: newest.number))
    }
}

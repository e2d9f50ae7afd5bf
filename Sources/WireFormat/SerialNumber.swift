/// A counter that wraps around, compared by serial number arithmetic (RFC 1982 §3.2; RFC 3550 §A.1).
public protocol SerialNumber: Hashable, Sendable {
    /// The unsigned integer on the wire.
    associatedtype RawValue: FixedWidthInteger & UnsignedInteger & Sendable
    /// The number on the wire.
    var rawValue: RawValue { get }
    /// The number with this value on the wire.
    init(_ rawValue: RawValue)
}

extension SerialNumber {
    /// The signed way from `other` to this number, the shorter way round; positive where this one is newer.
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

    /// The number `offset` further on, around the wrap.
    @inlinable
    public func advanced(by offset: Int) -> Self {
        Self(rawValue &+ RawValue(truncatingIfNeeded: offset))
    }

    /// The number after this one.
    @inlinable public var next: Self { advanced(by: 1) }
}

/// Unrolls a serial number into one that never wraps, taking each number to be near the newest one seen.
public struct SerialNumberUnwrapper<Number: SerialNumber>: Sendable {
    @usableFromInline var newest: (number: Number, unwrapped: Int64)?

    /// An unwrapper that has seen nothing: the first number stands for itself.
    @inlinable
    public init() {}

    /// The number without its wrap; may be negative for a number that came before the first one.
    @inlinable
    public mutating func unwrap(_ number: Number) -> Int64 {
        let unwrapped = peek(number)
        if newest.map({ unwrapped > $0.unwrapped }) ?? true { newest = (number, unwrapped) }
        return unwrapped
    }

    /// What ``unwrap(_:)`` would return, without taking note of the number.
    @inlinable
    public func peek(_ number: Number) -> Int64 {
        guard let newest else { return Int64(number.rawValue) }
        return newest.unwrapped + Int64(number.distance(from: newest.number))
    }
}

/// An index of the pieces that occur once in a frame: four lines each, as wide as a macroblock, by their signatures.
struct PieceIndex {
    private var keys: [UInt64] = []
    private var places: [Int32] = []
    private static let free: Int32 = -1
    private static let repeated: Int32 = -2

    /// Returns the key of a piece.
    @inline(__always)
    static func key(_ first: UInt32, _ second: UInt32, _ third: UInt32, _ fourth: UInt32) -> UInt64 {
        // The odd factors make the key depend on the order of lines.
        let (upper, lower) = (UInt64(first) << 32 | UInt64(second), UInt64(third) << 32 | UInt64(fourth))
        return (upper &* 0x9E37_79B9_7F4A_7C15 &+ lower) &* 0xC2B2_AE3D_27D4_EB4F
    }

    /// Removes all pieces, and makes room for `count`.
    mutating func begin(_ count: Int) {
        var capacity = max(keys.count, 64)
        while capacity < count * 2 { capacity *= 2 }
        if capacity != keys.count { keys = Array(repeating: 0, count: capacity) }
        places.removeAll(keepingCapacity: true)
        places.append(contentsOf: repeatElement(Self.free, count: capacity))
    }

    mutating func insert(_ key: UInt64, at place: Int) {
        let slot = slot(of: key)
        places[slot] = places[slot] == Self.free ? Int32(truncatingIfNeeded: place) : Self.repeated
        keys[slot] = key
    }

    /// Returns the place of a piece that occurs once.
    func place(of key: UInt64) -> Int? {
        let place = places[slot(of: key)]
        return place >= 0 ? Int(place) : nil
    }

    /// Returns the slot of the key, or the free one for it.
    private func slot(of key: UInt64) -> Int {
        let mask = keys.count - 1
        var slot = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
        while places[slot] != Self.free, keys[slot] != key { slot = (slot + 1) & mask }
        return slot
    }
}

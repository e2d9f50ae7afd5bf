/// Accumulates the damage of skipped frames.
struct DamageLedger: Sendable {
    /// The maximum number of rectangles. More only mean that something changed.
    private static let capacity = 64
    /// The damage of skipped frames; nil if it is unknown.
    private var missed: [PixelRectangle]? = []

    /// Marks the damage as unknown.
    mutating func invalidate() {
        missed = nil
    }

    /// Records that a frame with this damage is skipped.
    mutating func skip(_ damage: [PixelRectangle]?) {
        missed = sum(damage)
    }

    /// Returns the damage of a frame that passes, with that of the frames skipped before it.
    mutating func take(_ damage: [PixelRectangle]?) -> [PixelRectangle]? {
        defer { missed = [] }
        return sum(damage)
    }

    private func sum(_ damage: [PixelRectangle]?) -> [PixelRectangle]? {
        Self.sum(missed, damage)
    }

    /// Returns the damage of two consecutive frames.
    static func sum(_ first: [PixelRectangle]?, _ second: [PixelRectangle]?) -> [PixelRectangle]? {
        guard let first, let second else { return nil }
        if first.isEmpty { return second }
        let both = first + second
        return both.count <= capacity ? both : nil
    }
}

/// The code of a frame's only motion vector (RFC 6386 §17.2).
///
/// Every Boolean value of such a vector is always the same, so that the frame's header sets its probability to almost
/// certain. This also makes the code independent of earlier probabilities.
struct MotionVectorCode {
    /// The probabilities of a component, vertical first: whether it is long, its sign, a short one's tree, a long one's
    /// bits.
    private enum Slot {
        static let isLong = 0
        static let sign = 1
        static let shortTree = 2
        static let longBits = 9
    }

    private struct Decision {
        let slot: Int
        let bit: Bool

        /// The seven bits of the probability in a header.
        var literal: Int { bit ? 0 : 127 }
        var probability: UInt8 { bit ? 1 : 254 }
    }

    private static let bitCount = 10
    /// The vertical and the horizontal component, in quarter pixels.
    private let components: (Int, Int)

    /// The probabilities that a header leaves each probability unchanged (RFC 6386 §17.2).
    private static let updateProbabilities: [[UInt8]] = [
        [237, 246, 253, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 250, 250, 252, 254, 254],
        [231, 243, 245, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 251, 251, 254, 254, 254],
    ]

    /// Writes the part of a header that leaves all probabilities of vectors unchanged.
    static func writeNoProbabilities(to encoder: inout BooleanEncoder) {
        for updates in updateProbabilities {
            for update in updates { encoder.write(false, update) }
        }
    }

    /// Creates the code of a vector in whole pixels, up to ``Scroll/largestDistance`` each.
    init(rows: Int, columns: Int) {
        components = (rows * 4, columns * 4)
    }

    /// Calls `body` with the Boolean values of a component, in the order of writing.
    private static func forEachDecision(of value: Int, _ body: (Decision) -> Void) {
        let magnitude = abs(value)
        body(Decision(slot: Slot.isLong, bit: magnitude >= 8))
        func bit(_ place: Int) { body(Decision(slot: Slot.longBits + place, bit: magnitude >> place & 1 == 1)) }
        if magnitude < 8 {
            // The tree has seven nodes, in the order of traversal.
            body(Decision(slot: Slot.shortTree, bit: magnitude & 4 != 0))
            let half = magnitude & 4 == 0 ? 1 : 4
            body(Decision(slot: Slot.shortTree + half, bit: magnitude & 2 != 0))
            let quarter = half + (magnitude & 2 == 0 ? 1 : 2)
            body(Decision(slot: Slot.shortTree + quarter, bit: magnitude & 1 != 0))
        } else {
            // The three low bits come first, then the others from the highest down. The fourth is last, and omitted if
            // no higher one is set.
            for place in 0..<3 { bit(place) }
            for place in (4..<bitCount).reversed() { bit(place) }
            if magnitude > 15 { bit(3) }
        }
        if magnitude > 0 { body(Decision(slot: Slot.sign, bit: value < 0)) }
    }

    /// Writes the part of the header that sets the probabilities of vectors.
    func writeProbabilities(to encoder: inout BooleanEncoder) {
        Self.writeProbabilities(of: components.0, Self.updateProbabilities[0], to: &encoder)
        Self.writeProbabilities(of: components.1, Self.updateProbabilities[1], to: &encoder)
    }

    private static func writeProbabilities(of value: Int, _ updates: [UInt8], to encoder: inout BooleanEncoder) {
        for slot in updates.indices {
            var decision: Decision?
            forEachDecision(of: value) { if $0.slot == slot { decision = $0 } }
            encoder.write(decision != nil, updates[slot])
            if let decision { encoder.writeLiteral(decision.literal, bits: 7) }
        }
    }

    /// Writes the vector as the difference to zero.
    func write(to encoder: inout BooleanEncoder) {
        Self.forEachDecision(of: components.0) { encoder.write($0.bit, $0.probability) }
        Self.forEachDecision(of: components.1) { encoder.write($0.bit, $0.probability) }
    }
}

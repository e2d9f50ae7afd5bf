/// How a frame says the one vector that it has (RFC 6386 §17.2).
///
/// Every decision that such a vector takes comes out the same each time, so that the frame's header sets its probability
/// to as good as certain. That also makes it independent of what the probabilities were before.
struct MotionVectorCode {
    /// Probabilities of a component, up-down first: is it long, its sign, a short one's tree, a long one's bits.
    private enum Slot {
        static let isLong = 0
        static let sign = 1
        static let shortTree = 2
        static let longBits = 9
    }

    private struct Decision {
        let slot: Int
        let bit: Bool

        /// Probabilities that a header sets have seven bits.
        var literal: Int { bit ? 0 : 127 }
        var probability: UInt8 { bit ? 1 : 254 }
    }

    private static let bitCount = 10
    /// The way up or down, and the way sideways, in quarters of a pixel.
    private let components: (Int, Int)

    /// RFC 6386 §17.2: how likely a header leaves each probability as it is.
    private static let updateProbabilities: [[UInt8]] = [
        [237, 246, 253, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 250, 250, 252, 254, 254],
        [231, 243, 245, 253, 254, 254, 254, 254, 254, 254, 254, 254, 254, 254, 251, 251, 254, 254, 254],
    ]

    /// The part of a header that leaves all probabilities of vectors as they are.
    static func writeNoProbabilities(to encoder: inout BooleanEncoder) {
        for updates in updateProbabilities {
            for update in updates { encoder.write(false, update) }
        }
    }

    /// Whole pixels, up to ``Scroll/largestDistance`` each.
    init(rows: Int, columns: Int) {
        components = (rows * 4, columns * 4)
    }

    /// The decisions that a component takes, in the order in which they are written.
    private static func forEachDecision(of value: Int, _ body: (Decision) -> Void) {
        let magnitude = abs(value)
        body(Decision(slot: Slot.isLong, bit: magnitude >= 8))
        func bit(_ place: Int) { body(Decision(slot: Slot.longBits + place, bit: magnitude >> place & 1 == 1)) }
        if magnitude < 8 {
            // A tree of seven nodes, in the order in which they are met.
            body(Decision(slot: Slot.shortTree, bit: magnitude & 4 != 0))
            let half = magnitude & 4 == 0 ? 1 : 4
            body(Decision(slot: Slot.shortTree + half, bit: magnitude & 2 != 0))
            let quarter = half + (magnitude & 2 == 0 ? 1 : 2)
            body(Decision(slot: Slot.shortTree + quarter, bit: magnitude & 1 != 0))
        } else {
            // Three low bits, then from the highest down; the fourth goes last, and without saying where nothing above is.
            for place in 0..<3 { bit(place) }
            for place in (4..<bitCount).reversed() { bit(place) }
            if magnitude > 15 { bit(3) }
        }
        if magnitude > 0 { body(Decision(slot: Slot.sign, bit: value < 0)) }
    }

    /// The part of the header that sets the probabilities of vectors.
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

    /// The vector, as the difference to none.
    func write(to encoder: inout BooleanEncoder) {
        Self.forEachDecision(of: components.0) { encoder.write($0.bit, $0.probability) }
        Self.forEachDecision(of: components.1) { encoder.write($0.bit, $0.probability) }
    }
}

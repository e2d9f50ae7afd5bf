/// A syntax element of tiles, and the place of its probabilities among those of a tile.
///
/// Only those elements are here that a frame with nothing but vectors has. Their initial probabilities are the
/// standard's (AV1 §9.3).
struct SyntaxElement {
    /// The number of values.
    let valueCount: Int
    private let first: Int
    private let contextCount: Int

    private init(_ valueCount: Int, contexts: Int = 1, after previous: SyntaxElement? = nil) {
        self.valueCount = valueCount
        contextCount = contexts
        first = previous?.end ?? 0
    }

    private var end: Int { offset(of: contextCount) }

    /// Returns the place of the cumulative probabilities in a context, after which is the number of uses.
    @inline(__always)
    func offset(of context: Int) -> Int { first + context * (valueCount + 1) }

    static let partition8 = SyntaxElement(4, contexts: 4)
    static let partition16 = SyntaxElement(10, contexts: 4, after: partition8)
    static let partition32 = SyntaxElement(10, contexts: 4, after: partition16)
    static let partition64 = SyntaxElement(10, contexts: 4, after: partition32)
    static let skip = SyntaxElement(2, contexts: 3, after: partition64)
    /// Only for blocks whose neighbors are not intra-coded.
    static let isInter = SyntaxElement(2, after: skip)
    /// Three of the bits that choose a reference frame: the first, the third and the fourth.
    static let reference1 = SyntaxElement(2, contexts: 3, after: isInter)
    static let reference3 = SyntaxElement(2, contexts: 3, after: reference1)
    static let reference4 = SyntaxElement(2, contexts: 3, after: reference3)
    static let newVector = SyntaxElement(2, contexts: 6, after: reference4)
    /// Only for frames without vectors of former ones.
    static let zeroVector = SyntaxElement(2, after: newVector)
    static let referenceVector = SyntaxElement(2, contexts: 6, after: zeroVector)
    static let vectorJoint = SyntaxElement(4, after: referenceVector)
    /// The components of vectors, of which the vertical one is the first context.
    static let vectorSign = SyntaxElement(2, contexts: 2, after: vectorJoint)
    static let vectorClass = SyntaxElement(11, contexts: 2, after: vectorSign)
    static let vectorClass0Bit = SyntaxElement(2, contexts: 2, after: vectorClass)
    /// The bits of a vertical component, then those of a horizontal one.
    static let vectorBit = SyntaxElement(2, contexts: 20, after: vectorClass0Bit)

    /// The probabilities at the beginning of a tile, with no uses.
    static let initialProbabilities: [UInt16] = initialRows.flatMap { $0 + [1 << 15, 0] }

    /// The cumulative probabilities of each element, in 32768ths: of each context, those of all values but the last.
    private static let initialRows: [[UInt16]] = [
        // Partition of 8 by 8 pixels.
        [19132, 25510, 30392],
        [13928, 19855, 28540],
        [12522, 23679, 28629],
        [9896, 18783, 25853],
        // Partition of 16 by 16 pixels.
        [15597, 20929, 24571, 26706, 27664, 28821, 29601, 30571, 31902],
        [7925, 11043, 16785, 22470, 23971, 25043, 26651, 28701, 29834],
        [5414, 13269, 15111, 20488, 22360, 24500, 25537, 26336, 32117],
        [2662, 6362, 8614, 20860, 23053, 24778, 26436, 27829, 31171],
        // Partition of 32 by 32 pixels.
        [18462, 20920, 23124, 27647, 28227, 29049, 29519, 30178, 31544],
        [7689, 9060, 12056, 24992, 25660, 26182, 26951, 28041, 29052],
        [6015, 9009, 10062, 24544, 25409, 26545, 27071, 27526, 32047],
        [1394, 2208, 2796, 28614, 29061, 29466, 29840, 30185, 31899],
        // Partition of 64 by 64 pixels.
        [20137, 21547, 23078, 29566, 29837, 30261, 30524, 30892, 31724],
        [6732, 7490, 9497, 27944, 28250, 28515, 28969, 29630, 30104],
        [5945, 7663, 8348, 28683, 29117, 29749, 30064, 30298, 32238],
        [870, 1212, 1487, 31198, 31394, 31574, 31743, 31881, 32332],
        // Skip.
        [31671], [16515], [4576],
        // Inter prediction.
        [806],
        // References.
        [4897], [16973], [29744],
        [4236], [19647], [31194],
        [8650], [24773], [31895],
        // Vectors: new, zero, second of the stack.
        [24035], [16630], [15339], [8386], [12222], [4676],
        [2175],
        [23974], [24188], [17848], [28622], [24312], [19923],
        // New vectors: joint, sign, class, its first bit, the other bits.
        [4096, 11264, 19328],
        [16384], [16384],
        [28672, 30976, 31858, 32320, 32551, 32656, 32740, 32757, 32762, 32767],
        [28672, 30976, 31858, 32320, 32551, 32656, 32740, 32757, 32762, 32767],
        [27648], [27648],
        [17408], [17920], [18944], [20480], [22528], [24576], [28672], [29952], [29952], [30720],
        [17408], [17920], [18944], [20480], [22528], [24576], [28672], [29952], [29952], [30720],
    ]
}

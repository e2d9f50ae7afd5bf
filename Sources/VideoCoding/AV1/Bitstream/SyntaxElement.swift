/// A syntax element of tiles, and the place of its probabilities among those of a tile.
///
/// Only those elements are here that a partial frame has. Their initial probabilities are the
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
    static let isInter = SyntaxElement(2, contexts: 4, after: skip)
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
    /// The contexts of this and of palettes are only those of blocks of at most 16 by 16 pixels.
    static let lumaMode = SyntaxElement(13, contexts: 2, after: vectorBit)
    /// Only for blocks whose luma has no direction.
    static let chromaMode = SyntaxElement(14, after: lumaMode)
    static let hasLumaPalette = SyntaxElement(2, contexts: 9, after: chromaMode)
    static let lumaPaletteSize = SyntaxElement(7, contexts: 3, after: hasLumaPalette)
    static let hasChromaPalette = SyntaxElement(2, contexts: 2, after: lumaPaletteSize)
    static let chromaPaletteSize = SyntaxElement(7, contexts: 3, after: hasChromaPalette)
    /// The colors of samples, for palettes of two to eight.
    static let lumaColors = colors(after: chromaPaletteSize)
    static let chromaColors = colors(after: lumaColors.last)

    private static func colors(after previous: SyntaxElement?) -> [SyntaxElement] {
        var elements: [SyntaxElement] = []
        for count in 2...Palette.mostColors {
            elements.append(SyntaxElement(count, contexts: 5, after: elements.last ?? previous))
        }
        return elements
    }

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
        [806], [16662], [20186], [26538],
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
        // Intra modes: luma of 8 by 8 to 16 by 8 pixels, and of 16 by 16; chroma after luma without a direction.
        [18673, 19845, 22631, 23318, 23950, 24649, 25527, 27364, 28152, 29701, 29984, 30852],
        [19770, 20979, 23396, 23939, 24241, 24654, 25136, 27073, 27830, 29360, 29730, 30659],
        [10407, 11208, 12900, 13181, 13823, 14175, 14899, 15656, 15986, 20086, 20995, 22455, 24212],
        // Palettes of luma and their sizes, then those of chroma.
        [31676], [3419], [1261], [31912], [2859], [980], [31823], [3400], [781],
        [7952, 13000, 18149, 21478, 25527, 29241], [7139, 11421, 16195, 19544, 23666, 28073],
        [7788, 12741, 17325, 20500, 24315, 28530],
        [32461], [21488],
        [8713, 19979, 27128, 29609, 31331, 32272], [5839, 15573, 23581, 26947, 29848, 31700],
        [4426, 11260, 17999, 21483, 25863, 29430],
        // Colors of luma, in palettes of two to eight.
        [28710], [16384], [10553], [27036], [31603],
        [27877, 30490], [11532, 25697], [6544, 30234], [23018, 28072], [31915, 32385],
        [25572, 28046, 30045], [9478, 21590, 27256], [7248, 26837, 29824], [19167, 24486, 28349],
        [31400, 31825, 32250],
        [24779, 26955, 28576, 30282], [8669, 20364, 24073, 28093], [4255, 27565, 29377, 31067],
        [19864, 23674, 26716, 29530], [31646, 31893, 32147, 32426],
        [23132, 25407, 26970, 28435, 30073], [7443, 17242, 20717, 24762, 27982], [6300, 24862, 26944, 28784, 30671],
        [18916, 22895, 25267, 27435, 29652], [31270, 31550, 31808, 32059, 32353],
        [23105, 25199, 26464, 27684, 28931, 30318], [6950, 15447, 18952, 22681, 25567, 28563],
        [7560, 23474, 25490, 27203, 28921, 30708], [18544, 22373, 24457, 26195, 28119, 30045],
        [31198, 31451, 31670, 31882, 32123, 32391],
        [21689, 23883, 25163, 26352, 27506, 28827, 30195], [6892, 15385, 17840, 21606, 24287, 26753, 29204],
        [5651, 23182, 25042, 26518, 27982, 29392, 30900], [19349, 22578, 24418, 25994, 27524, 29031, 30448],
        [31028, 31270, 31504, 31705, 31927, 32153, 32392],
        // Colors of chroma.
        [29089], [16384], [8713], [29257], [31610],
        [25257, 29145], [12287, 27293], [7033, 27960], [20145, 25405], [30608, 31639],
        [24210, 27175, 29903], [9888, 22386, 27214], [5901, 26053, 29293], [18318, 22152, 28333],
        [30459, 31136, 31926],
        [22980, 25479, 27781, 29986], [8413, 21408, 24859, 28874], [2257, 29449, 30594, 31598],
        [19189, 21202, 25915, 28620], [31844, 32044, 32281, 32518],
        [22217, 24567, 26637, 28683, 30548], [7307, 16406, 19636, 24632, 28424], [4441, 25064, 26879, 28942, 30919],
        [17210, 20528, 23319, 26750, 29582], [30674, 30953, 31396, 31735, 32207],
        [21239, 23168, 25044, 26962, 28705, 30506], [6545, 15012, 18004, 21817, 25503, 28701],
        [3448, 26295, 27437, 28704, 30126, 31442], [15889, 18323, 21704, 24698, 26976, 29690],
        [30988, 31204, 31479, 31734, 31983, 32325],
        [21442, 23288, 24758, 26246, 27649, 28980, 30563], [5863, 14933, 17552, 20668, 23683, 26411, 29273],
        [3415, 25810, 26877, 27990, 29223, 30394, 31618], [17965, 20084, 22232, 23974, 26274, 28402, 30390],
        [31190, 31329, 31516, 31679, 31825, 32026, 32322],
    ]
}

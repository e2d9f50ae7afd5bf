/// The ``Coarseness`` of each macroblock of a frame, which determines the macroblocks worth coding again.
struct CodedQuality {
    /// The minimum improvement that is worth its bits.
    private static let leastGain = 4
    /// The coarseness that smeared colors count as: they are coded again, after blurred parts, by the first pass over
    /// idle content.
    private static let smeared: UInt8 = 61

    /// The coarseness of each macroblock.
    private(set) var levels: [UInt8]
    /// The levels from before a scroll, kept for their memory.
    private var levelsBefore: [UInt8] = []
    private var lastCoarseness = Coarseness.coarsest
    /// The maximum coarseness of all macroblocks.
    private(set) var coarsest = Coarseness.coarsest

    /// The empty set of macroblocks.
    private let none: MacroblockMap

    /// Creates the quality of a frame with the empty set `none`. All macroblocks are as coarse as possible.
    init(of none: MacroblockMap) {
        self.none = none
        levels = Array(repeating: 127, count: none.cells.count)
    }

    /// Returns `changed` with some macroblocks that a frame like the last one would improve: so few that the frame is
    /// hardly larger, so that all get their turn even if something always changes.
    func withSomeCoarse(_ changed: MacroblockMap) -> MacroblockMap {
        let limit = max(lastCoarseness + Self.leastGain, Coarseness.fine)
        guard coarsest > limit else { return changed }
        var map = changed
        let most = changed.count + max(levels.count / 40, 1)
        for (index, level) in levels.enumerated() where level > limit {
            map.insert(index)
            guard map.count < most else { break }
        }
        return map
    }

    /// Returns the macroblocks that are coarser than this.
    func coarser(than coarseness: Int) -> MacroblockMap {
        var map = none
        guard coarsest > coarseness else { return map }
        for (index, level) in levels.enumerated() where level > coarseness { map.insert(index) }
        return map
    }

    /// Records that the colors of these macroblocks were smeared, so that they are coded again when there is room.
    mutating func smear(_ macroblocks: [UInt8]) {
        for index in levels.indices where macroblocks[index] != 0 {
            levels[index] = max(levels[index], Self.smeared)
        }
        coarsest = Int(levels.max() ?? 0)
    }

    /// Moves the quality with a scroll. A moved macroblock is as coarse as the coarsest one at its source.
    mutating func move(_ scroll: Scroll) {
        levelsBefore.removeAll(keepingCapacity: true)
        levelsBefore.append(contentsOf: levels)
        scroll.moveLargest(&levels, from: levelsBefore)
        coarsest = Int(levels.max() ?? 0)
    }

    /// Records that a macroblock is as coarse as this.
    mutating func correct(_ index: Int, coarseness: Int) {
        levels[index] = UInt8(clamping: coarseness)
        coarsest = max(coarsest, coarseness)
    }

    /// Records that these macroblocks, or all for nil, were coded with this coarseness.
    mutating func didCode(_ map: MacroblockMap?, coarseness: Int) {
        lastCoarseness = coarseness
        let level = UInt8(clamping: coarseness)
        guard let map, map.count < levels.count else {
            for index in levels.indices { levels[index] = level }
            coarsest = coarseness
            return
        }
        guard !map.isEmpty else { return }
        var worst: UInt8 = 0
        for index in levels.indices {
            if map.cells[index] == 1 { levels[index] = level }
            worst = max(worst, levels[index])
        }
        coarsest = Int(worst)
    }
}

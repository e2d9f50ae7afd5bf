/// How fine each macroblock of a picture was coded last, and so which are worth coding again.
struct CodedQuality {
    /// The quantizer index (0 to 127) at which nothing more is to be gained.
    static let fineQuantizer = 15

    /// What would become finer by less is not worth its bits.
    private static let leastGain = 4
    /// What smeared colours are as bad as: they are coded again, after what is blurred, by the first pass over what rests.
    private static let smearedQuantizer: UInt8 = 61

    /// The quantizer index of each macroblock.
    private var levels: [UInt8]
    /// As they were before something moved; kept for its memory.
    private var levelsBefore: [UInt8] = []
    private var lastQuantizer = 127
    /// The coarsest of all.
    private(set) var coarsest = 127

    /// No macroblock.
    private let none: MacroblockMap

    /// Of a picture in which `none` are none of its macroblocks; all are as coarse as can be.
    init(of none: MacroblockMap) {
        self.none = none
        levels = Array(repeating: 127, count: none.cells.count)
    }

    /// What changed, and some of what a frame like the last would make finer: so little that the frame is hardly larger, so
    /// that all has its turn where something always changes.
    func withSomeCoarse(_ changed: MacroblockMap) -> MacroblockMap {
        let limit = max(lastQuantizer + Self.leastGain, Self.fineQuantizer)
        guard coarsest > limit else { return changed }
        var map = changed
        let most = changed.count + max(levels.count / 40, 1)
        for (index, level) in levels.enumerated() where level > limit {
            map.insert(index)
            guard map.count < most else { break }
        }
        return map
    }

    /// What was coded more coarsely than this.
    func coarser(than quantizer: Int) -> MacroblockMap {
        var map = none
        guard coarsest > quantizer else { return map }
        for (index, level) in levels.enumerated() where level > quantizer { map.insert(index) }
        return map
    }

    /// The colours of these macroblocks have smeared: once there is room for it they are coded again.
    mutating func smear(_ macroblocks: [UInt8]) {
        for index in levels.indices where macroblocks[index] != 0 {
            levels[index] = max(levels[index], Self.smearedQuantizer)
        }
        coarsest = Int(levels.max() ?? 0)
    }

    /// What moved is as coarse as it was where it came from: as the coarsest of those between which it lay.
    mutating func move(_ scroll: Scroll) {
        let (columns, rows) = scroll.extent
        levelsBefore.removeAll(keepingCapacity: true)
        levelsBefore.append(contentsOf: levels)
        for index in levels.indices where scroll.moved[index] != 0 {
            let (y, x) = (index / columns * 16 + scroll.rows, index % columns * 16 + scroll.columns)
            let (top, left) = (min(max(y >> 4, 0), rows - 1), min(max(x >> 4, 0), columns - 1))
            let (bottom, right) = (max(min((y + 15) >> 4, rows - 1), top), max(min((x + 15) >> 4, columns - 1), left))
            levels[index] = max(
                levelsBefore[top * columns + left], levelsBefore[bottom * columns + left],
                levelsBefore[top * columns + right], levelsBefore[bottom * columns + right])
        }
        coarsest = Int(levels.max() ?? 0)
    }

    /// These macroblocks were coded at this quantizer index; nil is all of them.
    mutating func didCode(_ map: MacroblockMap?, quantizer: Int) {
        lastQuantizer = quantizer
        let level = UInt8(clamping: quantizer)
        guard let map, map.count < levels.count else {
            for index in levels.indices { levels[index] = level }
            coarsest = quantizer
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

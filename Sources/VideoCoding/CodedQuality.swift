/// How fine each macroblock of a picture was coded last, and so which are worth coding again.
struct CodedQuality {
    /// The quantizer index (0 to 127) at which nothing more is to be gained.
    static let fineQuantizer = 15
    /// A picture that shows something new has no bits to spare for what would hardly become finer by them.
    static let leastGain = 4

    /// The quantizer index of each macroblock.
    private var levels: [UInt8]
    private var lastQuantizer = 127
    /// The coarsest of all.
    private(set) var coarsest = 127

    init(of map: MacroblockMap) {
        levels = Array(repeating: 127, count: map.cells.count)
    }

    /// What to code of a picture in which `changed` differs from the one before: that, and what was left coarse.
    func worthCoding(_ changed: MacroblockMap) -> MacroblockMap {
        let limit = changed.isEmpty ? Self.fineQuantizer : max(lastQuantizer + Self.leastGain, Self.fineQuantizer)
        guard coarsest > limit else { return changed }
        var map = changed
        for (index, level) in levels.enumerated() where level > limit { map.insert(index) }
        return map
    }

    /// What changed, and so much of what is coarse at most.
    func withCoarse(_ changed: MacroblockMap, atMost count: Int) -> MacroblockMap {
        guard coarsest > Self.fineQuantizer, count > 0 else { return changed }
        var map = changed
        for (index, level) in levels.enumerated() where level > Self.fineQuantizer {
            map.insert(index)
            guard map.count < changed.count + count else { break }
        }
        return map
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

/// The passes of each macroblock in which unchanged content becomes finer. A pass is tried once: sparse differences can
/// be too small for its quantizer, and are coded by the next one.
struct RefinementPasses {
    /// The coarseness of each pass, from the coarsest.
    private let coarseness: [Int]
    /// The number of passes that each macroblock has completed.
    private var completed: [UInt8]
    /// The numbers of macroblocks that have completed as many passes.
    private var counts: [Int]

    /// Creates the passes of a frame without content.
    init(_ coarseness: [Int], of map: MacroblockMap) {
        self.coarseness = coarseness
        completed = Array(repeating: 0, count: map.cells.count)
        counts = Array(repeating: 0, count: coarseness.count + 1)
        counts[0] = completed.count
    }

    /// Whether a macroblock has passes left.
    var isUnfinished: Bool { counts.dropLast().contains { $0 > 0 } }

    /// Returns the pass with the macroblocks that have completed the fewest, except those of `maps`; nil if none of them
    /// has passes left.
    func next(except maps: MacroblockMap...) -> (pass: Int, map: MacroblockMap)? {
        guard isUnfinished, let first = maps.first else { return nil }
        var best = coarseness.count
        for index in completed.indices where completed[index] < best {
            if maps.allSatisfy({ $0.cells[index] == 0 }) { best = Int(completed[index]) }
        }
        guard best < coarseness.count else { return nil }
        var map = first
        map.removeAll()
        for index in completed.indices where completed[index] == best {
            if maps.allSatisfy({ $0.cells[index] == 0 }) { map.insert(index) }
        }
        return (best, map)
    }

    /// Records that a macroblock was coded, with the coarseness that it has now, and the pass that was tried; nil for a
    /// change.
    mutating func record(_ index: Int, coarseness found: Int, tried pass: Int?) {
        let reached = coarseness.count { $0 >= found }
        let new = max(reached, pass.map { max($0 + 1, Int(completed[index])) } ?? 0)
        counts[Int(completed[index])] -= 1
        counts[new] += 1
        completed[index] = UInt8(new)
    }
}

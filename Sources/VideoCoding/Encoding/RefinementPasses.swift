/// The passes of each macroblock in which unchanged content becomes finer. A pass is tried once: sparse differences can
/// be too small for its quantizer, and are coded by the next one.
struct RefinementPasses {
    /// The coarseness of each pass, from the coarsest.
    private let coarseness: [Int]
    /// The number of passes that each macroblock has completed.
    private var completed: [UInt8]
    /// The coarseness of each macroblock, as measured.
    private var measured: [UInt8]
    /// The numbers of macroblocks that have completed as many passes.
    private var counts: [Int]

    /// Creates the passes of a frame without content.
    init(_ range: QuantizerRange, of map: MacroblockMap) {
        coarseness = range.passes.map { range.coarseness[$0] }
        completed = Array(repeating: 0, count: map.cells.count)
        measured = Array(repeating: UInt8(Coarseness.coarsest), count: map.cells.count)
        counts = Array(repeating: 0, count: coarseness.count + 1)
        counts[0] = completed.count
    }

    /// Whether a macroblock has passes left.
    var isUnfinished: Bool { counts.dropLast().contains { $0 > 0 } }

    /// Returns the pass with the macroblocks that have completed the fewest, except those of `maps`; nil if none of them
    /// has passes left. Passes before the first one are left out.
    func next(except maps: MacroblockMap..., from first: Int = 0) -> (pass: Int, map: MacroblockMap)? {
        guard isUnfinished, var map = maps.first else { return nil }
        var pass = coarseness.count
        for index in completed.indices where completed[index] < pass {
            if maps.allSatisfy({ $0.cells[index] == 0 }) { pass = max(Int(completed[index]), first) }
            if pass == first { break }
        }
        guard pass < coarseness.count else { return nil }
        map.removeAll()
        for index in completed.indices where completed[index] <= pass {
            if maps.allSatisfy({ $0.cells[index] == 0 }) { map.insert(index) }
        }
        return (pass, map)
    }

    /// Records that a macroblock was coded, with the coarseness that it has now, and the pass that was tried; nil for a
    /// change.
    mutating func didCode(_ index: Int, coarseness found: Int, tried pass: Int?) {
        let reached = coarseness.count { $0 >= found }
        let new = max(reached, pass.map { max($0 + 1, Int(completed[index])) } ?? 0)
        setCompleted(UInt8(new), at: index)
        measured[index] = UInt8(clamping: found)
    }

    /// Moves the passes with a scroll. A moved macroblock is as coarse as the coarsest one at its source.
    mutating func move(_ scroll: Scroll) {
        scroll.moveLargest(&measured, from: measured)
        // The largest number of passes that are left belongs to the fewest completed ones.
        let left = completed.map { UInt8(coarseness.count) - $0 }
        var moved = left
        scroll.moveLargest(&moved, from: left)
        for index in moved.indices where moved[index] != left[index] {
            setCompleted(UInt8(coarseness.count) - moved[index], at: index)
        }
    }

    /// Records that the colors of these macroblocks were smeared: they are coded again, from a pass on.
    mutating func smear(_ macroblocks: [UInt8], to pass: Int) {
        for index in completed.indices where macroblocks[index] != 0 {
            setCompleted(min(completed[index], UInt8(pass)), at: index)
        }
    }

    private mutating func setCompleted(_ new: UInt8, at index: Int) {
        counts[Int(completed[index])] -= 1
        counts[Int(new)] += 1
        completed[index] = new
    }

    /// Records the coarseness of a macroblock that was not coded. It can be coarser than before: libraries predict larger
    /// blocks as a whole, and filter edges.
    mutating func didCheck(_ index: Int, coarseness found: Int) {
        guard found > Int(measured[index]) + Self.leastDamage else { return }
        didCode(index, coarseness: found, tried: nil)
    }

    /// The smallest increase of coarseness that is worth another pass.
    private static let leastDamage = 2
}

internal import Glibc
internal import RTCShareMedia

/// Finds that a part of a picture moved, up or down by the signatures of its rows, and else by ``SidewaysSearch``.
///
/// Rows that stand once only in their column of the picture before vote for how far they moved; how much of the picture a
/// distance with many votes explains is then counted, macroblock by macroblock. Blank parts, which fit anywhere, have no
/// vote. Used from one thread at a time.
struct ScrollSearch {
    /// What a scroll has to explain: of fewer macroblocks the frame of its own is not worth it,
    static let leastMacroblocks = 32
    /// nor where most of what changed is something else.
    static let leastShare = 0.2
    /// How many columns of macroblocks vote, and of their rows one of so many.
    private static let votingColumns = 12
    private static let votingStep = 2
    /// Distances that are looked at more closely.
    private static let candidateCount = 3
    /// Rows that vote together: one alone stands in a column more than once too often.
    private static let windowRows = 4
    /// Where something moved farther than a vector reaches, how far each scroll but the first takes it: whole macroblocks,
    /// so that each has one other as its place between.
    fileprivate static let furtherRows = 240
    /// The farthest that is found.
    static let largestDistance = Scroll.largestDistance + furtherRows * 3

    /// What moved, and what is still to be encoded after it.
    struct Finding: Equatable {
        /// One, or more where it moved far, each of what the one before shows.
        var scrolls: [Scroll]
        /// 1 for each macroblock that changed and that they don't show as it is.
        var remaining: [UInt8]
        /// 1 for each that moved by half a row of chroma, which is interpolated: its colours have smeared a little.
        var smeared: [UInt8]
    }

    private var finding: Finding?
    /// 1 for each macroblock that shows something else than before.
    private var changed: [UInt8] = []
    /// 1 for each of these whose luma is what a distance says.
    private var fitting: [UInt8] = []
    private var votes = [Int32](repeating: 0, count: 2 * Self.largestDistance + 1)
    private var index = PieceIndex()
    private var sideways = SidewaysSearch()
    /// The column that votes; kept for its memory.
    private var lines: [UInt32] = []

    /// What moved between the picture before and the one now, in any direction; nil where nothing worth it did.
    mutating func find(
        in signature: PictureSignature, of picture: any PixelPlanes
    ) throws(VideoCodingError) -> Finding? {
        let found = find(in: signature)
        let count = changed.count { $0 != 0 }
        guard count >= Self.leastMacroblocks else { return nil }
        let left = found?.remaining.count { $0 != 0 } ?? count
        guard left * 2 > count,
            let other = try sideways.find(changed, in: signature, of: picture),
            other.remaining.count(where: { $0 != 0 }) < left
        else { return found }
        return other
    }

    /// The same of what moved up or down.
    mutating func find(in signature: PictureSignature) -> Finding? {
        let changedCount = noteChanges(signature)
        guard changedCount >= Self.leastMacroblocks else { return nil }
        vote(signature)
        var best = (rows: 0, count: 0)
        var last = 0
        for rows in candidates() where best.count * 2 < changedCount {
            let count = explained(by: rows, signature)
            last = rows
            if count > best.count || count == best.count && abs(rows) < abs(best.rows) { best = (rows, count) }
        }
        guard best.count >= Self.leastMacroblocks, Double(best.count) >= Double(changedCount) * Self.leastShare else {
            return nil
        }
        if last != best.rows { _ = explained(by: best.rows, signature) }
        describe(best.rows, signature)
        return finding
    }

    /// Marks what changed, and counts it.
    private mutating func noteChanges(_ signature: PictureSignature) -> Int {
        let total = signature.columns * signature.rows
        if changed.count != total {
            changed = Array(repeating: 0, count: total)
            fitting = changed
        }
        var count = 0
        for index in 0..<total {
            let differs = signature.differs(index)
            changed[index] = differs ? 1 : 0
            count += differs ? 1 : 0
        }
        return count
    }

    private mutating func vote(_ signature: PictureSignature) {
        for place in votes.indices { votes[place] = 0 }
        let (columns, rows) = (signature.columns, signature.rows)
        let count = (0..<columns).count { column in (0..<rows).contains { changed[$0 * columns + column] != 0 } }
        let step = max((count + Self.votingColumns - 1) / Self.votingColumns, 1)
        var place = 0
        for column in 0..<columns where (0..<rows).contains(where: { changed[$0 * columns + column] != 0 }) {
            if place.isMultiple(of: step) { vote(signature, column: column) }
            place += 1
        }
    }

    private mutating func vote(_ signature: PictureSignature, column: Int) {
        let (columns, rows) = (signature.columns, signature.rows)
        let end = signature.size.height - Self.windowRows + 1
        guard end > 0 else { return }
        // In the column the pieces follow each other: those before, and those now.
        var lines = [UInt32]()
        swap(&lines, &self.lines)
        defer { swap(&lines, &self.lines) }
        if lines.count != rows * 32 { lines = Array(repeating: 0, count: rows * 32) }
        lines.withUnsafeMutableBufferPointer { lines in
            guard let before = lines.baseAddress else { return }
            let now = before + rows * 16
            for row in 0..<rows {
                let first = (row * columns + column) * 16
                (before + row * 16).update(from: signature.before.luma + first, count: 16)
                (now + row * 16).update(from: signature.now.luma + first, count: 16)
            }
            index.begin(end)
            for y in 0..<end { index.insert(Self.window(before + y), at: y) }
            for row in 0..<rows where changed[row * columns + column] != 0 {
                for y in stride(from: row * 16, to: min(row * 16 + 16, end), by: Self.votingStep) {
                    let key = Self.window(now + y)
                    guard now[y] != before[y], let found = index.place(of: key) else { continue }
                    let place = found - y + Self.largestDistance
                    if votes.indices.contains(place) { votes[place] += 1 }
                }
            }
        }
    }

    @inline(__always)
    private static func window(_ piece: UnsafePointer<UInt32>) -> UInt64 {
        PieceIndex.key(piece[0], piece[1], piece[2], piece[3])
    }

    /// The distances with the most votes, the best first.
    private func candidates() -> [Int] {
        var result: [Int] = []
        for _ in 0..<Self.candidateCount {
            var best: Int?
            for place in votes.indices where votes[place] >= Int32(Self.windowRows * 2) {
                let rows = place - Self.largestDistance
                guard rows != 0, !result.contains(rows) else { continue }
                if let other = best, votes[place] <= votes[other + Self.largestDistance] { continue }
                best = rows
            }
            guard let best else { break }
            result.append(best)
        }
        return result
    }

    /// Marks which of the macroblocks that changed a distance explains, and counts them.
    private mutating func explained(by distance: Int, _ signature: PictureSignature) -> Int {
        let reachable = Scroll(size: signature.size, rows: distance, moved: []).reachableRows
        var count = 0
        for row in 0..<signature.rows {
            for column in 0..<signature.columns {
                let index = row * signature.columns + column
                let fits =
                    changed[index] != 0 && reachable.contains(row)
                    && signature.lumaFits(column: column, row: row, distance: distance)
                fitting[index] = fits ? 1 : 0
                count += fits ? 1 : 0
            }
        }
        return count
    }

    private mutating func describe(_ distance: Int, _ signature: PictureSignature) {
        // The arrays of the finding before, unless somebody holds it.
        var moved = finding?.scrolls.last?.moved ?? []
        var remaining = finding?.remaining ?? []
        var smeared = finding?.smeared ?? []
        finding = nil
        smeared.removeAll(keepingCapacity: true)
        smeared.append(contentsOf: repeatElement(0, count: changed.count))
        moved.removeAll(keepingCapacity: true)
        moved.append(contentsOf: repeatElement(0, count: changed.count))
        remaining.removeAll(keepingCapacity: true)
        remaining.append(contentsOf: changed)
        let columns = signature.columns
        let reachable = Scroll(size: signature.size, rows: distance, moved: []).reachableRows
        // The part of the picture in which something moved.
        var (left, right, top, bottom) = (columns, 0, signature.rows, 0)
        for row in reachable {
            for column in 0..<columns where fitting[row * columns + column] != 0 {
                let index = row * columns + column
                moved[index] = 1
                remaining[index] = 0
                if !signature.chromaFits(column: column, row: row, distance: distance) { smeared[index] = 1 }
                (left, right) = (min(left, column), max(right, column + 1))
                (top, bottom) = (min(top, row), max(bottom, row + 1))
            }
        }
        // In it and at its edges others go along: what is mostly the same then, and what is the same either way. That is
        // said in fewer bits, and what coding left in it stays with the text beside it.
        for row in max(top - 1, reachable.lowerBound)..<min(bottom + 1, reachable.upperBound) {
            for column in max(left - 1, 0)..<min(right + 1, columns) where moved[row * columns + column] == 0 {
                let index = row * columns + column
                if changed[index] != 0 {
                    guard signature.gainsLines(column: column, row: row, distance: distance) else { continue }
                } else {
                    let follows =
                        row > top && moved[index - columns] != 0
                        || column > left && moved[index - 1] != 0
                    guard follows, row < bottom, column < right,
                        signature.lumaFits(column: column, row: row, distance: distance),
                        signature.chromaFits(column: column, row: row, distance: distance)
                    else { continue }
                }
                moved[index] = 1
            }
        }
        finding = Finding(
            scrolls: [Scroll(size: signature.size, rows: distance, moved: moved)], remaining: remaining,
            smeared: smeared)
        if abs(distance) > Scroll.largestDistance { finding?.split(columns: columns) }
    }
}

extension ScrollSearch.Finding {
    /// Has several scrolls do what one does that is farther than a vector reaches.
    fileprivate mutating func split(columns: Int) {
        let shown = scrolls[0].moved
        let rows = scrolls[0].rows > 0 ? ScrollSearch.furtherRows : -ScrollSearch.furtherRows
        let offset = rows / 16 * columns
        var (first, others) = (scrolls[0], [Scroll]())
        while abs(first.rows) > Scroll.largestDistance {
            var last = first
            last.rows = rows
            others.append(last)
            first.rows -= rows
            for index in first.moved.indices { first.moved[index] = 0 }
            for index in last.moved.indices where last.moved[index] != 0 { first.moved[index + offset] = 1 }
            // What was on the way, and nothing came to after it.
            for index in first.moved.indices where first.moved[index] != 0 && shown[index] == 0 {
                remaining[index] = 1
            }
        }
        scrolls = [first] + others.reversed()
    }
}

extension PictureSignature {
    /// Whether a macroblock's luma is what was that many rows below, as far as it is shown.
    fileprivate func lumaFits(column: Int, row: Int, distance: Int) -> Bool {
        let lines = min(16, size.height - row * 16)
        let source = row * 16 + distance
        guard source >= 0, source + lines <= size.height else { return false }
        let first = now.luma + (row * columns + column) * 16
        // Of two macroblocks, but where it moved by whole ones.
        let above = min(16 - source & 15, lines)
        let upper = before.luma + (source >> 4 * columns + column) * 16 + source & 15
        guard first[0] == upper[0], memcmp(first, upper, above * 4) == 0 else { return false }
        return above == lines
            || memcmp(first + above, before.luma + ((source >> 4 + 1) * columns + column) * 16, (lines - above) * 4)
                == 0
    }

    /// Whether half or more of its lines are, and more than are at its place.
    fileprivate func gainsLines(column: Int, row: Int, distance: Int) -> Bool {
        var (there, here) = (0, 0)
        for y in row * 16..<min(row * 16 + 16, size.height) {
            let piece = now.luma(column: column, line: y)
            if piece == before.luma(column: column, line: y) { here += 1 }
            let source = y + distance
            if source >= 0, source < size.height, piece == before.luma(column: column, line: source) { there += 1 }
        }
        return there >= 8 && there > here
    }

    /// Whether its chroma is too. Half a row away that can be said of one colour alone: what is interpolated is new.
    fileprivate func chromaFits(column: Int, row: Int, distance: Int) -> Bool {
        let height = (size.height + 1) / 2
        let lines = min(8, height - row * 8)
        let first = now.chroma + (row * columns + column) * 8
        let source = row * 8 + distance >> 1
        if distance.isMultiple(of: 2) {
            guard source >= 0, source + lines <= height else { return false }
            return (0..<lines).allSatisfy { first[$0] == before.chroma(column: column, line: source + $0) }
        }
        let piece = first[0]
        for line in 0..<lines where first[line] != piece { return false }
        // Two lines above and three below are in what is interpolated.
        return (source - 2..<source + lines + 3).allSatisfy {
            before.chroma(column: column, line: min(max($0, 0), height - 1)) == piece
        }
    }
}

internal import Glibc
internal import RTCShareMedia

/// Finds moved parts of a frame: vertically by the signatures of rows, otherwise by ``SidewaysSearch``.
///
/// Rows that occur only once in their column of the former frame vote for their distance. Then the macroblocks that a
/// distance with many votes explains are counted. Blank parts, which fit anywhere, do not vote. One thread at a time
/// can use it.
struct ScrollSearch {
    /// The minimum number of macroblocks that a scroll must explain. Fewer are not worth a frame of their own.
    static let leastMacroblocks = 32
    /// The minimum fraction of the changes that a scroll must explain.
    static let leastShare = 0.2
    /// The number of columns of macroblocks that vote, and the step between their rows.
    private static let votingColumns = 12
    private static let votingStep = 2
    /// The number of distances that are evaluated.
    private static let candidateCount = 3
    /// The number of rows that vote together: a single row occurs more than once in a column too often.
    private static let windowRows = 4
    /// The distance of each scroll except the first, if content moved farther than a vector reaches: whole macroblocks,
    /// so that each has one other as its intermediate place.
    fileprivate static let furtherRows = 240
    /// The maximum distance.
    static let largestDistance = Scroll.largestDistance + furtherRows * 3

    /// The scrolls, and the changes that still have to be encoded after them.
    struct Finding: Equatable {
        /// The scrolls: more than one for a long distance, each of the result of the previous one.
        var scrolls: [Scroll]
        /// The value 1 for each changed macroblock that the scrolls don't show correctly.
        var remaining: [UInt8]
        /// The value 1 for each macroblock that moved by half a row of chroma, which is interpolated and slightly
        /// smears its colors.
        var smeared: [UInt8]
    }

    /// The maximum distance of one scroll. A farther one is split.
    private let largestScroll: Int
    private var finding: Finding?
    /// The value 1 for each changed macroblock.
    private var changed: [UInt8] = []
    /// The value 1 for each changed macroblock whose luma a distance explains.
    private var fitting: [UInt8] = []
    private var votes = [Int32](repeating: 0, count: 2 * Self.largestDistance + 1)
    private var index = PieceIndex()
    private var sideways = SidewaysSearch()
    /// The column that votes, kept for its memory.
    private var lines: [UInt32] = []

    /// Creates a search for a codec with vectors up to this distance.
    init(largestDistance: Int = Scroll.largestDistance) {
        largestScroll = largestDistance
    }

    /// Returns the scrolls between the former frame and the current one, in any direction; nil if there are none worth
    /// it.
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

    /// Returns the vertical scrolls.
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

    /// Marks the changed macroblocks, and counts them.
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
        // In the column the pieces are consecutive: the former ones, then the current ones.
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

    /// Returns the distances with the most votes, the best first.
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

    /// Marks the changed macroblocks that a distance explains, and counts them.
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
        // This reuses the arrays of the previous finding, unless a caller still has it.
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
        // The part of the frame in which something moved.
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
        // Within this part and at its edges, further macroblocks move too: those that are then mostly equal, and those
        // that are equal either way. This takes fewer bits, and coding errors stay with the adjacent text.
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
        if abs(distance) > largestScroll { finding?.split(into: largestScroll, columns: columns) }
    }
}

extension ScrollSearch.Finding {
    /// Splits a scroll that is farther than a vector reaches, which is at least ``ScrollSearch/furtherRows``, into several.
    fileprivate mutating func split(into largestDistance: Int, columns: Int) {
        let shown = scrolls[0].moved
        let rows = scrolls[0].rows > 0 ? ScrollSearch.furtherRows : -ScrollSearch.furtherRows
        let offset = rows / 16 * columns
        var (first, others) = (scrolls[0], [Scroll]())
        while abs(first.rows) > largestDistance {
            var last = first
            last.rows = rows
            others.append(last)
            first.rows -= rows
            for index in first.moved.indices { first.moved[index] = 0 }
            for index in last.moved.indices where last.moved[index] != 0 { first.moved[index + offset] = 1 }
            // These are intermediate places that were not overwritten later.
            for index in first.moved.indices where first.moved[index] != 0 && shown[index] == 0 {
                remaining[index] = 1
            }
        }
        scrolls = [first] + others.reversed()
    }
}

extension PictureSignature {
    /// Whether a macroblock's luma equals the former one `distance` rows below, as far as it is visible.
    fileprivate func lumaFits(column: Int, row: Int, distance: Int) -> Bool {
        let lines = min(16, size.height - row * 16)
        let source = row * 16 + distance
        guard source >= 0, source + lines <= size.height else { return false }
        let first = now.luma + (row * columns + column) * 16
        // The source is in two macroblocks, unless it moved by whole ones.
        let above = min(16 - source & 15, lines)
        let upper = before.luma + (source >> 4 * columns + column) * 16 + source & 15
        guard first[0] == upper[0], memcmp(first, upper, above * 4) == 0 else { return false }
        return above == lines
            || memcmp(first + above, before.luma + ((source >> 4 + 1) * columns + column) * 16, (lines - above) * 4)
                == 0
    }

    /// Whether at least half of its lines are equal, and more than at its own place.
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

    /// Whether its chroma is equal too. At half a row this is only possible for a single color, since interpolated
    /// samples are new.
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
        // The interpolation uses two lines above and three below.
        return (source - 2..<source + lines + 3).allSatisfy {
            before.chroma(column: column, line: min(max($0, 0), height - 1)) == piece
        }
    }
}

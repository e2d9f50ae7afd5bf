internal import RTCShareMedia

/// Finds that a part of a picture moved sideways, or up or down as well: a window that is dragged, a page that is pushed.
///
/// Of the picture before there are signatures of what lay in its columns of macroblocks. Wherever in the picture of now one
/// of these pieces lies, some rows of it are looked for, pixel by pixel; those that lay once only vote for how far they
/// moved. What is large, as the letters of a slide, has few such pieces: of it longer ones are looked for along their line.
/// How much of the picture that explains is then counted. Used from one thread at a time.
struct SidewaysSearch {
    /// Of what changed and is not plain, the part that it has to explain: what is left is dearer with it than without.
    static let leastShare = 0.4
    /// How many columns of the picture before are looked for.
    private static let soughtColumns = 12
    /// In how many rows of macroblocks of the picture of now.
    private static let lookedAtRows = 24
    /// Lines of a piece that is looked for.
    private static let lines = 4
    /// Macroblocks of a longer piece, which has one line.
    private static let longPiece = 4
    /// By how many lines of a macroblock another is looked at in the next row: lines of text, with blank ones between, may be
    /// as far apart as macroblocks are.
    private static let lineStep = 5
    private static let leastVotes = 8
    /// What moves otherwise, as a film, is looked at again after so many pictures at most.
    private static let longestRest = 4

    /// How far something moved, as ``Scroll`` says it.
    struct Offset: Hashable {
        var rows: Int
        var columns: Int
    }

    private var pieces = PieceIndex()
    /// The longer ones of a line.
    private var line = PieceIndex()
    private var votes: [Offset: Int] = [:]
    /// For each piece that a macroblock may have come from, which of its 16 lines are there now.
    private var lines: [UInt16] = []
    private var failures = 0
    private var rest = 0

    /// What moved; nil where nothing did that explains enough of what `changed`, 1 for each macroblock of a `picture`, which
    /// is the signature's.
    mutating func find(
        _ changed: [UInt8], in signature: PictureSignature, of picture: any PixelPlanes
    ) throws(VideoCodingError) -> ScrollSearch.Finding? {
        guard rest == 0 else {
            rest -= 1
            return nil
        }
        let finding = try picture.withPlanePointers { (planes) -> ScrollSearch.Finding? in
            vote(changed, signature, planes)
            guard let offset = mostVoted else { return nil }
            let scene = Scene(signature: signature, planes: planes, changed: changed, offset: offset)
            noteLines(scene)
            return describe(scene)
        }
        failures = finding == nil ? failures + 1 : 0
        rest = min(max(failures - 1, 0), Self.longestRest - 1)
        return finding
    }

    // MARK: How far

    private mutating func vote(_ changed: [UInt8], _ signature: PictureSignature, _ planes: PlanePointers) {
        votes.removeAll(keepingCapacity: true)
        let (columns, rows) = (signature.columns, signature.rows)
        let end = signature.size.height - Self.lines
        // Whole ones: of others a piece is something else.
        let candidates = (0..<signature.size.width / 16)
            .filter { column in (0..<rows).contains { changed[$0 * columns + column] != 0 } }
        let step = max((candidates.count + Self.soughtColumns - 1) / Self.soughtColumns, 1)
        let sought = stride(from: 0, to: candidates.count, by: step).map { candidates[$0] }
        pieces.begin(sought.count * signature.size.height)
        for column in sought {
            for row in 0..<rows where changed[row * columns + column] != 0 {
                for y in row * 16..<row * 16 + 16 where y <= end {
                    let key = Self.key { signature.before.luma(column: column, line: y + $0) }
                    pieces.insert(key, at: y * columns + column)
                }
            }
        }
        let changedRows = (0..<rows).filter { row in
            changed[row * columns..<(row + 1) * columns].contains { $0 != 0 }
        }
        let rowStep = max((changedRows.count + Self.lookedAtRows - 1) / Self.lookedAtRows, 1)
        for (number, place) in stride(from: 0, to: changedRows.count, by: rowStep).enumerated() {
            let row = changedRows[place]
            let y = row * 16 + number * Self.lineStep & 15
            guard y <= end else { continue }
            let changed = changed[row * columns..<(row + 1) * columns]
            lookAt(y, changed, signature, planes)
            lookAlong(y, changed, signature, planes)
        }
    }

    /// Looks for pieces that begin in this line, of those macroblocks of its row that changed.
    private mutating func lookAt(
        _ y: Int, _ changed: ArraySlice<UInt8>, _ signature: PictureSignature, _ planes: PlanePointers
    ) {
        let stride = Int(planes.first.stride)
        let first = planes.first.first + y * stride
        let columns = signature.columns
        for column in 0..<columns where changed[changed.startIndex + column] != 0 {
            for x in column * 16..<max(min(column * 16 + 16, signature.size.width - 15), column * 16) {
                let key = Self.key { PictureSignature.luma(first + $0 * stride + x) }
                guard let place = pieces.place(of: key) else { continue }
                let offset = Offset(rows: place / columns - y, columns: place % columns * 16 - x)
                guard offset.columns != 0, max(abs(offset.rows), abs(offset.columns)) <= Scroll.largestDistance
                else { continue }
                votes[offset, default: 0] += 1
            }
        }
    }

    /// Looks for longer pieces of this line in it.
    private mutating func lookAlong(
        _ y: Int, _ changed: ArraySlice<UInt8>, _ signature: PictureSignature, _ planes: PlanePointers
    ) {
        let (before, width) = (signature.before, signature.size.width)
        let last = width / 16 - Self.longPiece
        guard last >= 0 else { return }
        line.begin(last + 1)
        for column in 0...last {
            line.insert(Self.key { before.luma(column: column + $0, line: y) }, at: column)
        }
        let first = planes.first.first + y * Int(planes.first.stride)
        for column in changed.indices where changed[column] != 0 {
            let start = (column - changed.startIndex) * 16
            for x in start..<max(min(start + 16, width - Self.longPiece * 16 + 1), start) {
                guard let place = line.place(of: Self.key { PictureSignature.luma(first + x + $0 * 16) }) else {
                    continue
                }
                let offset = Offset(rows: 0, columns: place * 16 - x)
                guard offset.columns != 0, abs(offset.columns) <= Scroll.largestDistance else { continue }
                votes[offset, default: 0] += 1
            }
        }
    }

    /// What most voted for, the nearest of equals; nil where that is chance.
    private var mostVoted: Offset? {
        func rank(_ vote: (key: Offset, value: Int)) -> (Int, Int, Int, Int) {
            (vote.value, -abs(vote.key.rows) - abs(vote.key.columns), vote.key.rows, vote.key.columns)
        }
        guard let best = votes.max(by: { rank($0) < rank($1) }), best.value >= Self.leastVotes else { return nil }
        return best.key
    }

    @inline(__always)
    private static func key(_ piece: (Int) -> UInt32) -> UInt64 {
        PieceIndex.key(piece(0), piece(1), piece(2), piece(3))
    }

    // MARK: How much

    private struct Scene {
        let signature: PictureSignature
        let planes: PlanePointers
        let changed: [UInt8]
        let offset: Offset
        /// Where in the column of macroblocks before what is in one now began: of two, as many samples are the second's.
        var phase: Int { offset.columns & 15 }

        /// The columns of macroblocks before in which lay what is in this column now.
        func sources(of column: Int) -> (Int, Int) {
            let first = column + offset.columns >> 4
            return (first, phase == 0 ? first : first + 1)
        }
    }

    /// Which lines of what lay in each column before are there now, in each row of macroblocks.
    private mutating func noteLines(_ scene: Scene) {
        let (signature, offset) = (scene.signature, scene.offset)
        let (columns, rows, size) = (signature.columns, signature.rows, signature.size)
        lines.removeAll(keepingCapacity: true)
        lines.append(contentsOf: repeatElement(0, count: columns * rows))
        let luma = scene.planes.first
        for row in 0..<rows {
            for source in 0..<size.width / 16 {
                let x = source * 16 - offset.columns
                guard x >= 0, x + 16 <= size.width else { continue }
                var found: UInt16 = 0
                for line in 0..<min(16, size.height - row * 16) {
                    let y = row * 16 + line
                    guard y + offset.rows >= 0, y + offset.rows < size.height else { continue }
                    let piece = PictureSignature.luma(luma.first + y * Int(luma.stride) + x)
                    if piece == signature.before.luma(column: source, line: y + offset.rows) { found |= 1 << line }
                }
                lines[row * columns + source] = found
            }
        }
    }

    /// Of a macroblock's pixels, how many are those that lay there before.
    private func pixelsThere(_ scene: Scene, column: Int, row: Int) -> Int {
        let (first, second) = scene.sources(of: column)
        func count(_ source: Int) -> Int {
            (0..<scene.signature.columns).contains(source)
                ? lines[row * scene.signature.columns + source].nonzeroBitCount : 0
        }
        return count(first) * (16 - scene.phase) + (scene.phase == 0 ? 0 : count(second) * scene.phase)
    }

    private func describe(_ scene: Scene) -> ScrollSearch.Finding? {
        let (signature, changed) = (scene.signature, scene.changed)
        let columns = signature.columns
        var scroll = Scroll(
            size: signature.size, rows: scene.offset.rows, columns: scene.offset.columns,
            moved: Array(repeating: 0, count: changed.count))
        var remaining = changed
        var smeared = scroll.moved
        var explained = 0
        for row in scroll.reachableRows {
            let all = min(16, signature.size.height - row * 16) * 16
            for column in scroll.reachableColumns where changed[row * columns + column] != 0 {
                let index = row * columns + column
                let there = pixelsThere(scene, column: column, row: row)
                if there == all {
                    scroll.moved[index] = 1
                    remaining[index] = 0
                    smeared[index] = Self.chromaFits(scene, column: column, row: row) ? 0 : 1
                    explained += signature.isPlain(index) ? 0 : 1
                } else if there >= 128, there > signature.pixelsHere(column: column, row: row) {
                    // What is partly so has less to be coded.
                    scroll.moved[index] = 1
                }
            }
        }
        let count = changed.indices.count { changed[$0] != 0 && !signature.isPlain($0) }
        guard explained >= ScrollSearch.leastMacroblocks, Double(explained) >= Double(count) * Self.leastShare else {
            return nil
        }
        takeAlong(scene, &scroll)
        return ScrollSearch.Finding(scrolls: [scroll], remaining: remaining, smeared: smeared)
    }

    /// What is blank, and the same either way, goes with what is around it: that is said in fewer bits, and what coding left in
    /// it stays with the text beside it.
    private func takeAlong(_ scene: Scene, _ scroll: inout Scroll) {
        let columns = scene.signature.columns
        for row in scroll.reachableRows.dropFirst() {
            let all = min(16, scene.signature.size.height - row * 16) * 16
            for column in scroll.reachableColumns.dropFirst() {
                let index = row * columns + column
                guard scroll.moved[index] == 0, scene.changed[index] == 0, scroll.moved[index - 1] != 0,
                    scroll.moved[index - columns] != 0,
                    pixelsThere(scene, column: column, row: row) == all,
                    Self.chromaFits(scene, column: column, row: row)
                else { continue }
                scroll.moved[index] = 1
            }
        }
    }

    /// Whether a macroblock's chroma is what lay there before. By half a sample that can be said of one colour alone: what is
    /// interpolated is new.
    private static func chromaFits(_ scene: Scene, column: Int, row: Int) -> Bool {
        let (signature, offset, planes) = (scene.signature, scene.offset, scene.planes)
        let (blue, red, stride) = (planes.second.first, planes.third.first, Int(planes.second.stride))
        let (width, height) = ((signature.size.width + 1) / 2, (signature.size.height + 1) / 2)
        let rows = row * 8..<min(row * 8 + 8, height)
        let (down, across) = (offset.rows >> 1, offset.columns >> 1)
        if offset.rows.isMultiple(of: 2), offset.columns.isMultiple(of: 2) {
            let (first, second) = scene.sources(of: column)
            for source in first...second {
                let x = source * 8 - across
                guard (0..<signature.size.width / 16).contains(source), x >= 0, x + 8 <= width else { return false }
                for y in rows {
                    guard y + down >= 0, y + down < height else { return false }
                    let piece = PictureSignature.chroma(blue + y * stride + x, red + y * stride + x)
                    guard piece == signature.before.chroma(column: source, line: y + down) else { return false }
                }
            }
            return true
        }
        let colours = (blue[rows.lowerBound * stride + column * 8], red[rows.lowerBound * stride + column * 8])
        for y in rows {
            for x in y * stride + column * 8..<y * stride + min(column * 8 + 8, width)
            where blue[x] != colours.0 || red[x] != colours.1 {
                return false
            }
        }
        let flat = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { samples in
            for index in 0..<8 { (samples[index], samples[index + 8]) = colours }
            return samples.baseAddress.map { PictureSignature.chroma($0, $0 + 8) } ?? 0
        }
        // Two samples before and three behind are in what is interpolated.
        let first = max(column * 8 + across - 2, 0) >> 3
        let last = min(column * 8 + across + 10, width - 1) >> 3
        for source in first...max(first, last) {
            for y in rows.lowerBound + down - 2..<rows.upperBound + down + 3
            where signature.before.chroma(column: source, line: min(max(y, 0), height - 1)) != flat {
                return false
            }
        }
        return true
    }
}

extension PictureSignature {
    /// Whether all lines of a macroblock are the same: hardly anything is to be coded of it.
    fileprivate func isPlain(_ index: Int) -> Bool {
        let first = now.luma + index * 16
        return (1..<16).allSatisfy { first[$0] == first[0] }
    }

    /// Of a macroblock's pixels, how many are those that were there before.
    fileprivate func pixelsHere(column: Int, row: Int) -> Int {
        (row * 16..<min(row * 16 + 16, size.height))
            .count { now.luma(column: column, line: $0) == before.luma(column: column, line: $0) } * 16
    }
}

internal import RTCShareMedia

/// Finds parts of a frame that moved horizontally, or in both directions: a dragged window, a swiped page.
///
/// The former frame has signatures of the content of its columns of macroblocks. If one of these pieces occurs anywhere
/// in the current frame, some of its rows are searched, pixel by pixel, and those that occur once vote for their
/// distance. Large content, such as the letters of a slide, has few such pieces, so that longer ones are searched along
/// their line. Then the macroblocks that the distance explains are counted. One thread at a time can use it.
struct SidewaysSearch {
    /// The minimum fraction of changed, not plain macroblocks that a move must explain. Otherwise the rest costs more
    /// with it than without.
    static let leastShare = 0.4
    /// The number of searched columns of the former frame.
    private static let soughtColumns = 12
    /// The number of searched rows of macroblocks in the current frame.
    private static let lookedAtRows = 24
    /// The number of lines in a piece.
    private static let lines = 4
    /// The number of macroblocks in a longer piece, which has one line.
    private static let longPiece = 4
    /// The offset of the searched line within macroblocks from one row to the next: lines of text, with blank ones
    /// between, can have the same spacing as macroblocks.
    private static let lineStep = 5
    private static let leastVotes = 8
    /// The number of distances that are evaluated.
    private static let candidateCount = 2
    /// The maximum number of frames without a search, for other motion such as video.
    private static let longestRest = 4

    /// The distance of a move, as in ``Scroll``.
    struct Offset: Hashable {
        var rows: Int
        var columns: Int
    }

    private var pieces = PieceIndex()
    /// The longer pieces of a line.
    private var line = PieceIndex()
    private var votes: [Offset: Int] = [:]
    /// For each piece that a macroblock may have come from, the bits of its 16 lines that exist now.
    private var lines: [UInt16] = []
    private var failures = 0
    private var rest = 0

    /// Returns the move; nil if none explains enough of `changed`, 1 for each macroblock of `picture`, which must be
    /// that of the signature.
    mutating func find(
        _ changed: [UInt8], in signature: PictureSignature, of picture: any PixelPlanes
    ) throws(VideoCodingError) -> ScrollSearch.Finding? {
        guard rest == 0 else {
            rest -= 1
            return nil
        }
        let finding = try picture.withPlanePointers { (planes) -> ScrollSearch.Finding? in
            vote(changed, signature, planes)
            for offset in mostVoted {
                let scene = Scene(signature: signature, planes: planes, changed: changed, offset: offset)
                noteLines(scene)
                if let finding = describe(scene) { return finding }
            }
            return nil
        }
        failures = finding == nil ? failures + 1 : 0
        rest = min(max(failures - 1, 0), Self.longestRest - 1)
        return finding
    }

    // MARK: The distance

    private mutating func vote(_ changed: [UInt8], _ signature: PictureSignature, _ planes: PlanePointers) {
        votes.removeAll(keepingCapacity: true)
        let (columns, rows) = (signature.columns, signature.rows)
        let end = signature.size.height - Self.lines
        // Only whole columns are candidates, since pieces of others differ.
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

    /// Searches for pieces that start in this line, in the changed macroblocks of its row.
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

    /// Searches for longer pieces of this line.
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

    /// The offsets with the most votes, the nearest of equals first. Of a window that moves in both directions, the edges
    /// vote for one of them alone.
    private var mostVoted: [Offset] {
        func rank(_ vote: (key: Offset, value: Int)) -> (Int, Int, Int, Int) {
            (vote.value, -abs(vote.key.rows) - abs(vote.key.columns), vote.key.rows, vote.key.columns)
        }
        let candidates = votes.filter { $0.value >= Self.leastVotes }
        return candidates.sorted { rank($0) > rank($1) }.prefix(Self.candidateCount).map(\.key)
    }

    @inline(__always)
    private static func key(_ piece: (Int) -> UInt32) -> UInt64 {
        PieceIndex.key(piece(0), piece(1), piece(2), piece(3))
    }

    // MARK: The amount

    private struct Scene {
        let signature: PictureSignature
        let planes: PlanePointers
        let changed: [UInt8]
        let offset: Offset
        /// The offset of a macroblock's source within its column: of two columns, as many samples are the second's.
        var phase: Int { offset.columns & 15 }

        /// Returns the former columns of macroblocks that contained the current column's content.
        func sources(of column: Int) -> (Int, Int) {
            let first = column + offset.columns >> 4
            return (first, phase == 0 ? first : first + 1)
        }
    }

    /// Records the lines of each former column's content that exist now, in each row of macroblocks.
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

    /// Returns the number of a macroblock's pixels that equal those at the source.
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
                    // A macroblock that is partly equal has less to code.
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

    /// Adds blank macroblocks that are equal either way to the move around them. This takes fewer bits, and coding
    /// errors stay with the adjacent text.
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

    /// Whether a macroblock's chroma equals that at the source. At half a sample this is only possible for a single
    /// color, since interpolated samples are new.
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
        // The interpolation uses two samples before and three after.
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
    /// Whether all lines of a macroblock are equal, so that it takes hardly any bits.
    fileprivate func isPlain(_ index: Int) -> Bool {
        let first = now.luma + index * 16
        return (1..<16).allSatisfy { first[$0] == first[0] }
    }

    /// Returns the number of a macroblock's pixels that equal the former ones.
    fileprivate func pixelsHere(column: Int, row: Int) -> Int {
        (row * 16..<min(row * 16 + 16, size.height))
            .count { now.luma(column: column, line: $0) == before.luma(column: column, line: $0) } * 16
    }
}

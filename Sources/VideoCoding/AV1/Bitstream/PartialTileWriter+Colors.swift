internal import RTCShareMedia

extension PartialTileWriter {
    /// Writes a block of few colors (AV1 §5.11.7, 5.11.46, 5.11.49).
    mutating func writeColors(_ place: Place) {
        colors.read(image, x: place.column * 8, y: place.row * 8, in: frame.image.size)
        guard var palettes = colors.palettes else { preconditionFailure("a painted block has too many colors") }
        if isPredicted(palettes.luma, at: place, isLuma: true) { palettes.luma = Palette() }
        if isPredicted(palettes.chroma, at: place, isLuma: false) { palettes.chroma = Palette() }
        palettes.luma.fill(distinctly: true)
        palettes.chroma.fill(distinctly: false)
        let size = (place.width > 1 ? 1 : 0) + (place.height > 1 ? 1 : 0)
        // Neighbors predict the average of their colors.
        encoder.write(0, .lumaMode, context: size == 2 ? 1 : 0)
        encoder.write(0, .chromaMode)
        let neighbors = [written[place.column, place.row - 1], written[place.column - 1, place.row]]
        let count = neighbors.count { written.palettes(of: $0).map { $0.luma.count > 0 } ?? false }
        encoder.write(palettes.luma.count > 0 ? 1 : 0, .hasLumaPalette, context: size * 3 + count)
        if palettes.luma.count > 0 { writeLuma(palettes.luma, at: place, size: size) }
        encoder.write(palettes.chroma.count > 0 ? 1 : 0, .hasChromaPalette, context: palettes.luma.count > 0 ? 1 : 0)
        if palettes.chroma.count > 0 { writeChroma(palettes.chroma, at: place, size: size) }
        let (width, height) = (colors.width, colors.height)
        if palettes.luma.count > 0 {
            writeIndices(
                of: colors.luma, palettes.luma, width: width, height: height,
                SyntaxElement.lumaColors[palettes.luma.count - 2])
        }
        if palettes.chroma.count > 0 {
            writeIndices(
                of: colors.chroma, palettes.chroma, width: width / 2, height: height / 2,
                SyntaxElement.chromaColors[palettes.chroma.count - 2])
        }
        written.insert(place, painted: palettes)
    }

    /// Whether a block has one color, which its neighbors have, too.
    private func isPredicted(_ palette: Palette, at place: Place, isLuma: Bool) -> Bool {
        guard palette.count == 1 else { return false }
        let size = frame.image.size
        let (x, y) = (place.column * 8, place.row * 8)
        // Prediction reads samples outside the frame, too.
        guard x + colors.width <= size.width, y + colors.height <= size.height else { return false }
        let color = palette.colors[0]
        // Without neighbors, it is gray.
        guard x > 0 || y > 0 else { return color == (isLuma ? 128 : 128 << 8 | 128) }
        func value(_ plane: PlanePointer, _ x: Int, _ y: Int) -> UInt16 {
            UInt16(plane.first[y * Int(plane.stride) + x])
        }
        func isColored(_ x: Int, _ y: Int) -> Bool {
            if isLuma { return value(image.first, x, y) == color }
            return value(image.second, x, y) << 8 | value(image.third, x, y) == color
        }
        let scale = isLuma ? 1 : 2
        let (left, top) = (x / scale, y / scale)
        if y > 0 {
            for column in left..<left + colors.width / scale where !isColored(column, top - 1) { return false }
        }
        if x > 0 {
            for row in top..<top + colors.height / scale where !isColored(left - 1, row) { return false }
        }
        return true
    }

    private mutating func writeLuma(_ palette: Palette, at place: Place, size: Int) {
        encoder.write(palette.count - 2, .lumaPaletteSize, context: size)
        writeValues(palette.values, cached: written.cachedColors(at: place) { $0.luma.values }, leastDifference: 1)
    }

    private mutating func writeChroma(_ palette: Palette, at place: Place, size: Int) {
        encoder.write(palette.count - 2, .chromaPaletteSize, context: size)
        let blue = palette.values.map { $0 >> 8 }
        writeValues(
            blue, cached: written.cachedColors(at: place) { $0.chroma.values.map { $0 >> 8 } }, leastDifference: 0)
        // Those of red follow as they are.
        encoder.write(0, bits: 1)
        for value in palette.values { encoder.write(Int(value & 0xFF), bits: 8) }
    }

    /// Writes ascending values: those that are cached by flags, and the differences of the others.
    private mutating func writeValues(_ values: [UInt16], cached: [UInt16], leastDifference: Int) {
        var others = values
        var count = 0
        for value in cached where count < values.count {
            let index = others.firstIndex(of: value)
            encoder.write(index == nil ? 0 : 1, bits: 1)
            if let index {
                others.remove(at: index)
                count += 1
            }
        }
        guard let first = others.first else { return }
        encoder.write(Int(first), bits: 8)
        guard others.count > 1 else { return }
        let differences = zip(others, others.dropFirst()).map { Int($1 - $0) - leastDifference }
        var bitCount = max(5, differences.map { Int.bitWidth - $0.leadingZeroBitCount }.max() ?? 0)
        encoder.write(bitCount - 5, bits: 2)
        for (difference, value) in zip(differences, others.dropFirst()) {
            encoder.write(difference, bits: bitCount)
            // As many bits as the largest difference that is left.
            let range = 256 - Int(value) - leastDifference
            bitCount = min(bitCount, range < 2 ? 0 : Int.bitWidth - (range - 1).leadingZeroBitCount)
        }
    }

    /// Writes the index of each sample's color, from diagonal to diagonal. Neighbors give the context, and their colors
    /// are the first values (AV1 §5.11.50).
    private mutating func writeIndices(
        of block: [UInt16], _ palette: Palette, width: Int, height: Int, _ element: SyntaxElement
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: width * height) { indices in
            for place in 0..<width * height {
                let isSame = place > 0 && block[place] == block[place - 1]
                indices[place] = isSame ? indices[place - 1] : UInt8(palette.index(of: block[place]))
            }
            encoder.write(Int(indices[0]), below: palette.count)
            for diagonal in 1..<width + height - 1 {
                for column in stride(from: min(diagonal, width - 1), through: max(0, diagonal - height + 1), by: -1) {
                    let place = (diagonal - column) * width + column
                    let neighbors = ColorNeighbors(
                        left: column > 0 ? indices[place - 1] : nil,
                        above: place >= width ? indices[place - width] : nil,
                        corner: column > 0 && place >= width ? indices[place - width - 1] : nil)
                    encoder.write(neighbors.rank(of: indices[place]), element, context: neighbors.context)
                }
            }
        }
    }
}

/// The indices of the colors of a sample's neighbors, of which that above or to the left is not nil.
private struct ColorNeighbors {
    let context: Int
    /// The different ones, the most probable one first.
    private let first: UInt8
    private var second: UInt8?
    private var third: UInt8?

    @inline(__always)
    init(left: UInt8?, above: UInt8?, corner: UInt8?) {
        guard let left, let above, let corner else {
            (context, first) = (0, left ?? above ?? 0)
            return
        }
        switch (left == above, left == corner, above == corner) {
        case (true, true, _): (context, first) = (4, left)
        case (true, false, _): (context, first, second) = (3, left, corner)
        case (false, true, _): (context, first, second) = (2, left, above)
        case (false, false, true): (context, first, second) = (2, above, left)
        default: (context, first, second, third) = (1, min(left, above), max(left, above), corner)
        }
    }

    /// Returns the place of an index in the order of the neighbors' and then all others.
    @inline(__always)
    func rank(of index: UInt8) -> Int {
        if index == first { return 0 }
        guard let second else { return Int(index) + (index < first ? 1 : 0) }
        if index == second { return 1 }
        let before = Int(index) + (index < first ? 1 : 0) + (index < second ? 1 : 0)
        guard let third else { return before }
        return index == third ? 2 : before + (index < third ? 1 : 0)
    }
}

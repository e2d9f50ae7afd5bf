internal import Glibc
internal import RTCShareMedia

/// Copies the macroblocks of few colors to the image that decoders show, exactly as ``AV1PartialFrame`` paints them.
struct PalettePainter {
    private var colors = BlockColors()

    /// Copies those of `macroblocks` that have few colors, and returns them. The picture must be of I420.
    mutating func paint(
        _ macroblocks: MacroblockMap, of picture: any PixelPlanes, onto shown: I420Picture
    ) throws(VideoCodingError) -> MacroblockMap {
        var painted = MacroblockMap(size: picture.size)
        var colors = colors
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            for index in macroblocks.cells.indices where macroblocks.cells[index] != 0 {
                let (x, y) = (index % macroblocks.columns * 16, index / macroblocks.columns * 16)
                colors.read(planes, x: x, y: y, in: picture.size)
                guard colors.palettes != nil else { continue }
                let size = PixelSize(width: min(16, picture.size.width - x), height: min(16, picture.size.height - y))
                try planes.convert(PixelRectangle(x: x, y: y, size: size), .i420, to: shown.samples.from(x: x, y: y))
                painted.insert(index)
            }
        }
        self.colors = colors
        return painted
    }
}

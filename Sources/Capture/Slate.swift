public import Media

/// A picture that stands in for one that can't be shown, and says why.
public enum Slate {
    /// The size where nothing else is known.
    public static let defaultSize = PixelSize(width: 1280, height: 720)

    /// `text` in one line in the middle of a dark picture of `size`, I420; letters that have no shape are left out.
    public static func picture(of size: PixelSize, saying text: String) -> any VideoFrameBuffer {
        // Even sides, as the canvas has them.
        let size = PixelSize(width: max(size.width & ~1, 2), height: max(size.height & ~1, 2))
        let points = max(text.utf8.count * BitmapFont.advance, 1)
        // Two thirds of the width, but no larger than a title.
        let scale = min(max(size.width * 2 / 3 / points, 1), max(size.height / 80, 1))
        return PixelBuffer(size: size, format: .i420) { planes, strides in
            Planes(planes: planes, strides: strides).draw(PixelRectangle(x: 0, y: 0, size: size)) { canvas in
                canvas.fill(0, 0, size.width, size.height, .slate)
                canvas.text(
                    text, x: (size.width - points * scale) / 2, y: (size.height - BitmapFont.lineHeight * scale) / 2,
                    scale: scale, .white)
            }
        }
    }
}

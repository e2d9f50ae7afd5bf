public import RTCShareMedia

extension PullVideoSource {
    /// Returns a still frame with a word that viewers see instead of the shared video. Its sides are made even, and are
    /// at least 64 by 36.
    public static func slate(_ text: String, size: PixelSize) throws(CaptureError) -> PullVideoSource {
        let size = PixelSize(width: max(size.width, 64) & ~1, height: max(size.height, 36) & ~1)
        let picture = Slate.picture(text, size: size)
        // Repeated, for viewers who join later.
        return try PullVideoSource(size: size, framesPerSecond: 5, contentHint: .text) { _ in picture }
    }
}

package enum Slate {
    /// The default size.
    package static let defaultSize = PixelSize(width: 1280, height: 720)

    /// Returns a frame with a few words in the middle, at most two thirds of the width and a tenth of the height,
    /// between two bars: the sign of a pause. Sides are even.
    package static func picture(_ text: String, size: PixelSize) -> PixelBuffer {
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        return PixelBuffer(size: size, format: .i420) { planes, strides in
            Planes(planes: planes, strides: strides).draw(whole) { canvas in
                canvas.fill(0, 0, size.width, size.height, .slate)
                let points = max(text.utf8.count * BitmapFont.advance - 1, 1)
                let scale = max(1, min(size.width * 2 / 3 / points, size.height / 10 / BitmapFont.lineHeight))
                let (width, height) = (points * scale, (BitmapFont.lineHeight - 2) * scale)
                let (left, top) = ((size.width - width) / 2, (size.height - height) / 2)
                canvas.text(text, x: left, y: top, scale: scale, .white)
                for y in [top - 3 * scale, top + height + 2 * scale] {
                    canvas.fill(left, y, width, scale, .grey)
                }
            }
        }
    }
}

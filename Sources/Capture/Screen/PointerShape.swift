import RTCShareCYUV
import RTCShareMedia

/// The image of a mouse pointer.
struct PointerShape: Sendable, Equatable {
    let size: PixelSize
    /// The pixel that points, from the upper left corner.
    let hotspot: PixelPosition
    /// The pixels: blue, green, red, alpha, with premultiplied colors.
    let pixels: [UInt32]

    /// Returns the part of `area` that the pointer covers if its hot spot is at `place`, in pixels of the area; nil if
    /// it covers none.
    func rectangle(at place: PixelPosition, in area: PixelRectangle) -> PixelRectangle? {
        PixelRectangle(x: place.x - hotspot.x - area.x, y: place.y - hotspot.y - area.y, size: size)
            .intersection(PixelRectangle(x: 0, y: 0, size: area.size))
    }

    /// Draws the pointer into a BGRA frame that shows `area`.
    func draw(into picture: ScreenPicture, at place: PixelPosition, area: PixelRectangle) {
        guard let visible = rectangle(at: place, in: area) else { return }
        let left = visible.x - (place.x - hotspot.x - area.x)
        let top = visible.y - (place.y - hotspot.y - area.y)
        let target = picture.memory.baseAddress?.advanced(by: visible.y * picture.stride + visible.x * 4)
            .assumingMemoryBound(to: UInt8.self)
        pixels.withUnsafeBytes { bytes in
            let source = bytes.baseAddress?.advanced(by: (top * size.width + left) * 4)
                .assumingMemoryBound(to: UInt8.self)
            _ = ARGBBlend(
                source, Int32(size.width * 4), target, Int32(picture.stride), target, Int32(picture.stride),
                Int32(visible.size.width), Int32(visible.size.height))
        }
    }
}

/// The position of a pixel, inside or outside a frame.
struct PixelPosition: Sendable, Equatable {
    var x: Int
    var y: Int
}

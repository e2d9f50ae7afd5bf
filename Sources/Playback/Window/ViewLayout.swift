internal import RTCShareMedia

/// The positions of frames in a window.
enum ViewLayout {
    /// Returns the largest rectangle of a frame's shape in the middle of `area`; nil if either is empty.
    static func fitted(_ picture: PixelSize, in area: PixelRectangle) -> PixelRectangle? {
        guard picture.width > 0, picture.height > 0, area.size.width > 0, area.size.height > 0 else { return nil }
        let isWide = picture.width * area.size.height >= area.size.width * picture.height
        let size =
            isWide
            ? PixelSize(width: area.size.width, height: scaled(picture.height, area.size.width, over: picture.width))
            : PixelSize(width: scaled(picture.width, area.size.height, over: picture.height), height: area.size.height)
        return PixelRectangle(
            x: area.x + (area.size.width - size.width) / 2, y: area.y + (area.size.height - size.height) / 2, size: size
        )
    }

    /// Returns the place of the corner view's frame in the lower right corner of `area`: at most a quarter of each
    /// side, with a margin to the edges.
    static func corner(_ picture: PixelSize, of area: PixelRectangle) -> PixelRectangle? {
        let margin = min(area.size.width, area.size.height) / 40
        let bound = PixelSize(width: area.size.width / 4, height: area.size.height / 4)
        guard let fitted = fitted(picture, in: PixelRectangle(x: 0, y: 0, size: bound)) else { return nil }
        return PixelRectangle(
            x: area.x + area.size.width - margin - fitted.size.width,
            y: area.y + area.size.height - margin - fitted.size.height, size: fitted.size)
    }

    /// Returns the size, in units of the display, of a window that shows each pixel of a frame as a pixel of the
    /// screen, of which `density` make a unit. If that exceeds `room`, it is the largest of the same shape.
    static func window(for picture: PixelSize, density: Double, room: PixelSize) -> PixelSize {
        let natural = PixelSize(
            width: units(picture.width, density), height: units(picture.height, density))
        guard natural.width > room.width || natural.height > room.height else { return natural }
        return fitted(natural, in: PixelRectangle(x: 0, y: 0, size: room))?.size ?? natural
    }

    private static func units(_ pixels: Int, _ density: Double) -> Int {
        max(1, Int((Double(pixels) / density).rounded(.up)))
    }

    private static func scaled(_ side: Int, _ numerator: Int, over denominator: Int) -> Int {
        max(1, (side * numerator + denominator / 2) / denominator)
    }
}

extension VideoFrame {
    /// The size of the upright frame.
    var sizeToBeSeen: PixelSize {
        switch rotation {
        case .upright, .half: size
        case .quarter, .threeQuarters: PixelSize(width: size.height, height: size.width)
        }
    }
}

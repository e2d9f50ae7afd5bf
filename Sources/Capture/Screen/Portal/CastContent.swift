import RTCShareMedia

/// A frame of a desktop with its metadata. Coordinates are those of the buffer.
struct CastContent {
    /// The number of the stream's format.
    var generation: UInt32 = 1
    /// The size of the buffer.
    var size: PixelSize
    /// Whether the first byte of a pixel is red; blue otherwise.
    var isRGB = false
    /// The pixels, four bytes each; nil for a buffer that only carries the pointer.
    var pixels: UnsafeRawBufferPointer?
    /// The bytes from row to row.
    var stride: Int
    /// The number of complete rows.
    var rows: Int
    /// The number of the frame, if the desktop counts them.
    var sequence: UInt64?
    /// The shared part; nil for all.
    var crop: PixelRectangle?
    /// The transformation that makes the pixels upright.
    var turn = PictureTurn()
    /// The changed parts; nil if the desktop does not report them.
    var damage: [PixelRectangle]?
    /// The pointer; nil if the frame has no information about it.
    var pointer: CastPointer?

    /// The shared part, as far as the buffer contains it, with even sides; nil if it contains none.
    var area: PixelRectangle? {
        let whole = PixelRectangle(x: 0, y: 0, size: PixelSize(width: size.width, height: rows))
        guard let area = (crop ?? whole).intersection(whole), area.size.width >= 2, area.size.height >= 2 else {
            return nil
        }
        return area.even
    }
}

/// A desktop's information about the pointer.
struct CastPointer {
    /// The position; nil if the pointer is hidden.
    var place: PixelPosition?
    /// The new shape, if it has changed; the inner optional is nil for an invisible shape.
    var shape: PointerShape??
}

/// The transformation that makes a buffer's pixels upright.
struct PictureTurn: Equatable {
    /// Whether it is mirrored horizontally first.
    var isMirrored = false
    /// The number of quarter turns after that, counterclockwise.
    var quarterTurns = 0

    /// Whether the content is not transformed.
    var isUpright: Bool { !isMirrored && quarterTurns == 0 }

    /// Returns the transformed size.
    func size(of size: PixelSize) -> PixelSize {
        quarterTurns % 2 == 0 ? size : PixelSize(width: size.height, height: size.width)
    }

    /// Returns the transformed position of a part of a frame of `size`.
    func rectangle(of part: PixelRectangle, in size: PixelSize) -> PixelRectangle {
        let x = isMirrored ? size.width - part.x - part.size.width : part.x
        let turned = self.size(of: part.size)
        switch quarterTurns {
        case 1: return PixelRectangle(x: part.y, y: size.width - x - part.size.width, size: turned)
        case 2:
            return PixelRectangle(
                x: size.width - x - part.size.width, y: size.height - part.y - part.size.height, size: turned)
        case 3: return PixelRectangle(x: size.height - part.y - part.size.height, y: x, size: turned)
        default: return PixelRectangle(x: x, y: part.y, size: turned)
        }
    }
}

extension PictureTurn {
    /// Creates the inverse of Wayland's `wl_output.transform`, by which the buffer's content was possibly mirrored, and
    /// then rotated counterclockwise.
    init(waylandTransform value: UInt32) {
        let turns = Int(value & 3)
        let isMirrored = value & 4 != 0
        // Rotating back and then mirroring is the same as mirroring and then rotating further.
        self.init(isMirrored: isMirrored, quarterTurns: isMirrored ? turns : (4 - turns) % 4)
    }
}

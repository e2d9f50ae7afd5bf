import RTCShareMedia

/// What a desktop gives as a picture, and what it says of it. Coordinates are those of the buffer.
struct CastContent {
    /// Counts the stream's formats.
    var generation: UInt32 = 1
    /// The buffer's.
    var size: PixelSize
    /// Whether the first byte of a pixel is red; blue otherwise.
    var isRGB = false
    /// Four bytes a pixel; nil for a picture that comes for its pointer alone.
    var pixels: UnsafeRawBufferPointer?
    /// Bytes from row to row.
    var stride: Int
    /// The rows that are there.
    var rows: Int
    /// Counts the pictures, where the desktop does.
    var sequence: UInt64?
    /// The part that is shared; nil for all.
    var crop: PixelRectangle?
    /// What is to be done to the pixels.
    var turn = PictureTurn()
    /// What changed; nil where the desktop doesn't say.
    var damage: [PixelRectangle]?
    /// Nil where nothing is said of it.
    var pointer: CastPointer?

    /// The part that is shared, as far as it is there, with even sides; nil where nothing is.
    var area: PixelRectangle? {
        let whole = PixelRectangle(x: 0, y: 0, size: PixelSize(width: size.width, height: rows))
        guard let area = (crop ?? whole).intersection(whole), area.size.width >= 2, area.size.height >= 2 else {
            return nil
        }
        return area.even
    }
}

/// What a desktop says of the pointer.
struct CastPointer {
    /// Nil where it is not to be seen.
    var place: PixelPosition?
    /// Another shape than before, if it has one; nil within for one that can't be seen.
    var shape: PointerShape??
}

/// How a buffer's pixels are to be turned so that they stand upright.
struct PictureTurn: Equatable {
    /// Whether left and right are changed first.
    var isMirrored = false
    /// Quarter turns after that, counterclockwise.
    var quarterTurns = 0

    /// Whether there is something to be done.
    var isUpright: Bool { !isMirrored && quarterTurns == 0 }

    /// What becomes of a size.
    func size(of size: PixelSize) -> PixelSize {
        quarterTurns % 2 == 0 ? size : PixelSize(width: size.height, height: size.width)
    }

    /// Where a part of a picture of `size` comes to be.
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
    /// What undoes Wayland's `wl_output.transform`, by which the buffer's content was mirrored, if it was, and then turned
    /// counterclockwise.
    init(waylandTransform value: UInt32) {
        let turns = Int(value & 3)
        let isMirrored = value & 4 != 0
        // To turn back and then to mirror is to mirror and then to turn on.
        self.init(isMirrored: isMirrored, quarterTurns: isMirrored ? turns : (4 - turns) % 4)
    }
}

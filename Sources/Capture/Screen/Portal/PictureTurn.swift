import RTCShareMedia

/// The transformation that makes a buffer's pixels upright.
struct PictureTurn: Equatable {
    /// Whether it is mirrored horizontally first.
    var isMirrored = false
    /// The number of quarter turns after that, counterclockwise.
    var quarterTurns = 0

    /// Whether the content is not transformed.
    var isUpright: Bool { !isMirrored && quarterTurns == 0 }

    /// The clockwise rotation after which the content is upright, and mirrored horizontally if ``isMirrored``.
    var rotation: VideoRotation {
        // Mirroring after a rotation is the same as mirroring before the opposite one.
        let turns = isMirrored ? quarterTurns : (4 - quarterTurns) % 4
        return VideoRotation(rawValue: turns * 90) ?? .upright
    }

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

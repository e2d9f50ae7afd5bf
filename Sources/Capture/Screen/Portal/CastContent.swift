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

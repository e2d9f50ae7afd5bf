/// A rectangle of another buffer, without a copy: its planes begin at an offset.
struct CroppedBuffer: VideoFrameBuffer {
    private let base: any VideoFrameBuffer
    private let x: Int
    private let y: Int
    let size: PixelSize

    var format: PixelFormat { base.format }

    /// Crops `base` to `rectangle`, which is inside it. `x` and `y` are rounded to even numbers, the positions of
    /// chroma samples.
    init(_ base: any VideoFrameBuffer, _ rectangle: PixelRectangle) {
        self.base = base
        x = rectangle.x & ~1
        y = rectangle.y & ~1
        size = rectangle.size
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try base.withPlanes { whole in
            var planes: [UnsafeRawBufferPointer] = []
            for plane in whole.planes.indices {
                let extent = format.planeExtent(plane, of: PixelSize(width: x, height: y))
                let skipped = extent.rows * whole.strides[plane] + extent.rowBytes
                // Readers detect a base that lends less memory than when it was checked.
                let memory = whole.planes[plane]
                planes.append(UnsafeRawBufferPointer(rebasing: memory[min(skipped, memory.count)...]))
            }
            return try body(PlaneSet(planes: planes, strides: whole.strides))
        }
    }
}

extension VideoFrame {
    /// Returns the part of this frame inside `rectangle`, with the target size `outputSize`, without a copy.
    func cropped(to rectangle: PixelRectangle, outputSize: PixelSize) -> VideoFrame {
        guard rectangle.size != size || outputSize != self.outputSize else { return self }
        var frame = self
        // The new frame needs a check of its own.
        frame.isValidated = false
        frame.outputSize = outputSize
        guard rectangle.size != size else { return frame }
        let rectangle = PixelRectangle(x: rectangle.x & ~1, y: rectangle.y & ~1, size: rectangle.size)
        frame.buffer = CroppedBuffer(buffer, rectangle)
        frame.damage = damage?.compactMap { $0.intersection(rectangle)?.moved(by: rectangle) }
        return frame
    }
}

extension PixelRectangle {
    /// Returns the rectangle relative to another one's corner.
    fileprivate func moved(by frame: PixelRectangle) -> PixelRectangle {
        PixelRectangle(x: x - frame.x, y: y - frame.y, size: size)
    }
}

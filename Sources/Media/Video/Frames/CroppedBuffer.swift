/// A rectangle of another buffer, without a copy: its planes begin further on.
struct CroppedBuffer: VideoFrameBuffer {
    private let base: any VideoFrameBuffer
    private let x: Int
    private let y: Int
    let size: PixelSize

    var format: PixelFormat { base.format }

    /// The part of `base` inside `rectangle`, which lies within it; `x` and `y` are made even, where chroma samples lie.
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
                // A base that lends less than it did when it was checked is caught by who reads it.
                let memory = whole.planes[plane]
                planes.append(UnsafeRawBufferPointer(rebasing: memory[min(skipped, memory.count)...]))
            }
            return try body(PlaneSet(planes: planes, strides: whole.strides))
        }
    }
}

extension VideoFrame {
    /// The part of this frame inside `rectangle`, wanted at `outputSize`; nothing is copied.
    func cropped(to rectangle: PixelRectangle, outputSize: PixelSize) -> VideoFrame {
        guard rectangle.size != size || outputSize != self.outputSize else { return self }
        var frame = self
        // It is another one, to be looked at as such.
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
    /// The same, counted from another rectangle's corner.
    fileprivate func moved(by frame: PixelRectangle) -> PixelRectangle {
        PixelRectangle(x: x - frame.x, y: y - frame.y, size: size)
    }
}

import RTCShareCYUV
import RTCShareMedia

/// The planes of an I420 frame under construction.
struct Planes {
    let planes: [UnsafeMutableRawBufferPointer]
    let strides: [Int]

    /// Returns the address of a plane's sample at column `x`, row `y` of that plane.
    private func address(_ plane: Int, _ x: Int, _ y: Int) -> UnsafeMutablePointer<UInt8>? {
        planes[plane].baseAddress?.advanced(by: y * strides[plane] + x).assumingMemoryBound(to: UInt8.self)
    }

    /// Draws a rectangle, whose position and size are even, through a canvas.
    func draw(_ rectangle: PixelRectangle, _ body: (borrowing Canvas) -> Void) {
        let canvas = Canvas(size: rectangle.size)
        body(canvas)
        let (x, y) = (rectangle.x, rectangle.y)
        canvas.withPixels { pixels, stride in
            _ = ARGBToI420(
                pixels, stride, address(0, x, y), Int32(strides[0]), address(1, x / 2, y / 2), Int32(strides[1]),
                address(2, x / 2, y / 2), Int32(strides[2]), Int32(rectangle.size.width),
                Int32(rectangle.size.height))
        }
    }

    /// Copies a part of an I420 frame; positions and sizes are even.
    func copy(_ source: borrowing PlaneSet, from origin: (x: Int, y: Int), to rectangle: PixelRectangle) {
        for plane in 0..<3 {
            let divisor = plane == 0 ? 1 : 2
            let offset = origin.y / divisor * source.strides[plane] + origin.x / divisor
            CopyPlane(
                source.planes[plane].baseAddress?.advanced(by: offset).assumingMemoryBound(to: UInt8.self),
                Int32(source.strides[plane]), address(plane, rectangle.x / divisor, rectangle.y / divisor),
                Int32(strides[plane]), Int32(rectangle.size.width / divisor),
                Int32(rectangle.size.height / divisor))
        }
    }
}

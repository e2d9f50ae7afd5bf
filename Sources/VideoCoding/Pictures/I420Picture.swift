internal import RTCShareCYUV
internal import RTCShareMedia

/// An I420 image in its own memory, which its only owner writes repeatedly.
final class I420Picture: PixelPlanes {
    let size: PixelSize
    let format = PixelFormat.i420
    /// The samples, from the upper left corner.
    let samples: I420Samples
    private let memory: UnsafeMutableRawBufferPointer
    private let readablePlanes: [UnsafeRawBufferPointer]
    private let strides: [Int]

    /// Creates a gray image in memory for whole macroblocks, so that those at the edges need no special treatment.
    init(size: PixelSize) throws(VideoCodingError) {
        guard size.width > 0, size.height > 0 else { throw .emptyPicture }
        let stride = (size.width + 127) & ~127
        let rows = (size.height + 15) & ~15
        memory = .allocate(byteCount: stride * rows * 3 / 2, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 128)
        guard let base = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { throw .emptyPicture }
        let blue = base + stride * rows
        let red = blue + stride / 2 * (rows / 2)
        self.size = size
        samples = I420Samples(luma: base, blue: blue, red: red, lumaStride: stride, chromaStride: stride / 2)
        strides = [stride, stride / 2, stride / 2]
        readablePlanes = [
            UnsafeRawBufferPointer(start: base, count: stride * rows),
            UnsafeRawBufferPointer(start: blue, count: stride / 2 * (rows / 2)),
            UnsafeRawBufferPointer(start: red, count: stride / 2 * (rows / 2)),
        ]
    }

    deinit {
        memory.deallocate()
    }

    /// Copies an image of the same size.
    func copy(from other: I420Picture) {
        memory.copyMemory(from: UnsafeRawBufferPointer(other.memory))
    }

    /// Copies macroblocks of an I420 picture of the same size.
    func copy(_ macroblocks: MacroblockMap, of picture: any PixelPlanes) throws(VideoCodingError) {
        let frame = PixelRectangle(x: 0, y: 0, size: size)
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            for rectangle in macroblocks.rectangles(of: 1) {
                guard let part = rectangle.intersection(frame) else { continue }
                try planes.convert(part, .i420, to: samples.from(x: part.x, y: part.y))
            }
        }
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: readablePlanes, strides: strides))
        }
    }
}

/// The addresses of writable I420 samples.
package struct I420Samples {
    let luma: UnsafeMutablePointer<UInt8>
    let blue: UnsafeMutablePointer<UInt8>
    let red: UnsafeMutablePointer<UInt8>
    let lumaStride: Int
    let chromaStride: Int

    /// Returns the addresses from another pixel. Both coordinates must be even, as chroma samples require.
    func from(x: Int, y: Int) -> I420Samples {
        let offset = y / 2 * chromaStride + x / 2
        return I420Samples(
            luma: luma + y * lumaStride + x, blue: blue + offset, red: red + offset, lumaStride: lumaStride,
            chromaStride: chromaStride)
    }
}

extension PlanePointers {
    /// Converts the pixels of `part`, which must be within the frame and start at an even column and row, to I420.
    func convert(
        _ part: PixelRectangle, _ format: PixelFormat, to target: I420Samples
    ) throws(VideoCodingError) {
        let (x, y) = (part.x, part.y)
        let (width, height) = (Int32(clamping: part.size.width), Int32(clamping: part.size.height))
        let (luma, blue, red) = (target.luma, target.blue, target.red)
        let (lumaStride, chromaStride) = (Int32(clamping: target.lumaStride), Int32(clamping: target.chromaStride))
        let pixels = first.first + y * Int(first.stride) + x * 4
        switch format {
        case .bgra:
            // libyuv names formats by the word, not by the byte: its ARGB is blue, green, red, alpha in memory.
            try checkYUV(
                "ARGBToI420",
                ARGBToI420(
                    pixels, first.stride, luma, lumaStride, blue, chromaStride, red, chromaStride, width, height))
        case .argb:
            try checkYUV(
                "BGRAToI420",
                BGRAToI420(
                    pixels, first.stride, luma, lumaStride, blue, chromaStride, red, chromaStride, width, height))
        case .nv12:
            try checkYUV(
                "NV12ToI420",
                NV12ToI420(
                    first.first + y * Int(first.stride) + x, first.stride,
                    second.first + y / 2 * Int(second.stride) + x, second.stride, luma, lumaStride, blue,
                    chromaStride, red, chromaStride, width, height))
        case .i420:
            try checkYUV(
                "I420Copy",
                I420Copy(
                    first.first + y * Int(first.stride) + x, first.stride,
                    second.first + y / 2 * Int(second.stride) + x / 2, second.stride,
                    third.first + y / 2 * Int(third.stride) + x / 2, third.stride, luma, lumaStride, blue,
                    chromaStride, red, chromaStride, width, height))
        }
    }
}

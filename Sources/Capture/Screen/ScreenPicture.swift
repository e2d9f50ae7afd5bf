internal import Glibc
import RTCShareCYUV
import RTCShareMedia

/// A frame of a screen, in memory that an X server writes directly if possible.
final class ScreenPicture: VideoFrameBuffer, @unchecked Sendable {
    // Sendable: written only by `ScreenPictures`, while it holds the only reference.
    let size: PixelSize
    let format = PixelFormat.bgra
    /// The shared memory to which the server writes whole rows; nil if the memory is not shared.
    let segment: SharedSegment?
    let memory: UnsafeMutableRawBufferPointer
    // Kept so that lending them allocates nothing.
    private let planes: [UnsafeRawBufferPointer]
    private let strides: [Int]

    var stride: Int { size.width * 4 }

    init(size: PixelSize, segment: SharedSegment?) {
        self.size = size
        self.segment = segment
        memory = segment?.memory ?? .allocate(byteCount: size.area * 4, alignment: 64)
        planes = [UnsafeRawBufferPointer(memory)]
        strides = [size.width * 4]
    }

    deinit {
        if segment == nil { memory.deallocate() }
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: planes, strides: strides))
        }
    }

    /// Copies a part from memory whose rows are `stride` bytes apart.
    func write(_ part: PixelRectangle, from source: UnsafeRawPointer, stride sourceStride: Int) {
        let target = memory.baseAddress?.advanced(by: part.y * stride + part.x * 4)
        CopyPlane(
            source.assumingMemoryBound(to: UInt8.self), Int32(sourceStride),
            target?.assumingMemoryBound(to: UInt8.self), Int32(stride), Int32(part.size.width * 4),
            Int32(part.size.height))
    }
}

import RTCShareMedia

/// A frame in memory of its own, planes one after the other.
final class BroadcastPicture: VideoFrameBuffer, @unchecked Sendable {
    // Sendable: written only by `BroadcastPictures`, while it holds the only reference.
    let size: PixelSize
    let format: PixelFormat
    let strides: [Int]
    let planes: [UnsafeMutableRawBufferPointer]
    private let readablePlanes: [UnsafeRawBufferPointer]
    private let memory: UnsafeMutableRawBufferPointer

    init(size: PixelSize, format: PixelFormat, strides: [Int]) {
        self.size = size
        self.format = format
        self.strides = strides
        let lengths = (0..<format.planeCount).map { strides[$0] * format.planeExtent($0, of: size).rows }
        memory = .allocate(byteCount: lengths.reduce(0, +), alignment: 64)
        var planes: [UnsafeMutableRawBufferPointer] = []
        var start = 0
        for length in lengths {
            planes.append(UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + length]))
            start += length
        }
        self.planes = planes
        readablePlanes = planes.map { UnsafeRawBufferPointer($0) }
    }

    deinit {
        memory.deallocate()
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: readablePlanes, strides: strides))
        }
    }

    func hasLayout(_ description: PictureDescription) -> Bool {
        size == description.size && format == description.format && strides == description.strides
    }
}

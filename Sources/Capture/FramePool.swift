import RTCShareLocks
internal import RTCShareMedia

/// Memory for frames, reused when the last reference to a frame is released: a 1080p screen has 8 MiB, which the system
/// would otherwise have to clear and map thirty times a second.
final class FramePool: Sendable {
    /// The memory of one frame, which has one owner at a time.
    fileprivate final class Block: @unchecked Sendable {
        // Sendable: a block is either in the pool's list or in one buffer, which is not written any more after it was
        // filled.
        let size: PixelSize
        let format: PixelFormat
        let strides: [Int]
        let planes: [UnsafeMutableRawBufferPointer]
        let readablePlanes: [UnsafeRawBufferPointer]
        private let memory: UnsafeMutableRawBufferPointer

        init(size: PixelSize, format: PixelFormat) {
            let layout = PlaneLayout(size: size, format: format)
            memory = .allocate(byteCount: layout.byteCount, alignment: 64)
            planes = layout.slices(of: memory)
            readablePlanes = planes.map { UnsafeRawBufferPointer($0) }
            strides = layout.strides
            self.size = size
            self.format = format
        }

        deinit {
            memory.deallocate()
        }
    }

    private static let maximumFree = 4
    /// The free blocks, all of one size and format.
    private let free = Locked<[Block]>([])

    /// Returns a buffer that `fill` writes. The previous content of the memory is undefined.
    func buffer(
        size: PixelSize, format: PixelFormat,
        fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws(CaptureError) -> Void
    ) throws(CaptureError) -> any VideoFrameBuffer {
        let block = take(size, format)
        let buffer = PooledBuffer(pool: self, block: block)
        try fill(block.planes, block.strides)
        return buffer
    }

    private func take(_ size: PixelSize, _ format: PixelFormat) -> Block {
        let (taken, outdated) = free.withLock { free -> (Block?, [Block]) in
            guard let last = free.last, last.size != size || last.format != format else { return (free.popLast(), []) }
            defer { free = [] }
            return (nil, free)
        }
        // Released after the lock: freeing memory takes time.
        withExtendedLifetime(outdated) {}
        return taken ?? Block(size: size, format: format)
    }

    fileprivate func give(_ block: Block) {
        free.withLock { free in
            let isOfUse = free.last.map { $0.size == block.size && $0.format == block.format } ?? true
            if isOfUse, free.count < Self.maximumFree { free.append(block) }
        }
    }
}

/// A frame's pixels in memory of a pool, to which they return.
private final class PooledBuffer: VideoFrameBuffer {
    var size: PixelSize { block.size }
    var format: PixelFormat { block.format }
    private let pool: FramePool
    private let block: FramePool.Block

    init(pool: FramePool, block: FramePool.Block) {
        self.pool = pool
        self.block = block
    }

    deinit {
        pool.give(block)
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) {
            try body(PlaneSet(planes: block.readablePlanes, strides: block.strides))
        }
    }
}

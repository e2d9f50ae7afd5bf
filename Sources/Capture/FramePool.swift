import Foundation
import Media
import Synchronization

/// Memory for frames, used again when the last holder of a frame lets go: a 1080p screen is 8 MiB, which the
/// system would otherwise have to clear and map anew thirty times a second.
final class FramePool: Sendable {
    /// Memory of one frame, which has one owner at a time.
    fileprivate struct Block: @unchecked Sendable {
        // Sendable: a block is either in the pool's list or in one buffer, which nobody writes once it was filled.
        let memory: UnsafeMutableRawBufferPointer
    }

    private struct State {
        var free: [Block] = []
        var byteCount = 0
    }

    private static let maximumFree = 4
    private let state = Mutex(State())

    deinit {
        for block in state.withLock({ $0.free }) { block.memory.deallocate() }
    }

    /// A buffer that `fill` writes; what the memory held before is undefined.
    func buffer(
        size: PixelSize, format: PixelFormat,
        fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws(CaptureError) -> Void
    ) throws(CaptureError) -> any VideoFrameBuffer {
        let layout = PlaneLayout(size: size, format: format)
        let block = take(layout.byteCount)
        let buffer = PooledBuffer(pool: self, block: block, layout: layout, size: size, format: format)
        try fill(layout.slices(of: block.memory), layout.strides)
        return buffer
    }

    private func take(_ byteCount: Int) -> Block {
        let (taken, outdated) = state.withLock { state -> (Block?, [Block]) in
            guard state.byteCount == byteCount else {
                let outdated = state.free
                state.free = []
                state.byteCount = byteCount
                return (nil, outdated)
            }
            return (state.free.popLast(), [])
        }
        for block in outdated { block.memory.deallocate() }
        return taken ?? Block(memory: .allocate(byteCount: byteCount, alignment: 64))
    }

    fileprivate func give(_ block: Block) {
        let kept = state.withLock { state in
            guard state.byteCount == block.memory.count, state.free.count < Self.maximumFree else { return false }
            state.free.append(block)
            return true
        }
        if !kept { block.memory.deallocate() }
    }
}

/// Where the planes of a picture lie in one piece of memory, rows aligned to 64 bytes.
struct PlaneLayout: Sendable {
    let ranges: [Range<Int>]
    let strides: [Int]
    let byteCount: Int

    init(size: PixelSize, format: PixelFormat) {
        var ranges: [Range<Int>] = []
        var strides: [Int] = []
        var total = 0
        for plane in 0..<format.planeCount {
            let extent = format.planeExtent(plane, of: size)
            let stride = (extent.rowBytes + 63) & ~63
            ranges.append(total..<total + stride * extent.rows)
            strides.append(stride)
            total += stride * extent.rows
        }
        self.ranges = ranges
        self.strides = strides
        byteCount = total
    }

    func slices(of memory: UnsafeMutableRawBufferPointer) -> [UnsafeMutableRawBufferPointer] {
        ranges.map { UnsafeMutableRawBufferPointer(rebasing: memory[$0]) }
    }
}

/// A frame's pixels in memory of a pool, to which they go back.
private final class PooledBuffer: VideoFrameBuffer {
    let size: PixelSize
    let format: PixelFormat
    private let layout: PlaneLayout
    private let pool: FramePool
    private let block: FramePool.Block

    init(pool: FramePool, block: FramePool.Block, layout: PlaneLayout, size: PixelSize, format: PixelFormat) {
        self.pool = pool
        self.block = block
        self.layout = layout
        self.size = size
        self.format = format
    }

    deinit {
        pool.give(block)
    }

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        let planes = layout.slices(of: block.memory).map { UnsafeRawBufferPointer($0) }
        return try body(PlaneSet(planes: planes, strides: layout.strides))
    }
}

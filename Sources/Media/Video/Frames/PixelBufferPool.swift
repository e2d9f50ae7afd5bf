internal import RTCShareLocks

/// Makes pixel buffers from memory that nobody uses any more, so that a steady flow of frames allocates nothing.
///
/// The pool remembers the buffers that it made. One that is referenced by nobody else any more is written anew; a
/// frame that is held somewhere is never touched. Thread-safe; no lock is held while `fill` runs.
public final class PixelBufferPool: Sendable {
    /// How many buffers are remembered at most. Further ones are made as asked, and freed with their last reference.
    public let capacity: Int
    private let buffers: Locked<[PixelBuffer]>

    /// An empty pool. `capacity` should be what is in flight at a time: one being written, and those that are held.
    public init(capacity: Int = 4) {
        self.capacity = max(capacity, 1)
        var buffers: [PixelBuffer] = []
        buffers.reserveCapacity(self.capacity)
        self.buffers = Locked(buffers)
    }

    /// A buffer that `fill` has written; what was in its memory before is not cleared.
    public func makeBuffer(
        size: PixelSize, format: PixelFormat,
        fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws -> Void
    ) rethrows -> PixelBuffer {
        guard let free = takeFree(size: size, format: format) else {
            let new = try PixelBuffer(size: size, format: format, fill: fill)
            remember(new)
            return new
        }
        defer { remember(free) }
        try free.rewrite(fill)
        return free
    }

    /// Takes one out of the list that nobody else holds, so that until it is put back only the caller has it.
    private func takeFree(size: PixelSize, format: PixelFormat) -> PixelBuffer? {
        buffers.withLock { buffers in
            for index in buffers.indices where buffers[index].size == size && buffers[index].format == format {
                guard isKnownUniquelyReferenced(&buffers[index]) else { continue }
                buffers.swapAt(index, buffers.count - 1)
                return buffers.removeLast()
            }
            return nil
        }
    }

    private func remember(_ buffer: PixelBuffer) {
        buffers.withLock { buffers in
            if buffers.count >= capacity {
                // A size or layout that is no longer asked for gives way.
                for index in buffers.indices.reversed()
                where buffers[index].size != buffer.size || buffers[index].format != buffer.format {
                    buffers.remove(at: index)
                }
            }
            if buffers.count < capacity { buffers.append(buffer) }
        }
    }
}

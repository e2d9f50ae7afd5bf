internal import RTCShareLocks

/// Creates pixel buffers from unused memory, so that a steady flow of frames allocates nothing.
///
/// The pool keeps the buffers that it created. It rewrites a buffer that has no other references, and never changes one
/// that is in use. Thread-safe; no lock is held while `fill` runs.
public final class PixelBufferPool: Sendable {
    /// The maximum number of buffers in the pool. Further ones are created on demand, and freed with their last
    /// reference.
    public let capacity: Int
    private let buffers: Locked<[PixelBuffer]>

    /// Creates an empty pool. `capacity` should be the number of buffers in use at a time: one being written, and those
    /// that are held.
    public init(capacity: Int = 4) {
        self.capacity = max(capacity, 1)
        var buffers: [PixelBuffer] = []
        buffers.reserveCapacity(self.capacity)
        self.buffers = Locked(buffers)
    }

    /// Returns a buffer that `fill` has written. The memory is not cleared first.
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

    /// Removes an unused buffer from the list, so that only the caller has it until it is returned.
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
                // A buffer of another size or format is replaced.
                for index in buffers.indices.reversed()
                where buffers[index].size != buffer.size || buffers[index].format != buffer.format {
                    buffers.remove(at: index)
                }
            }
            if buffers.count < capacity { buffers.append(buffer) }
        }
    }
}

internal import RTCShareMedia
import RTCShareCSharedMemory
import RTCShareMedia
import Synchronization

/// Reads frames that a capturing process writes to shared memory. Used on one thread; its frames can be used on any.
final class FrameMemoryReader {
    private let mapping: Mapping
    private var taken: UInt64 = 0

    /// The mapped memory, kept as long as one of its frames is in use.
    private final class Mapping: @unchecked Sendable {
        // Sendable: all processes access the mapped memory atomically; see `FrameMemory`.
        let memory: FrameMemory
        /// The number of frames that are in use in place.
        let lent = Atomic(0)

        init(_ memory: FrameMemory) {
            self.memory = memory
        }

        deinit {
            memory.unmap()
        }
    }

    /// A frame in the shared memory.
    private final class SharedPicture: VideoFrameBuffer {
        let size: PixelSize
        let format: PixelFormat
        private let strides: [Int]
        private let planes: [Range<Int>]
        private let mapping: Mapping
        private let slot: Int

        /// Takes over one count of the slot's readers.
        init(
            _ mapping: Mapping, slot: Int, size: PixelSize, format: PixelFormat, strides: [Int], planes: [Range<Int>]
        ) {
            (self.mapping, self.slot, self.size, self.format) = (mapping, slot, size, format)
            (self.strides, self.planes) = (strides, planes)
            mapping.lent.add(1, ordering: .relaxed)
        }

        /// The same pixels in separate memory.
        var copy: PixelBuffer {
            PixelBuffer(size: size, format: format) { targets, targetStrides in
                withPlanes { set in
                    for plane in targets.indices {
                        guard let source = set.planes[plane].baseAddress, let target = targets[plane].baseAddress else {
                            continue
                        }
                        copyPart(
                            of: format.extent(of: PixelRectangle(x: 0, y: 0, size: size), plane: plane), from: source,
                            stride: strides[plane], to: target, stride: targetStrides[plane])
                    }
                }
            }
        }

        deinit {
            mapping.lent.subtract(1, ordering: .relaxed)
            FrameMemoryReader.leave(mapping.memory, slot)
        }

        func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
            let start = mapping.memory.slot(slot) + FrameMemory.slotHeadSize
            return try withExtendedLifetime(self) {
                try body(
                    PlaneSet(
                        planes: planes.map { UnsafeRawBufferPointer(start: start + $0.lowerBound, count: $0.count) },
                        strides: strides))
            }
        }
    }

    /// Maps the memory of a descriptor that a capturing process sent.
    init(mapping descriptor: Int32) throws(BroadcastError) {
        mapping = Mapping(try FrameMemory(mapping: descriptor))
    }

    private static func leave(_ memory: FrameMemory, _ slot: Int) {
        _ = shared_add32(memory.slot(slot) + FrameMemory.Slot.readers, .max)
    }

    /// Returns the newest frame, with the changes since the last one that was returned; nil if there is no newer one.
    func take() throws(BroadcastError) -> VideoFrame? {
        let memory = mapping.memory
        // The writer may overtake the reader, but not forever.
        for _ in 0..<Self.mostAttempts {
            let newest = shared_load64(memory.start + FrameMemory.Head.newest)
            guard newest > 0 else { return nil }
            guard newest <= memory.slotCount else { throw .network("the newest frame is in slot \(newest)") }
            let index = Int(newest) - 1
            let slot = memory.slot(index)
            _ = shared_add32(slot + FrameMemory.Slot.readers, 1)
            let isWhole = shared_load32(slot + FrameMemory.Slot.sequence) % 2 == 0
            let number = shared_load64(slot + FrameMemory.Slot.number)
            guard isWhole, number > taken else {
                Self.leave(memory, index)
                if isWhole { return nil }
                continue
            }
            do throws(BroadcastError) {
                let frame = try frame(index, slot)
                taken = number
                shared_store64(memory.start + FrameMemory.Head.consumed, number)
                return frame
            } catch {
                Self.leave(memory, index)
                throw error
            }
        }
        return nil
    }

    private static let mostAttempts = 16

    private func frame(_ index: Int, _ slot: UnsafeMutableRawPointer) throws(BroadcastError) -> VideoFrame {
        typealias Slot = FrameMemory.Slot
        let code = shared_load32(slot + Slot.format)
        let turn = Int(shared_load32(slot + Slot.orientation))
        guard let format = PixelFormat(code: code), let rotation = VideoRotation(rawValue: turn) else {
            throw .network("a frame of format \(code), turned by \(turn) degrees, is not known")
        }
        let size = PixelSize(
            width: Int(shared_load32(slot + Slot.width)), height: Int(shared_load32(slot + Slot.height)))
        let strides = (0..<format.planeCount).map { Int(shared_load32(slot + Slot.bytesPerRow + 4 * $0)) }
        try PictureDescription.check(size: size, format: format, strides: strides)
        var planes: [Range<Int>] = []
        for plane in 0..<format.planeCount {
            let start = planes.last?.upperBound ?? 0
            planes.append(start..<start + strides[plane] * format.planeExtent(plane, of: size).rows)
        }
        guard planes[planes.count - 1].upperBound <= mapping.memory.slotSize - FrameMemory.slotHeadSize else {
            throw .network("a frame of \(size) is larger than its slot")
        }
        // A program that keeps many frames gets copies, so that the writer always finds a slot.
        let keepsCopy = mapping.lent.load(ordering: .relaxed) >= mapping.memory.slotCount - 2
        let picture = SharedPicture(mapping, slot: index, size: size, format: format, strides: strides, planes: planes)
        return VideoFrame(
            buffer: keepsCopy ? picture.copy : picture,
            timestamp: .nanoseconds(Int64(bitPattern: shared_load64(slot + Slot.timestamp))), rotation: rotation,
            damage: changes(slot, size: size))
    }

    /// Returns the changes since the last frame that was returned; nil if they are unknown.
    private func changes(_ slot: UnsafeMutableRawPointer, size: PixelSize) -> [PixelRectangle]? {
        typealias Slot = FrameMemory.Slot
        let count = Int(shared_load32(slot + Slot.partCount))
        guard taken > 0, shared_load64(slot + Slot.changedSince) <= taken, count <= ChangedParts.most else {
            return nil
        }
        let bounds = PixelRectangle(x: 0, y: 0, size: size)
        let parts = (0..<count).compactMap { index in
            let numbers = (0..<4).map { Int(shared_load32(slot + Slot.parts + 16 * index + 4 * $0)) }
            return PixelRectangle(
                x: numbers[0], y: numbers[1], size: PixelSize(width: numbers[2], height: numbers[3])
            ).intersection(bounds)
        }
        // Many overlapping parts in a few bytes could make the reader copy the frame several times.
        let changes = ChangedParts(parts: parts)
        return changes.area(of: size) <= size.area ? changes.parts : nil
    }
}

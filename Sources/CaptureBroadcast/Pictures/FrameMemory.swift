internal import Glibc
internal import RTCShareMedia
import RTCShareCSharedMemory
import RTCShareCapture
import RTCShareMedia
import Synchronization

/// The layout of frames in memory that the capturing process writes and the sharing process reads at the same time.
///
///     head ─ slot 0: head, planes ─ slot 1: head, planes ─ …
///
/// A slot has a sequence number, which is odd while the slot is being written, and a number of readers. The writer
/// chooses a slot that is not the newest and has no readers; a reader increments the number and then checks whether the
/// slot is complete. Both operations are sequentially consistent, so that at least one of the two sees the other, and a
/// frame that is being read never changes. Frames are not copied for readers that release them in time.
struct FrameMemory {
    /// The fields of the head, as offsets in bytes.
    enum Head {
        static let magic = 0
        static let version = 4
        static let slotCount = 8
        /// Whether capture is active: 1 if it is.
        static let active = 12
        static let slotSize = 16
        /// The newest frame's slot, counted from 1; 0 before the first.
        static let newest = 24
        /// The number of the newest frame that was read, counted from 1: the writer reports changes since that.
        static let consumed = 32
    }

    /// The fields of a slot's head.
    enum Slot {
        static let sequence = 0
        static let readers = 4
        /// The frame's number, counted from 1.
        static let number = 8
        static let timestamp = 16
        static let format = 24
        static let width = 28
        static let height = 32
        /// The clockwise rotation that makes the frame upright, in degrees.
        static let orientation = 36
        /// The bytes from one row to the next of up to three planes.
        static let bytesPerRow = 40
        /// The number of parts that have changed since the frame with the number `changedSince`; all ones if they are
        /// unknown.
        static let partCount = 52
        static let changedSince = 56
        /// For each part: its x, y, width and height.
        static let parts = 64
    }

    static let magicNumber: UInt32 = 0x5254_4653
    static let versionNumber: UInt32 = 1
    /// The number of slots: one has the newest frame, one is being written, the others are read.
    static let slotCount = 5
    static let slotCounts = 3...16
    static let pageSize = 4096
    /// The size of a slot's head, before its planes.
    static let slotHeadSize = pageSize

    let memory: UnsafeMutableRawBufferPointer
    let slotSize: Int
    let slotCount: Int

    /// Returns the address of a slot's head.
    func slot(_ index: Int) -> UnsafeMutableRawPointer {
        start + Self.pageSize + index * slotSize
    }

    var start: UnsafeMutableRawPointer {
        // Mapped memory has an address.
        memory.baseAddress.unsafelyUnwrapped
    }

    /// Returns the size of the memory with `slotCount` slots.
    static func size(slotCount: Int, slotSize: Int) -> Int { pageSize + slotCount * slotSize }

    /// Returns the size of a slot for planes of `planeBytes`, in whole pages.
    static func slotSize(planeBytes: Int) -> Int {
        slotHeadSize + (planeBytes + pageSize - 1) / pageSize * pageSize
    }

    /// Maps memory that another process created. Throws if it is not such memory.
    init(mapping descriptor: Int32) throws(BroadcastError) {
        let size = shared_memory_size(descriptor)
        guard size >= Self.pageSize, size <= Self.largest else {
            throw .network("the memory that came is none that can be mapped (\(size) bytes, or it could shrink)")
        }
        memory = try Self.map(descriptor, Int(size))
        guard let base = memory.baseAddress, shared_load32(base + Head.magic) == Self.magicNumber,
            shared_load32(base + Head.version) == Self.versionNumber
        else {
            munmap(memory.baseAddress, memory.count)
            throw .network("the shared memory does not hold frames of version \(Self.versionNumber)")
        }
        // Read once: the memory can change at any time, and a second value may differ from the checked one.
        let (count, stride) = (Int(shared_load32(base + Head.slotCount)), shared_load64(base + Head.slotSize))
        guard Self.slotCounts.contains(count), stride % UInt64(Self.pageSize) == 0,
            (UInt64(2 * Self.pageSize)...UInt64(Self.largest)).contains(stride),
            Self.size(slotCount: count, slotSize: Int(stride)) <= memory.count
        else {
            munmap(memory.baseAddress, memory.count)
            throw .network("the memory that came has \(count) slots of \(stride) bytes in \(size)")
        }
        (slotCount, slotSize) = (count, Int(stride))
    }

    /// The maximum size to map: slots of 8K.
    private static let largest = 1 << 30

    /// Creates memory for frames whose planes have `planeBytes`; the caller closes the descriptor.
    static func make(planeBytes: Int) throws(BroadcastError) -> (FrameMemory, descriptor: Int32) {
        let slotSize = slotSize(planeBytes: planeBytes)
        let size = size(slotCount: slotCount, slotSize: slotSize)
        let descriptor = shared_memory_create(size)
        guard descriptor >= 0 else { throw .internal("memory of \(size) bytes: \(systemMessage(errno))") }
        do throws(BroadcastError) {
            let memory = FrameMemory(
                memory: try map(descriptor, size), slotSize: slotSize, slotCount: slotCount)
            shared_store32(memory.start + Head.magic, magicNumber)
            shared_store32(memory.start + Head.version, versionNumber)
            shared_store32(memory.start + Head.slotCount, UInt32(slotCount))
            shared_store64(memory.start + Head.slotSize, UInt64(slotSize))
            shared_store32(memory.start + Head.active, 1)
            return (memory, descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    private init(memory: UnsafeMutableRawBufferPointer, slotSize: Int, slotCount: Int) {
        (self.memory, self.slotSize, self.slotCount) = (memory, slotSize, slotCount)
    }

    private static func map(_ descriptor: Int32, _ size: Int) throws(BroadcastError) -> UnsafeMutableRawBufferPointer {
        let address = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw .internal("mmap: \(systemMessage(errno))") }
        return UnsafeMutableRawBufferPointer(start: address, count: size)
    }

    func unmap() { munmap(memory.baseAddress, memory.count) }
}

/// Writes frames to memory that it shares with the sharing process. Used on one thread.
final class FrameMemoryWriter {
    private let memory: FrameMemory
    /// The descriptor to pass to the sharing process.
    let descriptor: Int32
    private let planeBytes: Int
    /// The changes that each slot has missed since it was written.
    private var missed: [ChangedParts]
    private var layouts: [PictureLayout?]
    private var newestLayout: PictureLayout?
    /// The changes of each of the newest frames, the last being that of number `number`.
    private var history: [ChangedParts] = []
    private var number: UInt64 = 0
    /// The slot of the newest frame. The value in the memory is only for the sharing process, which could change it.
    private var newest: Int?

    /// The maximum number of frames for which changes are known.
    private static let longestHistory = 64

    private struct PictureLayout: Equatable {
        let size: PixelSize
        let format: PixelFormat
    }

    /// Creates memory for frames whose planes have at most `planeBytes`.
    init(planeBytes: Int) throws(BroadcastError) {
        (memory, descriptor) = try FrameMemory.make(planeBytes: planeBytes)
        self.planeBytes = memory.slotSize - FrameMemory.slotHeadSize
        missed = Array(repeating: .everything, count: memory.slotCount)
        layouts = Array(repeating: nil, count: memory.slotCount)
    }

    deinit {
        setActive(false)
        memory.unmap()
        close(descriptor)
    }

    /// Returns the number of bytes of a frame's planes in this memory.
    static func planeBytes(size: PixelSize, format: PixelFormat) -> Int {
        PlaneLayout(size: size, format: format).byteCount
    }

    /// Returns whether a frame fits.
    func fits(_ frame: VideoFrame) -> Bool {
        Self.planeBytes(size: frame.size, format: frame.buffer.format) <= planeBytes
    }

    /// Records whether capture is active.
    func setActive(_ isActive: Bool) { shared_store32(memory.start + FrameMemory.Head.active, isActive ? 1 : 0) }

    /// Writes a frame, of which `changes` differ from the one written before. Returns false if all slots are being
    /// read.
    func write(_ frame: VideoFrame, changes: ChangedParts) -> Bool {
        guard fits(frame), let index = beginSlot() else { return false }
        let slot = memory.slot(index)
        let layout = PictureLayout(size: frame.size, format: frame.buffer.format)
        let changes = layout == newestLayout ? changes.aligned(to: layout.format, of: layout.size) : .everything
        newestLayout = layout
        var toWrite = missed[index]
        toWrite.add(changes)
        if layouts[index] != layout { toWrite = .everything }
        copy(toWrite, of: frame, to: slot)
        for other in missed.indices { missed[other].add(changes) }
        missed[index] = .nothing
        layouts[index] = layout
        number += 1
        history.append(changes)
        if history.count > Self.longestHistory { history.removeFirst() }
        describe(frame, in: slot)
        _ = shared_add32(slot + FrameMemory.Slot.sequence, 1)
        newest = index
        shared_store64(memory.start + FrameMemory.Head.newest, UInt64(index + 1))
        return true
    }

    /// Returns a slot without readers, after marking it as being written.
    private func beginSlot() -> Int? {
        for index in 0..<memory.slotCount where index != newest {
            let slot = memory.slot(index)
            guard shared_load32(slot + FrameMemory.Slot.readers) == 0 else { continue }
            _ = shared_add32(slot + FrameMemory.Slot.sequence, 1)
            if shared_load32(slot + FrameMemory.Slot.readers) == 0 { return index }
            // A reader arrived in between; the slot is unchanged.
            _ = shared_add32(slot + FrameMemory.Slot.sequence, 1)
        }
        return nil
    }

    private func copy(_ changes: ChangedParts, of frame: VideoFrame, to slot: UnsafeMutableRawPointer) {
        let format = frame.buffer.format
        let layout = PlaneLayout(size: frame.size, format: format)
        let target = slot + FrameMemory.slotHeadSize
        frame.buffer.withPlanes { set in
            for part in changes.parts ?? [PixelRectangle(x: 0, y: 0, size: frame.size)] {
                for plane in 0..<format.planeCount {
                    guard let source = set.planes[plane].baseAddress else { continue }
                    copyPart(
                        of: format.extent(of: part, plane: plane), from: source, stride: set.strides[plane],
                        to: target + layout.ranges[plane].lowerBound, stride: layout.strides[plane])
                }
            }
        }
    }

    private func describe(_ frame: VideoFrame, in slot: UnsafeMutableRawPointer) {
        typealias Slot = FrameMemory.Slot
        let layout = PlaneLayout(size: frame.size, format: frame.buffer.format)
        shared_store64(slot + Slot.number, number)
        shared_store64(slot + Slot.timestamp, UInt64(bitPattern: frame.timestamp.wholeNanoseconds))
        shared_store32(slot + Slot.format, UInt32(frame.buffer.format.code))
        shared_store32(slot + Slot.width, UInt32(frame.size.width))
        shared_store32(slot + Slot.height, UInt32(frame.size.height))
        shared_store32(slot + Slot.orientation, UInt32(frame.rotation.rawValue))
        for (plane, stride) in layout.strides.enumerated() {
            shared_store32(slot + Slot.bytesPerRow + 4 * plane, UInt32(stride))
        }
        let taken = shared_load64(memory.start + FrameMemory.Head.consumed)
        var changes = ChangedParts.everything
        if taken < number, number - taken <= UInt64(history.count) {
            changes = .nothing
            for change in history.suffix(Int(number - taken)) { changes.add(change) }
        }
        shared_store64(slot + Slot.changedSince, taken)
        shared_store32(slot + Slot.partCount, changes.parts.map { UInt32($0.count) } ?? .max)
        for (index, part) in (changes.parts ?? []).enumerated() {
            for (offset, value) in [part.x, part.y, part.size.width, part.size.height].enumerated() {
                shared_store32(slot + Slot.parts + 16 * index + 4 * offset, UInt32(value))
            }
        }
    }
}

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

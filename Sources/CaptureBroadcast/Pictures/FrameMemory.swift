internal import Glibc
internal import RTCShareMedia
import RTCShareCSharedMemory
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

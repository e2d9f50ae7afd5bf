internal import Glibc
internal import RTCShareMedia
import RTCShareCSharedMemory
import RTCShareCapture
import RTCShareMedia
import Synchronization

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

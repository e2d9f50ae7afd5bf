import Foundation
import RTCShareCSharedMemory
import RTCShareMedia
import Synchronization
import TestSupport
import Testing

@testable import RTCShareCaptureBroadcast

@Suite struct FrameMemoryTests {
    private static let size = PixelSize(width: 96, height: 64)
    private static let part = PixelRectangle(x: 8, y: 8, size: PixelSize(width: 16, height: 16))

    private static func memory(
        _ size: PixelSize = size, format: PixelFormat = .bgra
    ) throws -> (FrameMemoryWriter, FrameMemoryReader) {
        let writer = try FrameMemoryWriter(planeBytes: FrameMemoryWriter.planeBytes(size: size, format: format))
        return (writer, try FrameMemoryReader(mapping: writer.descriptor))
    }

    @Test("Frames are read as they were written", arguments: [PixelFormat.bgra, .i420, .nv12, .argb])
    func pictures(format: PixelFormat) throws {
        let (writer, reader) = try Self.memory(PixelSize(width: 97, height: 65), format: format)
        #expect(try reader.take() == nil)
        for seed in 1...12 {
            let picture = BroadcastFixture.picture(PixelSize(width: 97, height: 65), format: format, seed: seed)
            let frame = VideoFrame(buffer: picture, timestamp: .milliseconds(seed), rotation: .quarter)
            #expect(writer.write(frame, changes: .everything))
            let taken = try #require(try reader.take())
            #expect(taken.timestamp == .milliseconds(seed) && taken.rotation == .quarter && taken.damage == nil)
            #expect(taken.buffer.format == format && taken.buffer.samples == picture.samples)
            #expect(try reader.take() == nil)
        }
    }

    @Test("The damage since the last frame that was read is reported, and only damage is written")
    func changes() throws {
        let (writer, reader) = try Self.memory()
        var shown = BroadcastFixture.picture(Self.size, seed: 0)
        #expect(writer.write(BroadcastFixture.frame(shown), changes: .everything))
        #expect(try reader.take()?.damage == nil)
        let other = PixelRectangle(x: 40, y: 40, size: PixelSize(width: 8, height: 8))
        for round in 1...20 {
            for part in [Self.part, other] {
                shown = BroadcastFixture.picture(
                    shown, with: part, of: BroadcastFixture.picture(Self.size, seed: 7 * round + part.x))
                #expect(writer.write(BroadcastFixture.frame(shown), changes: ChangedParts(parts: [part])))
            }
            let taken = try #require(try reader.take())
            #expect(Set(try #require(taken.damage)) == [Self.part, other])
            #expect(taken.buffer.samples == shown.samples)
        }
    }

    @Test("A frame of another size or another format has full damage")
    func layouts() throws {
        let (writer, reader) = try Self.memory()
        let pictures = [
            BroadcastFixture.picture(Self.size, seed: 1),
            BroadcastFixture.picture(PixelSize(width: 64, height: 96), seed: 2),
            BroadcastFixture.picture(Self.size, format: .i420, seed: 3),
        ]
        for picture in pictures + pictures {
            #expect(writer.write(BroadcastFixture.frame(picture), changes: ChangedParts(parts: [Self.part])))
            let taken = try #require(try reader.take())
            #expect(taken.damage == nil && taken.buffer.samples == picture.samples)
        }
        let large = BroadcastFixture.picture(PixelSize(width: 200, height: 200), seed: 4)
        #expect(!writer.fits(BroadcastFixture.frame(large)))
        #expect(!writer.write(BroadcastFixture.frame(large), changes: .everything))
    }

    @Test("Frames that are referenced do not change, whatever their number, and there is room for the next")
    func holds() throws {
        let (writer, reader) = try Self.memory()
        var held: [(frame: VideoFrame, samples: [[UInt8]])] = []
        for seed in 1...20 {
            let picture = BroadcastFixture.picture(Self.size, seed: seed)
            #expect(writer.write(BroadcastFixture.frame(picture), changes: .everything))
            held.append((try #require(try reader.take()), picture.samples))
            for one in held { #expect(one.frame.buffer.samples == one.samples) }
        }
        // The first few in the shared memory, and the others as copies.
        #expect(held.filter { !($0.frame.buffer is PixelBuffer) }.count == FrameMemory.slotCount - 2)
    }

    @Test("Each frame that is read is the newest and whole if 30 of 60 are read")
    func everyOther() throws {
        let (writer, reader) = try Self.memory()
        var latest: VideoFrame?
        for number in 1...60 {
            let picture = BroadcastFixture.picture(Self.size, seed: number)
            #expect(writer.write(BroadcastFixture.frame(picture), changes: .everything))
            guard number % 2 == 0 else { continue }
            latest = try reader.take()
            #expect(latest?.buffer.samples == picture.samples)
        }
        withExtendedLifetime(latest) {}
    }

    @Test("No frame is torn, however fast two threads write and read")
    func tearing() async throws {
        let (writer, reader) = try Self.memory()
        let isDone = Atomic(false)
        let written = Task.detached { [writer = UncheckedSending(writer)] in
            var count = 0
            for seed in 0..<20_000 {
                let value = UInt8(truncatingIfNeeded: seed)
                let picture = PixelBuffer(size: Self.size, format: .bgra) { planes, _ in
                    planes[0].initializeMemory(as: UInt8.self, repeating: value)
                }
                if writer.value.write(BroadcastFixture.frame(picture), changes: .everything) { count += 1 }
            }
            return count
        }
        let read = Task.detached { [reader = UncheckedSending(reader)] in
            var (seen, torn) = (0, 0)
            while true {
                let wasDone = isDoneNow(isDone)
                guard let frame = try reader.value.take() else {
                    if wasDone { return (seen, torn) }
                    continue
                }
                seen += 1
                let isWhole = frame.buffer.withPlanes { set in
                    set.planes[0].allSatisfy { $0 == set.planes[0][0] }
                }
                if !isWhole { torn += 1 }
            }
        }
        let count = await written.value
        isDone.store(true, ordering: .releasing)
        let (seen, torn) = try await read.value
        #expect(count == 20_000 && seen > 0 && torn == 0)
    }

    @Test("Memory that could shrink, is too small or is no memory is rejected")
    func strangers() throws {
        let path = "/tmp/rtcshare-memory-\(getpid())"
        let file = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
        defer {
            close(file)
            unlink(path)
        }
        try #require(ftruncate(file, 1 << 20) == 0)
        #expect(throws: BroadcastError.self) { try FrameMemoryReader(mapping: file) }
        #expect(throws: BroadcastError.self) { try FrameMemoryReader(mapping: -1) }
        for size in [1, 4096, 1 << 20] {
            let descriptor = shared_memory_create(size)
            defer { close(descriptor) }
            #expect(throws: BroadcastError.self) { try FrameMemoryReader(mapping: descriptor) }
        }
    }

    @Test("A damaged word of the memory does not trap")
    func damaged() throws {
        let writer = try FrameMemoryWriter(planeBytes: FrameMemoryWriter.planeBytes(size: Self.size, format: .i420))
        let picture = BroadcastFixture.picture(Self.size, format: .i420, seed: 1)
        #expect(writer.write(BroadcastFixture.frame(picture), changes: ChangedParts(parts: [Self.part])))
        let memory = try FrameMemory(mapping: writer.descriptor)
        defer { memory.unmap() }
        var refused = 0
        for start in [memory.start, memory.slot(0)] {
            for offset in stride(from: 0, to: 128, by: 4) {
                let word = shared_load32(start + offset)
                for value in [0, 1, 0x7FFF, 0xFFFF_FFFF] as [UInt32] {
                    shared_store32(start + offset, value)
                    do {
                        _ = try FrameMemoryReader(mapping: writer.descriptor).take().map { $0.buffer.samples }
                    } catch {
                        refused += 1
                    }
                    shared_store32(start + offset, word)
                }
            }
        }
        #expect(refused > 20)
    }
}

private func isDoneNow(_ flag: borrowing Atomic<Bool>) -> Bool { flag.load(ordering: .acquiring) }

/// Hands something to the one task that uses it from then on.
private struct UncheckedSending<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

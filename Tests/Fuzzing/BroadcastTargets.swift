import Foundation
import RTCShareCSharedMemory
@testable import RTCShareCaptureBroadcast
import RTCShareMedia
import RTCShareWireFormat

/// The bytes of an extension, cut as they come.
///
/// The first byte says how many bytes come at a time, and, by its highest bit, whether pictures are taken.
struct BroadcastReaderTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        guard let first = input.first else { return }
        let reader = BroadcastReader()
        reader.takesPictures = first & 0x80 != 0
        let most = Int(first & 0x7F) + 1
        var rest = input.dropFirst()
        while !rest.isEmpty {
            let event = try reader.read { target in
                expect(target.count > 0, "there is room for at least a byte")
                let count = min(target.count, most, rest.count)
                target.copyBytes(from: rest.prefix(count))
                rest = rest.dropFirst(count)
                return count
            }
            switch event {
            case .message(let message): try writeAgain(message)
            case .picture(let description, let picture):
                expect(picture.size == description.size, "a picture is of the size that was said")
                _ = Self.sum(of: picture)
            case .token, nil: break
            }
        }
    }

    private func writeAgain(_ message: BroadcastMessage) throws {
        let encoded = message.encoded
        let body = Array(encoded.dropFirst(BroadcastMessage.headLength))
        let read = try BroadcastMessage(kind: encoded[0], body: body.span.bytes)
        switch message {
        // A text that was no UTF-8 grows when it is mended, and is cut to its limit once more.
        case .interrupted, .finished, .refused: break
        default: expect(read == message, "a message is the same once it was written and read")
        }
    }

    /// Looks at every byte of a picture.
    static func sum(of picture: some VideoFrameBuffer) -> UInt8 {
        picture.withPlanes { set in
            (0..<picture.format.planeCount).reduce(0) { sum, plane in set.planes[plane].reduce(sum, &+) }
        }
    }

    func seeds() -> [String: [UInt8]] {
        let size = PixelSize(width: 16, height: 8)
        var seeds: [String: [UInt8]] = [:]
        for (name, format, strides) in [("bgra", PixelFormat.bgra, [64]), ("i420", .i420, [16, 8, 8])] {
            let token = Array("what the extension says".utf8)
            let whole = PictureDescription(
                timestamp: .seconds(1), rotation: .half, format: format, size: size, strides: strides, parts: nil)
            let part = PixelRectangle(x: 4, y: 2, size: PixelSize(width: 6, height: 4))
            let parts = PictureDescription(
                timestamp: .seconds(2), rotation: .half, format: format, size: size, strides: strides, parts: [part])
            var bytes: [UInt8] = [0xFF, 0, UInt8(token.count)] + token
            bytes += BroadcastMessage.hello(version: BroadcastMessage.version, transport: .tcp).encoded
            bytes += BroadcastMessage.hint(.text).encoded
            bytes += BroadcastMessage.picture(whole).encoded + [UInt8](repeating: 7, count: whole.payloadLength)
            bytes += BroadcastMessage.picture(parts).encoded + [UInt8](repeating: 9, count: parts.payloadLength)
            bytes += BroadcastMessage.interrupted(.minimized).encoded + BroadcastMessage.resumed.encoded
            let sound = AudioFrame(
                samples: [0.5, -0.5, 0, 1], channels: 2, sampleRate: 48_000, timestamp: .seconds(3))
            for message in BroadcastMessage.sounds(of: sound) { bytes += message.encoded }
            for message in BroadcastMessage.sounds(of: sound, as: BroadcastMessage.voice) { bytes += message.encoded }
            seeds[name] = bytes + BroadcastMessage.finished(error: "words").encoded
        }
        return seeds
    }
}

/// Memory that another process writes as it likes, while pictures are taken from it.
///
/// A step writes its bytes at a place (2), in units of four bytes: of an even kind before the pictures are taken, of an odd
/// one by another thread meanwhile.
struct FrameMemoryTarget: FuzzTarget, @unchecked Sendable {
    // Sendable: the memory is another process's to write at any time, which is what the other thread stands for.
    private static let size = PixelSize(width: 16, height: 8)
    private let descriptor: Int32
    private let memory: UnsafeMutableRawBufferPointer
    /// The memory as the writer left it.
    private let whole: [UInt8]

    init() throws {
        let planeBytes = FrameMemoryWriter.planeBytes(size: Self.size, format: .bgra)
        let writer = try FrameMemoryWriter(planeBytes: planeBytes)
        for value in 1...3 as ClosedRange<UInt8> {
            let picture = PixelBuffer(size: Self.size, format: .bgra) { planes, _ in
                planes[0].initializeMemory(as: UInt8.self, repeating: value)
            }
            let frame = VideoFrame(buffer: picture, timestamp: .seconds(Int(value)))
            let part = PixelRectangle(x: 2, y: 2, size: PixelSize(width: 4, height: 4))
            expect(writer.write(frame, changes: ChangedParts(parts: [part])), "there is room for a picture")
        }
        let count = Int(shared_memory_size(writer.descriptor))
        descriptor = dup(writer.descriptor)
        guard descriptor >= 0, let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            start != MAP_FAILED
        else { fatalError("memory can't be mapped: \(errno)") }
        memory = UnsafeMutableRawBufferPointer(start: start, count: count)
        whole = Array(memory)
    }

    func run(_ input: [UInt8]) throws {
        memory.copyBytes(from: whole)
        let steps = Array(Script(input))
        for step in steps where step.kind % 2 == 0 { write(step) }
        let reader = try FrameMemoryReader(mapping: descriptor)
        let later = steps.filter { $0.kind % 2 == 1 }
        let isDone = DispatchSemaphore(value: 0)
        if !later.isEmpty {
            Thread.detachNewThread {
                for _ in 0..<8 {
                    for step in later { write(step) }
                }
                isDone.signal()
            }
        }
        defer { if !later.isEmpty { isDone.wait() } }
        var held: [VideoFrame] = []
        for _ in 0..<8 {
            guard let frame = try reader.take() else { continue }
            _ = BroadcastReaderTarget.sum(of: frame.buffer)
            for part in frame.damage ?? [] {
                expect(
                    part.x >= 0 && part.y >= 0 && part.x + part.size.width <= frame.size.width
                        && part.y + part.size.height <= frame.size.height, "what changed lies within the picture")
            }
            // Some are kept for longer, as by an encoder that is busy.
            if held.count < 6 { held.append(frame) }
        }
        for frame in held { _ = BroadcastReaderTarget.sum(of: frame.buffer) }
    }

    private func write(_ step: Script.Step) {
        let start = step.number16(0) * 4 % memory.count
        let bytes = step.bytes.dropFirst(2).prefix(memory.count - start)
        UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyBytes(from: bytes)
    }

    func seeds() -> [String: [UInt8]] {
        // The newest picture is the third.
        let slotSize = FrameMemory.slotSize(
            planeBytes: FrameMemoryWriter.planeBytes(size: Self.size, format: .bgra))
        let slot = FrameMemory.pageSize + 2 * slotSize
        func step(_ kind: UInt8, _ place: Int, _ bytes: [UInt8]) -> (kind: UInt8, bytes: [UInt8]) {
            (kind, [UInt8((place / 4) >> 8), UInt8((place / 4) & 0xFF)] + bytes)
        }
        return [
            "unchanged": Script.bytes([]),
            "newest": Script.bytes([step(0, FrameMemory.Head.newest, [1]), step(1, FrameMemory.Head.newest, [2])]),
            "size": Script.bytes([
                step(1, slot + FrameMemory.Slot.width, [0xFF, 0xFF]), step(1, slot + FrameMemory.Slot.height, [16]),
            ]),
            "number": Script.bytes([
                step(0, slot + FrameMemory.Slot.number, [9]), step(1, slot + FrameMemory.Slot.sequence, [1]),
            ]),
        ]
    }
}

import Foundation
import RTCShareAudioCoding
@testable import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import RTCShareVideoCoding

/// A file without a name that has the input, in memory: a disk would take most of the time.
final class InputFile {
    let path: String
    private let descriptor: Int32

    init() {
        var template = Array("/dev/shm/rtcshare-fuzz-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { fatalError("a file can't be made: \(errno)") }
        unlink(template)
        path = "/proc/self/fd/\(descriptor)"
    }

    func write(_ bytes: [UInt8]) {
        ftruncate(descriptor, 0)
        let count = pwrite(descriptor, bytes, bytes.count, 0)
        expect(count == bytes.count, "the file takes what is written")
    }
}

/// A y4m file, of which the first frames are read, twice.
struct Y4MTarget: FuzzTarget {
    private final class Input: ByteInput {
        private let bytes: [UInt8]
        private let offset = Locked(0)

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func read(into buffer: UnsafeMutableRawBufferPointer, signal: StopSignal?, whileSilent: () -> Void) -> Int {
            offset.withLock { offset in
                let count = min(buffer.count, bytes.count - offset)
                buffer.copyBytes(from: bytes[offset..<offset + count])
                offset += count
                return count
            }
        }

        func rewind() -> Bool {
            offset.withLock { $0 = 0 }
            return true
        }
    }

    func run(_ input: [UInt8]) throws {
        var reader = try Y4MReader(input: Input(input), path: "input")
        let pool = FramePool()
        for _ in 0..<2 {
            for _ in 0..<4 {
                guard let picture = try reader.next(from: pool, signal: nil) else { break }
                expect(picture.size == reader.size, "a picture is of the size that the header says")
            }
            expect(reader.rewind(), "what can be read again is")
        }
    }

    func seeds() -> [String: [UInt8]] {
        var seeds: [String: [UInt8]] = [:]
        for (space, count) in [("420", 6), ("422", 8), ("444", 12), ("mono", 4), ("420 XCOLORRANGE=FULL", 6)] {
            let frame = Array("FRAME\n".utf8) + [UInt8](repeating: 90, count: count * 4)
            seeds["\(space.prefix(5))"] = Array("YUV4MPEG2 W4 H4 F30:1 Ip C\(space)\n".utf8) + frame + frame
        }
        return seeds
    }
}

/// A WAVE file.
struct WAVETarget: FuzzTarget {
    private let file = InputFile()

    func run(_ input: [UInt8]) throws {
        file.write(input)
        let reader = try WAVReader(path: file.path)
        for _ in 0..<2 {
            var count = 0
            while true {
                let samples = try reader.read(frames: 1000)
                if samples.isEmpty { break }
                expect(samples.count % reader.channels == 0, "samples come for all channels")
                count += samples.count
                expect(count <= input.count * 8, "there are no more samples than bits")
            }
            try reader.rewind()
        }
    }

    func seeds() -> [String: [UInt8]] {
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        func wave(format: Int, bits: Int, channels: Int) -> [UInt8] {
            let frame = channels * bits / 8
            let head =
                little(format, 2) + little(channels, 2) + little(48_000, 4) + little(48_000 * frame, 4)
                + little(frame, 2) + little(bits, 2)
            let body = (0..<frame * 8).map { UInt8($0 & 0xFF) }
            return Array("RIFF".utf8) + little(36 + body.count, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + head
                + Array("data".utf8) + little(body.count, 4) + body
        }
        return [
            "integers": wave(format: 1, bits: 16, channels: 2), "floats": wave(format: 3, bits: 32, channels: 1),
            "bytes": wave(format: 1, bits: 8, channels: 1), "law": wave(format: 6, bits: 8, channels: 1),
        ]
    }
}

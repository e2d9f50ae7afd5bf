import Foundation
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

/// Bytes in memory, read a few at a time as from a pipe.
private final class Bytes: ByteInput {
    private let bytes: [UInt8]
    private let step: Int
    private let offset = Locked(0)

    init(_ bytes: [UInt8], step: Int = 1000) {
        self.bytes = bytes
        self.step = step
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, signal: StopSignal?, whileSilent: () -> Void
    ) throws(CaptureError) -> Int {
        offset.withLock { offset in
            let count = min(buffer.count, step, bytes.count - offset)
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

@Suite struct Y4MTests {
    private static let header = "YUV4MPEG2 W6 H4 F25:1 Ip A1:1 C420jpeg XYSCSS=420JPEG"

    /// Frames of 6×4 whose samples count up from `seed`.
    private static func samples(_ seed: Int, count: Int = 36) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 5 &+ seed) }
    }

    private static func stream(_ header: String = header, frames: [[UInt8]]) -> [UInt8] {
        Array("\(header)\n".utf8) + frames.flatMap { Array("FRAME\n".utf8) + $0 }
    }

    private static func frames(of bytes: [UInt8], step: Int = 1000) throws(CaptureError) -> [any VideoFrameBuffer] {
        var reader = try Y4MReader(input: Bytes(bytes, step: step), path: "test.y4m")
        let pool = FramePool()
        var frames: [any VideoFrameBuffer] = []
        while let frame = try reader.next(from: pool, signal: nil) { frames.append(frame) }
        return frames
    }

    @Test("Frames are read as they were written, however the bytes arrive", arguments: [1, 7, 1000])
    func roundTrip(step: Int) throws {
        let written = [Self.samples(1), Self.samples(2), Self.samples(3)]
        let read = try Self.frames(of: Self.stream(frames: written), step: step)
        #expect(read.map { $0.samples.flatMap { $0 } } == written)
        #expect(read.allSatisfy { $0.format == .i420 && $0.size == PixelSize(width: 6, height: 4) })
    }

    @Test("A frame's header may have parameters")
    func frameParameters() throws {
        let bytes = Array("\(Self.header)\nFRAME Ixyz XA=b\n".utf8) + Self.samples(9)
        #expect(try Self.frames(of: bytes).count == 1)
    }

    @Test(
        "The header's fields are read",
        arguments: [
            ("W6 H4", 30.0, Y4MHeader.Sampling.i420), ("W6 H4 F30000:1001", 30000.0 / 1001, .i420),
            ("H4 W6 F0:0 C420", 30, .i420), ("W6 H4 F25:1 C420mpeg2", 25, .i420),
            ("W6 H4 F25:1 C420paldv XCOLORRANGE=LIMITED", 25, .i420), ("W6 H4 C422", 30, .i422),
            ("W6 H4 C444 It A0:0", 30, .i444), ("W6 H4 Cmono", 30, .luma),
        ])
    func fields(fields: String, rate: Double, sampling: Y4MHeader.Sampling) throws {
        let header = try Y4MHeader(line: Array("YUV4MPEG2 \(fields)".utf8))
        #expect(header.size == PixelSize(width: 6, height: 4))
        #expect(header.framesPerSecond == rate)
        #expect(header.sampling == sampling)
    }

    @Test(
        "An unsupported header is an error with its byte, the reason and a remedy",
        arguments: [
            ("YUV4MPEG2", 9, "width"), ("YUV4MPEG2 W6", 12, "height"), ("YUV4MPEG2 W0 H4", 10, "width"),
            ("YUV4MPEG2 W6 H-4", 13, "height"), ("YUV4MPEG2 W99999 H4", 10, "width"),
            ("YUV4MPEG2 W16383 H16383", 0, "larger"), ("YUV4MPEG2 W6 H4 F25", 16, "rate"),
            ("YUV4MPEG2 W6 H4 F9999:1", 16, "rate"), ("YUV4MPEG2 W6 H4 C420p10", 16, "C420p10"),
            ("YUV4MPEG2 W6 H4 C444alpha", 16, "C444alpha"), ("YUV4MPEG3 W6 H4", 0, "not a y4m file"),
            ("YUV4MPEG2W6 H4", 0, "not a y4m file"), ("RIFF", 0, "not a y4m file"),
            ("\0\0\0 ftypisom and so on", 0, "not a y4m file"),
            ("YUV4MPEG2 W1 H4", 10, "width"), ("YUV4MPEG2 W16384 H4", 10, "width"), ("YUV4MPEG2 W6 H4 A2", 16, "shape"),
            ("YUV4MPEG2 W6 H4 A-1:1", 16, "shape"), ("YUV4MPEG2 W6 H4 A999999999:1", 16, "larger"),
        ])
    func faults(line: String, offset: Int, word: String) {
        do throws(CaptureError) {
            _ = try Y4MReader(input: Bytes(Array("\(line)\n".utf8)), path: "test.y4m")
            Issue.record("the header was taken")
        } catch {
            guard case .invalidY4M("test.y4m", offset, let problem, let remedy) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(problem.contains(word))
            #expect(remedy.contains("ffmpeg") || remedy.contains("scale"))
        }
    }

    @Test("A stream that is cut at any length gives its whole frames and then an error, and no error between frames")
    func truncation() throws {
        let bytes = Self.stream(frames: [Self.samples(1), Self.samples(2)])
        let ends = [Self.header.utf8.count + 1, Self.header.utf8.count + 43, Self.header.utf8.count + 85]
        #expect(bytes.count == ends[2])
        for length in 0...bytes.count {
            let cut = Array(bytes[..<length])
            if let frames = ends.firstIndex(of: length) {
                #expect(try Self.frames(of: cut).count == frames)
            } else {
                do throws(CaptureError) {
                    _ = try Self.frames(of: cut)
                    Issue.record("cut at \(length) was taken")
                } catch {
                    guard case .invalidY4M(_, let offset, _, _) = error else {
                        Issue.record("\(error)")
                        continue
                    }
                    #expect(offset == (length < 9 ? 0 : length))
                }
            }
        }
    }

    @Test("A corrupted byte is an error at its position or before, or gives frames of the header's new values")
    func corruption() throws {
        let bytes = Self.stream(frames: [Self.samples(1), Self.samples(2)])
        let magics = [0..<9] + [0, 42].map { Self.header.utf8.count + 1 + $0 }.map { $0..<$0 + 5 }
        for index in bytes.indices {
            for value: UInt8 in [0, 0x0A, 0x20, 0x2D, 0x30, 0x39, 0x80, 0xFF, bytes[index] ^ 1] {
                var corrupted = bytes
                corrupted[index] = value
                do throws(CaptureError) {
                    let size = try Y4MReader(input: Bytes(corrupted), path: "test.y4m").size
                    let frames = try Self.frames(of: corrupted)
                    #expect(value == bytes[index] || !magics.contains { $0.contains(index) })
                    #expect(frames.allSatisfy { $0.size == size })
                    // Pixels are at most nine times as wide as high, or as high as wide, by one digit.
                    #expect(frames.map { $0.samples.map(\.count).reduce(0, +) }.reduce(0, +) < bytes.count * 18)
                } catch {
                    guard case .invalidY4M(_, let offset, _, _) = error else {
                        Issue.record("byte \(index) as \(value): \(error)")
                        continue
                    }
                    #expect((0...bytes.count).contains(offset))
                }
            }
        }
        // A corrupted sample changes only that sample.
        var corrupted = bytes
        corrupted[bytes.count - 1] ^= 1
        let (before, after) = (try Self.frames(of: bytes), try Self.frames(of: corrupted))
        #expect(before.count == 2 && after.count == 2)
        #expect(before[0].samples == after[0].samples && before[1].samples != after[1].samples)
    }

    @Test("A line without an end is rejected")
    func endlessLine() {
        let bytes = Array("YUV4MPEG2 ".utf8) + [UInt8](repeating: 0x58, count: 100_000)
        #expect(throws: CaptureError.self) { try Y4MReader(input: Bytes(bytes), path: "test.y4m") }
    }

    @Test("Odd last rows and columns are cut off")
    func odd() throws {
        let luma = (0..<35).map { UInt8($0) }
        let frames = try Self.frames(
            of: Self.stream("YUV4MPEG2 W7 H5", frames: [luma + Self.samples(0, count: 24)]))
        let frame = try #require(frames.first)
        #expect(frame.size == PixelSize(width: 6, height: 4))
        #expect(frame.samples[0] == (0..<4).flatMap { row in (0..<6).map { UInt8(row * 7 + $0) } })
    }

    @Test("4:4:4, 4:2:2 and grey become I420 of the same luma")
    func samplings() throws {
        for (name, chroma) in [("444", 48), ("422", 24), ("mono", 0)] {
            let luma = Self.samples(3, count: 24)
            let content = luma + [UInt8](repeating: 77, count: chroma / 2) + [UInt8](repeating: 99, count: chroma / 2)
            let frames = try Self.frames(of: Self.stream("YUV4MPEG2 W6 H4 C\(name)", frames: [content]))
            let frame = try #require(frames.first)
            let grey = name == "mono"
            #expect(frame.samples[0] == luma)
            #expect(frame.samples[1] == [UInt8](repeating: grey ? 128 : 77, count: 6))
            #expect(frame.samples[2] == [UInt8](repeating: grey ? 128 : 99, count: 6))
        }
    }

    @Test("Full range is converted to limited range")
    func fullRange() throws {
        let content: [UInt8] = [0, 255, 128, 1] + [0, 255]
        let frames = try Self.frames(of: Self.stream("YUV4MPEG2 W2 H2 XCOLORRANGE=FULL", frames: [content]))
        #expect(try #require(frames.first).samples == [[16, 235, 126, 17], [16], [240]])
    }

    @Test(
        "Pixels that are not square become square, and no side becomes smaller",
        arguments: [
            ("W6 H4 A2:1", 12, 4), ("W6 H4 A1:2", 6, 8), ("W720 H576 A16:15", 768, 576),
            ("W720 H480 A10:11", 720, 528), ("W7 H5 A1:1", 6, 4), ("W6 H4 A0:0", 6, 4), ("W6 H4 A0:1", 6, 4),
            ("W6 H4 A1:0", 6, 4), ("W6 H4 A1001:1000", 6, 4), ("W64 H48 A128:117", 70, 48),
        ])
    func pixelShapes(fields: String, width: Int, height: Int) throws {
        let header = try Y4MHeader(line: Array("YUV4MPEG2 \(fields)".utf8))
        #expect(header.squareSize == PixelSize(width: width, height: height))
    }

    @Test("A frame of wide pixels is delivered in its intended width", arguments: ["420jpeg", "444"])
    func widePixels(space: String) throws {
        let chroma = space == "444" ? 48 : 12
        let content = [UInt8](repeating: 90, count: 24) + [UInt8](repeating: 77, count: chroma)
        let bytes = Self.stream("YUV4MPEG2 W6 H4 A2:1 C\(space)", frames: [content, content])
        let frames = try Self.frames(of: bytes)
        #expect(frames.map(\.size) == [PixelSize(width: 12, height: 4), PixelSize(width: 12, height: 4)])
        let plane = [UInt8](repeating: 77, count: 12)
        #expect(frames.allSatisfy { $0.samples == [[UInt8](repeating: 90, count: 48), plane, plane] })
        let source = try Y4MSource(input: Bytes(bytes), path: "test.y4m", mode: .asItArrives)
        #expect(source.captureFormat.size == PixelSize(width: 12, height: 4))
    }

    @Test("A file begins with the first sink, rests without one, and reads no frame for none")
    func resting() throws {
        let written = (0..<40).map { Self.samples($0) }
        let source = try Y4MSource(
            input: Bytes(Self.stream("YUV4MPEG2 W6 H4 F100:1", frames: written)), path: "test.y4m",
            mode: .paced(loop: false))
        let observer = CaptureObserver()
        source.add(observer: observer)
        try source.start()
        #expect(observer.wait(for: 1))
        // By now the whole file would have ended.
        usleep(500_000)
        #expect(observer.events == [.started])
        let first = Collector()
        source.add(first)
        #expect(first.wait { $0.frames.count >= 3 })
        source.remove(first)
        usleep(300_000)
        let second = Collector()
        source.add(second)
        #expect(second.wait { !$0.ends.isEmpty })
        let seen = (first.frames + second.frames).map { $0.buffer.samples.flatMap { $0 } }
        #expect(seen.map { $0[0] } == written.map { $0[0] })
        let times = (first.frames + second.frames).map(\.timestamp)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        source.stop()
    }

    @Test("A sink that is added between two frames of a slow file gets the newest at once")
    func lateSink() throws {
        let written = [Self.samples(1), Self.samples(2)]
        let (source, sink) = try source(Self.stream("YUV4MPEG2 W6 H4 F1:10", frames: written), .paced(loop: false))
        try source.start()
        #expect(sink.wait { !$0.frames.isEmpty })
        let late = Awaiting()
        source.add(late)
        #expect(late.collector.wait { !$0.frames.isEmpty })
        source.stop()
        let again = try #require(late.collector.frames.first)
        #expect(again.buffer.samples.flatMap { $0 } == written[0])
        #expect(again.timestamp > sink.frames[0].timestamp)
        #expect(late.collector.frames.count == 1)
    }

    /// A sink that has demand until it has a frame.
    private final class Awaiting: VideoSink {
        let collector = Collector()
        var demand: FrameDemand { collector.frames.isEmpty ? .picture : .changes }
        func receive(_ frame: VideoFrame) { collector.receive(frame) }
    }

    private func source(_ bytes: [UInt8], _ mode: Y4MSource.Mode) throws -> (Y4MSource, Collector) {
        let source = try Y4MSource(input: Bytes(bytes), path: "test.y4m", mode: mode)
        let sink = Collector()
        source.add(sink)
        return (source, sink)
    }

    @Test("A file is delivered at its rate, ends without an error and can be started again from its beginning")
    func paced() throws {
        let written = (0..<5).map { Self.samples($0) }
        let header = "YUV4MPEG2 W6 H4 F50:1"
        let (source, sink) = try source(Self.stream(header, frames: written), .paced(loop: false))
        #expect(source.captureFormat == CaptureFormat(size: PixelSize(width: 6, height: 4), framesPerSecond: 50))
        let observer = CaptureObserver()
        source.add(observer: observer)
        try source.start()
        #expect(observer.wait(for: 2))
        source.stop()
        let frames = sink.frames
        #expect(frames.map { $0.buffer.samples.flatMap { $0 } } == written)
        #expect(frames.map { $0.timestamp - frames[0].timestamp } == (0..<5).map { .milliseconds(20 * $0) })
        #expect(sink.ends.allSatisfy { $0 == nil })
        try source.start()
        #expect(sink.wait { $0.ends.count == 2 })
        #expect(sink.frames.count == 10)
        #expect(observer.wait(for: 4))
        #expect(observer.events == [.started, .stopped, .started, .stopped])
    }

    @Test("A looped file continues until it is stopped")
    func looped() throws {
        let written = [Self.samples(1), Self.samples(2)]
        let bytes = Self.stream("YUV4MPEG2 W6 H4 F200:1", frames: written)
        let (source, sink) = try source(bytes, .paced(loop: true))
        try source.start()
        #expect(sink.wait { $0.frames.count >= 7 })
        source.stop()
        let samples = sink.frames.map { $0.buffer.samples.flatMap { $0 } }
        #expect(samples.enumerated().allSatisfy { $0.element == written[$0.offset % 2] })
        #expect(sink.ends.count == 1)
    }

    @Test("A looped file without frames ends", .timeLimit(.minutes(1)))
    func emptyLoop() throws {
        let (source, sink) = try source(Self.stream(frames: []), .paced(loop: true))
        try source.start()
        #expect(sink.wait { $0.ends.count == 1 })
        #expect(sink.frames.isEmpty)
    }

    @Test("A file that is cut off gives its whole frames and then the error")
    func cutOff() throws {
        let bytes = Self.stream(frames: [Self.samples(1), Self.samples(2)]).dropLast(3)
        let (source, sink) = try source(Array(bytes), .paced(loop: false))
        let observer = CaptureObserver()
        source.add(observer: observer)
        try source.start()
        #expect(observer.wait(for: 2))
        source.stop()
        #expect(sink.frames.count == 1)
        #expect(sink.ends.first.flatMap { $0 } is CaptureError)
        #expect(observer.events == [.started, .failed(.configurationFailure)])
    }

    @Test("A pipe's frames are delivered as they arrive, a silent pipe can be stopped, and its end is no error")
    func pipe() throws {
        let pipe = Pipe()
        let writer = pipe.fileHandleForWriting
        try writer.write(contentsOf: Data(Self.stream("YUV4MPEG2 W6 H4 F1:1", frames: [])))
        let source = try Y4MSource.descriptor(pipe.fileHandleForReading.fileDescriptor, path: "standard input")
        let sink = Collector()
        source.add(sink)
        try source.start()
        // Three frames at one a second would take two seconds if they were paced.
        let begin = monotonicNow()
        for seed in 0..<3 {
            try writer.write(contentsOf: Data(Array("FRAME\n".utf8) + Self.samples(seed)))
            #expect(sink.wait { $0.frames.count == seed + 1 })
        }
        #expect(monotonicNow() - begin < .seconds(1.5))
        // A silent pipe delivers its newest frame to a new sink.
        let late = Awaiting()
        source.add(late)
        #expect(late.collector.wait { $0.frames.first?.buffer.samples.flatMap { $0 } == Self.samples(2) })
        source.remove(late)
        sink.forgetFrames()
        source.stop()
        #expect(sink.ends.count == 1)
        try source.start()
        try writer.write(contentsOf: Data(Array("FRAME\n".utf8) + Self.samples(3)))
        #expect(sink.wait { $0.frames.last?.buffer.samples.flatMap { $0 } == Self.samples(3) })
        try writer.close()
        #expect(sink.wait { $0.ends.count == 2 })
        #expect(sink.ends.allSatisfy { $0 == nil })
    }

    @Test("A pipe by name cannot be looped, and the error says so")
    func loopedPipe() throws {
        let path = NSTemporaryDirectory() + "y4m-\(UUID().uuidString)"
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let bytes = Self.stream(frames: [Self.samples(1)])
        // Opened for both, so that neither end waits for the other.
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        #expect(bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
        #expect(throws: CaptureError.self) { try Y4MSource(path: path, loop: true) }
    }
}

import Foundation
import RTCShareCPNG
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

/// A directory that goes when the test ends.
private final class Directory {
    let path = FileManager.default.temporaryDirectory.path + "/rtcshare-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A PNG file's size and its rows of red, green and blue.
private struct Picture {
    let size: PixelSize
    let pixels: [UInt8]

    init(_ path: String) throws {
        struct Failure: Error {}
        var image = png_image()
        image.version = png_uint_32(PNG_IMAGE_VERSION)
        guard png_image_begin_read_from_file(&image, path) != 0 else { throw Failure() }
        image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
        var pixels = [UInt8](repeating: 0, count: Int(image.width * image.height * 3))
        guard png_image_finish_read(&image, nil, &pixels, 0, nil) != 0 else { throw Failure() }
        size = PixelSize(width: Int(image.width), height: Int(image.height))
        self.pixels = pixels
    }

    func pixel(_ x: Int, _ y: Int) -> [UInt8] {
        let start = (y * size.width + x) * 3
        return Array(pixels[start..<start + 3])
    }
}

/// A grey picture whose left half is black.
private func halves(_ width: Int, _ height: Int, _ format: PixelFormat = .bgra) -> PixelBuffer {
    PixelBuffer(size: PixelSize(width: width, height: height), format: format) { planes, strides in
        let bytes = format.planeExtent(0, of: PixelSize(width: 1, height: 1)).rowBytes
        for index in planes[0].indices {
            planes[0][index] = index % strides[0] < width / 2 * bytes ? (bytes == 1 ? 16 : 0) : 128
        }
        for plane in planes.dropFirst() { plane.initializeMemory(as: UInt8.self, repeating: 128) }
    }
}

private func frame(
    _ buffer: any VideoFrameBuffer, at milliseconds: Int = 0, rotation: VideoRotation = .upright,
    outputSize: PixelSize? = nil
) -> VideoFrame {
    VideoFrame(buffer: buffer, timestamp: .milliseconds(milliseconds), rotation: rotation, outputSize: outputSize)
}

@Suite("Ready sinks", .timeLimit(.minutes(1)))
struct SinkTests {
    private let source = CustomVideoSource()

    @Test(
        "A snapshot is of the newest frame, upright, at the size that it is wanted at",
        arguments: [PixelFormat.bgra, .argb, .nv12, .i420])
    func snapshot(format: PixelFormat) throws {
        let directory = try Directory()
        let (sink, path) = (SnapshotSink(), directory.path + "/a.png")
        #expect(throws: MediaFileError.noPicture(path: path)) { try sink.write(to: path) }
        #expect(!FileManager.default.fileExists(atPath: path) && sink.frame == nil)
        source.add(sink)
        source.capture(frame(halves(8, 8, format)))
        source.capture(frame(halves(64, 40, format), rotation: .quarter, outputSize: PixelSize(width: 32, height: 20)))
        try sink.write(to: path)
        let picture = try Picture(path)
        #expect(picture.size == PixelSize(width: 20, height: 32))
        // Turned clockwise, what was left is above.
        #expect(picture.pixel(10, 4).allSatisfy { $0 <= 3 })
        #expect(picture.pixel(10, 28).allSatisfy { abs(Int($0) - 129) <= 4 })
        source.capture(frame(halves(64, 40, format)))
        try sink.write(to: path)
        let again = try Picture(path)
        #expect(again.size == PixelSize(width: 64, height: 40))
        #expect(again.pixel(4, 20).allSatisfy { $0 <= 3 } && again.pixel(60, 20).allSatisfy { abs(Int($0) - 129) <= 4 })
    }

    @Test("A snapshot of a track shows what the track cuts out, and says why it can't be written")
    func snapshotOfTrack() throws {
        let directory = try Directory()
        let (sink, track) = (SnapshotSink(), VideoTrack(id: "v", source: source))
        track.add(sink)
        track.adaptOutputFormat(width: 20, height: 20, fps: 0, mode: .crop)
        source.capture(frame(halves(80, 20)))
        try sink.write(to: directory.path + "/a.png")
        let picture = try Picture(directory.path + "/a.png")
        #expect(picture.size == PixelSize(width: 20, height: 20))
        #expect(picture.pixel(2, 10).allSatisfy { $0 <= 3 } && picture.pixel(17, 10).allSatisfy { $0 > 120 })
        #expect(throws: MediaFileError.self) { try sink.write(to: directory.path + "/missing/a.png") }
    }

    /// The luma planes of a Y4M file's frames.
    private func readY4M(_ path: String) throws -> (header: String, frames: [[UInt8]], size: PixelSize) {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let end = try #require(bytes.firstIndex(of: 10))
        let header = String(decoding: bytes[..<end], as: UTF8.self)
        let sides = header.split(separator: " ").compactMap { "WH".contains($0.prefix(1)) ? Int($0.dropFirst()) : nil }
        let size = PixelSize(width: sides[0], height: sides[1])
        let chroma = (size.width + 1) / 2 * ((size.height + 1) / 2)
        let length = 6 + size.area + 2 * chroma
        #expect((bytes.count - end - 1) % length == 0)
        let frames = stride(from: end + 1, to: bytes.count, by: length).map { start in
            Array(bytes[(start + 6)..<(start + 6 + size.area)])
        }
        return (header, frames, size)
    }

    @Test("Y4M: every frame once, upright, at the first one's size; another size is fitted whole on black")
    func y4m() throws {
        let directory = try Directory()
        let sink = Y4MFileSink(path: directory.path + "/a.y4m", framesPerSecond: 25)
        source.add(sink)
        source.capture(frame(halves(40, 80), rotation: .threeQuarters, outputSize: PixelSize(width: 20, height: 40)))
        source.capture(frame(halves(40, 20, .i420), at: 40))
        source.capture(frame(halves(20, 20, .nv12), at: 80))
        source.capture(frame(halves(200, 50, .argb), at: 120))
        try sink.close()
        try sink.close()
        source.capture(frame(halves(40, 20), at: 160))
        #expect(sink.framesWritten == 4)
        let file = try readY4M(sink.path)
        #expect(file.header.hasPrefix("YUV4MPEG2 W40 H20 F25:1 "))
        #expect(file.size == PixelSize(width: 40, height: 20) && file.frames.count == 4)
        func luma(_ frame: Int, _ x: Int, _ y: Int) -> UInt8 { file.frames[frame][y * 40 + x] }
        // Turned counterclockwise, what was left is below.
        #expect(luma(0, 20, 2) > 100 && luma(0, 20, 18) <= 17)
        #expect(luma(1, 4, 10) == 16 && luma(1, 36, 10) == 128)
        // A square in the middle.
        #expect(luma(2, 4, 10) == 16 && luma(2, 14, 10) == 16 && luma(2, 26, 10) == 128 && luma(2, 32, 10) == 16)
        // A strip in the middle.
        #expect(luma(3, 36, 2) == 16 && luma(3, 36, 10) > 100 && luma(3, 36, 17) == 16)
    }

    @Test("Y4M: odd sizes are written as they are")
    func oddY4M() throws {
        let directory = try Directory()
        let sink = Y4MFileSink(path: directory.path + "/a.y4m")
        sink.receive(frame(halves(33, 17)))
        sink.receive(frame(halves(17, 33)))
        sink.receive(frame(halves(1, 1)))
        try sink.close()
        let file = try readY4M(sink.path)
        #expect(file.size == PixelSize(width: 33, height: 17) && file.frames.count == 3)
    }

    @Test("An error of writing is kept and thrown when the file is closed; a file of nothing is an error too")
    func errors() throws {
        let directory = try Directory()
        let missing = directory.path + "/missing/a"
        let reason = "there is no directory \(directory.path)/missing"
        let y4m = Y4MFileSink(path: missing)
        y4m.receive(frame(halves(16, 16)))
        y4m.receive(frame(halves(16, 16)))
        #expect(throws: MediaFileError.cannotOpen(path: missing, reason: reason)) {
            try y4m.close()
        }
        try y4m.close()
        let ivf = try IVFFileSink(path: missing)
        ivf.receive(frame(halves(16, 16)))
        #expect(throws: MediaFileError.cannotOpen(path: missing, reason: reason)) {
            try ivf.close()
        }
        let path = directory.path + "/none"
        let (emptyY4M, emptyIVF) = (Y4MFileSink(path: path), try IVFFileSink(path: path))
        #expect(throws: MediaFileError.noPicture(path: path)) { try emptyY4M.close() }
        #expect(throws: MediaFileError.noPicture(path: path)) { try emptyIVF.close() }
        #expect(!FileManager.default.fileExists(atPath: path))
        let full = Y4MFileSink(path: "/dev/full")
        full.receive(frame(halves(16, 16)))
        #expect(throws: MediaFileError.self) { try full.close() }
    }

    @Test("A frame that can't be encoded is told when the file is closed, and the others are in it")
    func badFrame() throws {
        let directory = try Directory()
        let sink = try IVFFileSink(path: directory.path + "/a.ivf")
        sink.receive(frame(halves(0, 0)))
        while sink.statistics.framesDropped == 0 { sched_yield() }
        sink.receive(frame(halves(32, 32)))
        #expect(throws: MediaFileError.unsuitablePicture(path: sink.path, reason: "the picture has no pixels")) {
            try sink.close()
        }
        let reader = try IVFReader(path: sink.path)
        #expect(try reader.next() != nil)
    }

    @Test("IVF: what was given last is in the file, upright and decodable, even if it still waited")
    func ivf() throws {
        let directory = try Directory()
        let sink = try IVFFileSink(
            path: directory.path + "/a.ivf", settings: .init(bitrate: .kilobitsPerSecond(2000), framesPerSecond: 10))
        let size = PixelSize(width: 160, height: 96)
        source.contentHint = .text
        source.add(sink)
        // The second comes long before it is due: closing waits for it.
        for seed in 1...2 {
            source.capture(
                frame(TextPicture(size: size, seed: UInt64(seed)).i420, at: seed * 40, rotation: .half))
            while seed == 1, sink.framesWritten == 0 { sched_yield() }
        }
        try sink.close()
        try sink.close()
        source.capture(frame(halves(160, 96)))
        let reader = try IVFReader(path: sink.path)
        #expect(reader.size == size)
        let decoder = try VP8Decoder()
        var last: (any VideoFrameBuffer)?
        var count = 0
        while let next = try reader.next() {
            last = try decoder.decode(next.data) ?? last
            count += 1
        }
        #expect(count == sink.framesWritten && count >= 2)
        let newest = try VideoConverter().convert(
            TextPicture(size: size, seed: 2).i420, to: size, rotation: .half)
        #expect(try StructuralSimilarity.luma(try #require(last), newest) > 0.7)
    }

    @Test("IVF: a muted source writes nothing, and the file can be closed all the same")
    func mutedIVF() throws {
        let directory = try Directory()
        let sink = try IVFFileSink(path: directory.path + "/a.ivf")
        source.broadcaster.isMuted = true
        source.add(sink)
        sink.receive(frame(halves(32, 32)))
        #expect(throws: MediaFileError.noPicture(path: sink.path)) { try sink.close() }
    }
}

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

@Suite("File and snapshot sinks", .timeLimit(.minutes(1)))
struct SinkTests {
    private let source = PushVideoSource()

    @Test(
        "A snapshot has the newest frame, upright, at the requested size",
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

    @Test("A track's snapshot has the track's crop, and its errors give the reason")
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
}

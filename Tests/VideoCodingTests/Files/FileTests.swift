import Foundation
import RTCShareLocks
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

private let vpxdec = ["/usr/bin/vpxdec", "/usr/local/bin/vpxdec"].first(
    where: FileManager.default.isExecutableFile(atPath:))

@Suite("Files")
struct FileTests {
    private let size = PixelSize(width: 322, height: 182)

    private func encoded(_ count: Int) throws -> [EncodedVideoFrame] {
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(800)))
        let picture = TextPicture(size: size)
        return try encoder.encode((0..<count).map { picture.scrolled(by: $0).i420 }).compactMap { $0 }
    }

    @Test(
        "vpxdec decodes our frames to the same samples as our decoder",
        .enabled(if: vpxdec != nil, "vpxdec is not installed"))
    func judge() throws {
        let directory = try Directory()
        let frames = try encoded(20)
        try IVFFile.write(frames.map { ($0.data, $0.timestamp) }, size: size, to: directory.path + "/a.ivf")
        let decoder = try VP8Decoder()
        var expected = Data()
        for frame in frames {
            let picture = try #require(try decoder.decode(frame.data))
            picture.withPlanes { set in
                for plane in 0..<3 {
                    let extent = PixelFormat.i420.planeExtent(plane, of: size)
                    for row in 0..<extent.rows {
                        let start = row * set.strides[plane]
                        expected.append(contentsOf: set.planes[plane][start..<start + extent.rowBytes])
                    }
                }
            }
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(vpxdec))
        process.arguments = ["--i420", "-o", directory.path + "/a.yuv", directory.path + "/a.ivf"]
        try process.runAlone()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let decoded = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/a.yuv"))
        #expect(decoded.count == frames.count * (322 * 182 + 2 * 161 * 91))
        #expect(decoded == expected)
    }

    @Test("A PNG has the frame's size and RGB values", arguments: [PixelFormat.bgra, .argb, .nv12, .i420])
    func png(format: PixelFormat) throws {
        let directory = try Directory()
        let path = directory.path + "/a.png"
        // Red, in each of the layouts.
        let patterns: [[UInt8]] =
            switch format {
            case .bgra: [[0, 0, 255, 7]]
            case .argb: [[7, 255, 0, 0]]
            case .nv12: [[82], [90, 240]]
            case .i420: [[82], [90], [240]]
            }
        let picture = PixelBuffer(size: size, format: format) { planes, _ in
            for (plane, pattern) in zip(planes, patterns) {
                for index in plane.indices { plane[index] = pattern[index % pattern.count] }
            }
        }
        try PNGWriter.write(picture, to: path)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        // IHDR: width, height, eight bits, colour type 2.
        #expect(Array(bytes[16..<26]) == [0, 0, 1, 0x42, 0, 0, 0, 0xB6, 8, 2])
        let pixel = try PNGWriterTestReader.firstPixel(path)
        #expect(pixel[0] >= 253 && pixel[1] <= 2 && pixel[2] <= 2, "\(pixel)")
    }

    @Test(
        "A PNG in memory has the pixels of the frame, also of noise and of the smallest frame", arguments: [1, 2, 321])
    func pngInMemory(side: Int) throws {
        var numbers = SeededNumbers(7)
        let picture = PixelBuffer(size: PixelSize(width: side, height: side), format: .bgra) { planes, _ in
            for index in planes[0].indices { planes[0][index] = UInt8.random(in: .min ... .max, using: &numbers) }
        }
        let pixels = try PNGWriterTestReader.pixels(try PNGWriter.bytes(picture))
        #expect(pixels.count == side * side * 3)
        picture.withPlanes { planes in
            for row in 0..<side {
                for column in 0..<side {
                    let place = row * planes.strides[0] + column * 4
                    let expected = [2, 1, 0].map { planes.planes[0][place + $0] }
                    let start = (row * side + column) * 3
                    guard Array(pixels[start..<start + 3]) != expected else { continue }
                    Issue.record("\(column), \(row)")
                }
            }
        }
    }

    @Test("A source's images are small and upright, and come five times a second")
    func frameImages() {
        let images = Locked<[any VideoFrameBuffer]>([])
        let sink = FrameImages(fitting: PixelSize(width: 64, height: 64)) { image in
            images.withLock { $0.append(image) }
        }
        let picture = TextPicture(size: PixelSize(width: 320, height: 160)).i420
        for number in 0..<30 {
            sink.receive(
                VideoFrame(buffer: picture, timestamp: .milliseconds(number * 33), rotation: .quarter))
        }
        #expect(images.withLock { $0.count } == 5)
        #expect(images.withLock { $0.first?.size } == PixelSize(width: 32, height: 64))
        // Another start has another clock.
        sink.receive(VideoFrame(buffer: picture, timestamp: .zero))
        #expect(images.withLock { $0.last?.size } == PixelSize(width: 64, height: 32))
    }

    @Test("The error for a file that cannot be written gives its path and the reason")
    func errors() throws {
        let directory = try Directory()
        let path = directory.path + "/none/a"
        let picture = TextPicture(size: size).i420
        func description(_ body: () throws(MediaFileError) -> Void) -> String {
            do throws(MediaFileError) {
                try body()
                return ""
            } catch {
                return "\(error)"
            }
        }
        let text = description { () throws(MediaFileError) in try PNGWriter.write(picture, to: path) }
        #expect(text.contains(path) && text.contains("there is no directory"), "\(text)")
        // A disk that is full is noticed.
        if FileManager.default.fileExists(atPath: "/dev/full") {
            #expect(throws: MediaFileError.cannotWrite(path: "/dev/full", reason: "the disk is full")) {
                try PNGWriter.write(picture, to: "/dev/full")
            }
            #expect(FileManager.default.fileExists(atPath: "/dev/full"))
        }
    }
}

@Suite("StructuralSimilarity")
struct StructuralSimilarityTests {
    private let size = PixelSize(width: 160, height: 96)

    @Test("Similarity is 1 for equal frames, less for a coarse one, and small for another")
    func order() throws {
        let picture = TextPicture(size: size)
        let same = try StructuralSimilarity.luma(picture.i420, picture.i420)
        var damaged = picture
        damaged.draw(0xFFFF, x: 20, y: 20)
        let near = try StructuralSimilarity.luma(picture.i420, damaged.i420)
        let far = try StructuralSimilarity.luma(picture.i420, TextPicture(size: size, seed: 8).i420)
        #expect(same == 1)
        #expect(near < 1 && near > 0.9)
        #expect(far < 0.6)
        #expect(
            try StructuralSimilarity.peakSignalToNoiseRatio(picture.i420, damaged.i420)
                > StructuralSimilarity.peakSignalToNoiseRatio(picture.i420, TextPicture(size: size, seed: 8).i420))
    }

    @Test("Two uniform frames have the similarity of the formula")
    func formula() throws {
        func flat(_ value: UInt8) -> PixelBuffer {
            PixelBuffer(size: size, format: .i420) { planes, _ in
                for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: value) }
            }
        }
        // No variance: what is left is (2ab + C1) / (a² + b² + C1), C1 = (0.01 · 255)².
        let constant: Double = 6.5025
        let exact: Double = (24_000 + constant) / (24_400 + constant)
        let measured = try StructuralSimilarity.luma(flat(100), flat(120))
        #expect(abs(measured - exact) < 1e-4)
        #expect(try StructuralSimilarity.peakSignalToNoiseRatio(flat(7), flat(7)) == 128)
    }

    @Test("Frames that cannot be compared are rejected")
    func refusals() {
        let picture = TextPicture(size: size).i420
        let other = TextPicture(size: PixelSize(width: 96, height: 160)).i420
        let small = TextPicture(size: PixelSize(width: 8, height: 8)).i420
        #expect(throws: VideoCodingError.sizesDiffer(picture.size, other.size)) {
            _ = try StructuralSimilarity.luma(picture, other)
        }
        #expect(throws: VideoCodingError.emptyPicture) { _ = try StructuralSimilarity.luma(small, small) }
    }
}

import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

@Suite("ScaledPicture")
struct ScaledPictureTests {
    /// A generator that gives the same everywhere.
    private struct Generator {
        var state: UInt64

        mutating func next(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }

    /// Blocks of noise and of plain colour, as windows and text are.
    private func screen(_ size: PixelSize, _ format: PixelFormat, seed: UInt64) -> PixelBuffer {
        var random = Generator(state: seed &* 2 &+ 1)
        return PixelBuffer(size: size, format: format) { planes, _ in
            for plane in planes {
                var (run, value) = (0, UInt8(0))
                for index in plane.indices {
                    if run == 0 { (run, value) = (1 + random.next(below: 9), UInt8(random.next(below: 256))) }
                    plane[index] = value
                    run -= 1
                }
            }
        }
    }

    /// `picture` with the pixels of `other` in a rectangle of even sides and corner.
    private func mixed(_ picture: PixelBuffer, _ other: PixelBuffer, in part: PixelRectangle) -> PixelBuffer {
        let format = picture.format
        let pixel = format.planeExtent(0, of: PixelSize(width: 1, height: 1)).rowBytes
        return PixelBuffer(size: picture.size, format: format) { planes, strides in
            picture.withPlanes { old in
                other.withPlanes { new in
                    for plane in planes.indices {
                        planes[plane].copyMemory(from: old.planes[plane])
                        let step = plane == 0 ? 1 : 2
                        let bytes = plane == 0 ? pixel : format == .nv12 ? 2 : 1
                        for row in part.y / step..<(part.y + part.size.height) / step {
                            let start = row * strides[plane] + part.x / step * bytes
                            let end = start + part.size.width / step * bytes
                            planes[plane][start..<end].copyBytes(from: new.planes[plane][start..<end])
                        }
                    }
                }
            }
        }
    }

    private func whole(_ source: PixelBuffer, _ size: PixelSize, _ rotation: VideoRotation) throws -> [[UInt8]] {
        let picture = try ScaledPicture(size, of: source.size, turnedBy: rotation)
        _ = try picture.update(from: source, damage: nil)
        return samples(picture.picture)
    }

    @Test(
        "Updating parts gives the same result as scaling the whole, and reports the changed places",
        arguments: [PixelFormat.bgra, .argb, .nv12, .i420],
        [
            // A ratio of small numbers, none, of more than two, of less than one, and none at all.
            (800, 600, 600, 450, VideoRotation.upright), (683, 384, 640, 358, .upright),
            (683, 384, 640, 358, .threeQuarters), (1001, 701, 300, 202, .quarter), (320, 200, 480, 300, .upright),
            (500, 300, 500, 300, .half), (500, 300, 300, 500, .quarter), (401, 301, 301, 401, .quarter),
        ])
    func parts(
        format: PixelFormat, shape: (fromWidth: Int, fromHeight: Int, width: Int, height: Int, turn: VideoRotation)
    ) throws {
        let from = PixelSize(width: shape.fromWidth, height: shape.fromHeight)
        let isTurned = shape.turn.swapsSides && shape.width > shape.height
        let size =
            isTurned
            ? PixelSize(width: shape.height, height: shape.width)
            : PixelSize(width: shape.width, height: shape.height)
        var random = Generator(state: UInt64(shape.width))
        let picture = try ScaledPicture(size, of: from, turnedBy: shape.turn)
        var source = screen(from, format, seed: 1)
        // The first picture is all new, whatever is said.
        _ = try picture.update(from: source, damage: [])
        var before = samples(picture.picture)
        #expect(try before == whole(source, size, shape.turn))
        for step in 2..<9 {
            let other = screen(from, format, seed: UInt64(step))
            let damage = (0..<1 + random.next(below: 2)).map { _ in
                let (x, y) = (random.next(below: from.width - 2) & ~1, random.next(below: from.height - 2) & ~1)
                return PixelRectangle(
                    x: x, y: y,
                    size: PixelSize(
                        width: min(2 + 2 * random.next(below: 40), from.width - x) & ~1,
                        height: min(2 + 2 * random.next(below: 30), from.height - y) & ~1))
            }
            for part in damage { source = mixed(source, other, in: part) }
            // A rectangle may stick out.
            let told = damage + [PixelRectangle(x: -9, y: from.height, size: PixelSize(width: 20, height: 20))]
            let made = try picture.update(from: source, damage: told)
            let after = samples(picture.picture)
            #expect(try after == whole(source, size, shape.turn))
            // Luma differs nowhere else than where it says.
            for index in after[0].indices where after[0][index] != before[0][index] {
                let pixel = PixelRectangle(
                    x: index % size.width, y: index / size.width, size: PixelSize(width: 1, height: 1))
                try #require(made.contains { $0.intersection(pixel) != nil })
            }
            before = after
        }
        #expect(try picture.update(from: source, damage: []).isEmpty)
    }

    @Test(
        "Updates at simple ratios, or with only a rotation, are identical to scaling the whole",
        arguments: [
            (1280, 720, 960, 540), (960, 540, 640, 360), (640, 360, 320, 180), (1280, 800, 320, 200),
            (1600, 900, 1280, 720), (960, 540, 320, 180), (1024, 768, 384, 288), (640, 360, 640, 360),
        ], VideoRotation.allCases)
    func sameAsWhole(
        shape: (fromWidth: Int, fromHeight: Int, width: Int, height: Int), rotation: VideoRotation
    ) throws {
        let source = screen(PixelSize(width: shape.fromWidth, height: shape.fromHeight), .bgra, seed: 3)
        let size =
            rotation.swapsSides
            ? PixelSize(width: shape.height, height: shape.width) : PixelSize(width: shape.width, height: shape.height)
        let expected = try VideoConverter().convert(source, to: size, rotation: rotation)
        #expect(try whole(source, size, rotation) == samples(expected))
    }

    @Test(
        "Updates at other ratios are as smooth, and off by less than a source pixel",
        arguments: [(1366, 768, 1280, 720), (1001, 997, 999, 993), (1279, 1023, 477, 381)])
    func otherRatios(shape: (fromWidth: Int, fromHeight: Int, width: Int, height: Int)) throws {
        let from = PixelSize(width: shape.fromWidth, height: shape.fromHeight)
        let size = PixelSize(width: shape.width, height: shape.height)
        // Each pixel of the source is brighter by 3 than the one before in its row, or in its column, up to a step.
        for across in [true, false] {
            let source = PixelBuffer(size: from, format: .i420) { planes, strides in
                for index in planes[0].indices {
                    let place = across ? index % strides[0] : index / strides[0]
                    planes[0][index] = UInt8(place * 3 % 192)
                }
                for plane in planes.dropFirst() { plane.initializeMemory(as: UInt8.self, repeating: 128) }
            }
            let expected = samples(try VideoConverter().convert(source, to: size))[0]
            let made = try whole(source, size, .upright)[0]
            // But at the steps themselves.
            let far = made.indices.count { abs(Int(made[$0]) - Int(expected[$0])) > 4 }
            #expect(Double(far) / Double(made.count) < 0.06, "\(far) of \(made.count)")
        }
    }

    @Test("A frame of another size is rejected")
    func otherSize() throws {
        let picture = try ScaledPicture(
            PixelSize(width: 32, height: 32), of: PixelSize(width: 64, height: 64), turnedBy: .upright)
        #expect(throws: VideoCodingError.self) {
            _ = try picture.update(from: screen(PixelSize(width: 64, height: 62), .i420, seed: 1), damage: nil)
        }
    }
}

@Suite("PictureInput")
struct PictureInputTests {
    private let from = PixelSize(width: 640, height: 480)

    private func order(_ change: (inout VideoEncoder.Settings) -> Void) -> EncodingOrder {
        var settings = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(5000), hint: .text)
        change(&settings)
        return EncoderControl(settings: settings, now: .zero).order(isNew: true)
    }

    @Test(
        "A cursor on a scaled or rotated screen costs only a cursor's bits, and is at its place",
        arguments: [
            (480, 360, VideoRotation.upright), (480, 360, .half), (360, 480, .quarter), (480, 640, .threeQuarters),
        ])
    func cursor(width: Int, height: Int, rotation: VideoRotation) throws {
        let size = PixelSize(width: width, height: height)
        let order = order {
            $0.maximumSize = size
            $0.turnsPictures = true
        }
        var input = PictureInput()
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(5000)))
        let decoder = try VP8Decoder()
        var text = TextPicture(size: from, seed: 5)
        var seen: (any PixelPlanes)?
        var lastSize = 0
        // The picture becomes fine, and then the cursor blinks.
        for index in 0..<60 {
            let blinks = index >= 50
            if blinks { text.draw(index.isMultiple(of: 2) ? .max : 0x5555, x: 320, y: 300) }
            let frame = VideoFrame(
                buffer: text.i420, timestamp: .milliseconds(index * 33), rotation: rotation,
                damage: blinks ? [PixelRectangle(x: 320, y: 300, size: PixelSize(width: 8, height: 11))] : [])
            try input.take(frame, order: order)
            let made = try encoder.encode(&input, timestamp: frame.timestamp, asKeyFrame: false, order: order)
            for frame in made.preceding { seen = try decoder.decode(frame.data) }
            guard case .encoded(let frame) = made.outcome else { continue }
            seen = try decoder.decode(frame.data)
            #expect(frame.size == size)
            lastSize = frame.data.count
        }
        #expect(lastSize < 400)
        let expected = try VideoConverter().convert(text.i420, to: size, rotation: rotation)
        #expect(try StructuralSimilarity.luma(#require(seen), expected) > 0.99)
    }

    @Test("A source of a new size is read as a whole, whatever its change rectangles say")
    func otherSource() throws {
        let size = PixelSize(width: 320, height: 240)
        let order = order { $0.maximumSize = size }
        var input = PictureInput()
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(5000)))
        let decoder = try VP8Decoder()
        for (index, from) in [from, PixelSize(width: 1280, height: 960), size, from].enumerated() {
            let text = TextPicture(size: from, seed: UInt64(index + 1)).i420
            var seen: (any PixelPlanes)?
            for round in 0..<20 {
                try input.take(
                    VideoFrame(buffer: text, timestamp: .milliseconds(index * 660 + round * 33), damage: []),
                    order: order)
                let made = try encoder.encode(
                    &input, timestamp: .milliseconds(index * 660 + round * 33), asKeyFrame: false, order: order)
                for frame in made.preceding { seen = try decoder.decode(frame.data) }
                if case .encoded(let frame) = made.outcome { seen = try decoder.decode(frame.data) }
            }
            let expected = try VideoConverter().convert(text, to: size)
            #expect(try StructuralSimilarity.luma(#require(seen), expected) > 0.95)
        }
    }
}

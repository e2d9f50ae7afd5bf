import RTCShareCVPX
import RTCShareMedia
@testable import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

extension VP8Encoder {
    /// Encodes the pictures, one each thirtieth of a second; nil where one was dropped.
    func encode(_ pictures: [PixelBuffer], from first: Int = 0) throws -> [EncodedVideoFrame?] {
        try pictures.enumerated().map { index, picture in
            let outcome = try encode(picture, timestamp: .seconds(first + index) / 30)
            guard case .encoded(let frame) = outcome else { return nil }
            return frame
        }
    }
}

@Suite("VP8")
struct VP8Tests {
    private let size = PixelSize(width: 320, height: 240)

    private func scrolling(_ count: Int, size: PixelSize? = nil) -> [PixelBuffer] {
        let picture = TextPicture(size: size ?? self.size)
        return (0..<count).map { picture.scrolled(by: $0 * 2).i420 }
    }

    private func makeEncoder(
        _ change: (inout VP8Encoder.Configuration) -> Void = { _ in }
    ) throws -> VP8Encoder {
        var configuration = VP8Encoder.Configuration(size: size, bitrate: .kilobitsPerSecond(500))
        change(&configuration)
        return try VP8Encoder(configuration: configuration)
    }

    @Test("A text screen of 1280x720 at 30 frames/s reaches SSIM 0.95 within 2 s at 2.5 Mbit/s and keeps to it")
    func textScreen() throws {
        let size = PixelSize(width: 1280, height: 720)
        let still = TextPicture(size: size).i420
        let encoder = try makeEncoder {
            $0.size = size
            $0.bitrate = .kilobitsPerSecond(2500)
        }
        let decoder = try VP8Decoder()
        var bytes = 0
        var similarity = 0.0
        for frame in try encoder.encode(Array(repeating: still, count: 60)) {
            guard let frame else { continue }
            bytes += frame.data.count
            let picture = try #require(try decoder.decode(frame.data))
            similarity = try StructuralSimilarity.luma(picture, still)
        }
        #expect(similarity >= 0.98)
        #expect(bytes * 8 <= 2 * 2_500_000 * 115 / 100)
    }

    @Test("Decoded frames equal the encoded ones to the accuracy of the quantizer", arguments: ContentHint.allCases)
    func roundTrip(hint: ContentHint) throws {
        let encoder = try makeEncoder {
            $0.hint = hint
            $0.bitrate = .kilobitsPerSecond(1000)
        }
        let decoder = try VP8Decoder()
        let pictures = scrolling(20)
        for (picture, frame) in zip(pictures, try encoder.encode(pictures)) {
            guard let frame else { continue }
            let decoded = try #require(try decoder.decode(frame.data))
            #expect(decoded.size == size)
            #expect(try StructuralSimilarity.luma(decoded, picture) > 0.9)
            #expect(decoder.lastQuantizer == frame.quantizer)
            #expect(frame.contentHint == hint)
        }
    }

    @Test("Only the first and requested frames are key frames, even if the whole frame changes")
    func keyFrames() throws {
        let encoder = try makeEncoder()
        var keys: [Int] = []
        for index in 0..<40 {
            let picture = TextPicture(size: size, seed: UInt64(1 + index / 8)).i420
            let outcome = try encoder.encode(picture, timestamp: .seconds(index) / 30, asKeyFrame: index == 25)
            if case .encoded(let frame) = outcome, frame.isKeyFrame { keys.append(index) }
        }
        #expect(keys == [0, 25])
    }

    @Test("A new bitrate, frame rate or hint needs no key frame, and the bitrate is kept to")
    func bitrateChange() throws {
        let encoder = try makeEncoder()
        // New glyphs in every frame, more than the bitrates have room for at the finest quantizer.
        var generator: UInt64 = 5
        let pictures = (0..<180).map { _ in
            var picture = TextPicture(size: size)
            for _ in 0..<24 {
                generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                picture.draw(generator, x: Int(generator >> 33) % 320, y: Int(generator >> 40) % 240)
            }
            return picture.i420
        }
        _ = try encoder.encode(Array(pictures[..<60]))
        var rates: [Int] = []
        for (round, bitsPerSecond) in [(1, 800_000), (2, 400_000)] {
            var configuration = encoder.configuration
            configuration.bitrate = .bitsPerSecond(bitsPerSecond)
            configuration.hint = .text
            try encoder.reconfigure(configuration)
            let frames = try encoder.encode(Array(pictures[round * 60..<round * 60 + 60]), from: round * 60)
            #expect(frames.allSatisfy { $0?.isKeyFrame != true })
            // The first half follows the change; the second shows the rate.
            rates.append(frames[30...].reduce(0) { $0 + ($1?.data.count ?? 0) } * 8)
        }
        #expect((600_000...960_000).contains(rates[0]), "\(rates)")
        #expect((300_000...480_000).contains(rates[1]), "\(rates)")
    }

    @Test("A new size needs one key frame, whether smaller or larger")
    func sizes() throws {
        let encoder = try makeEncoder()
        let decoder = try VP8Decoder()
        var time = 0
        for (width, height) in [(320, 240), (160, 120), (16, 16), (318, 2), (1, 1), (320, 240), (640, 480), (322, 242)]
        {
            var configuration = encoder.configuration
            configuration.size = PixelSize(width: width, height: height)
            try encoder.reconfigure(configuration)
            for index in 0..<4 {
                let picture = TextPicture(size: configuration.size).i420
                time += 1
                guard case .encoded(let frame) = try encoder.encode(picture, timestamp: .seconds(time) / 30) else {
                    Issue.record("dropped at \(configuration.size)")
                    continue
                }
                #expect(frame.isKeyFrame == (index == 0))
                #expect(try decoder.decode(frame.data)?.size == configuration.size)
            }
        }
    }

    @Test("A frame of another size or format, or a setting out of range, is rejected")
    func refusals() throws {
        let encoder = try makeEncoder()
        let other = TextPicture(size: PixelSize(width: 16, height: 16)).i420
        #expect(throws: VideoCodingError.self) { _ = try encoder.encode(other, timestamp: .zero) }
        for change: (inout VP8Encoder.Configuration) -> Void in [
            { $0.size = PixelSize(width: 0, height: 10) }, { $0.size = PixelSize(width: 20_000, height: 10) },
            { $0.bitrate = .zero }, { $0.framesPerSecond = 0 }, { $0.framesPerSecond = .nan },
            { $0.framesPerSecond = 0.0099 },
            { $0.minimumQuantizer = 60 }, { $0.speed = 3 },
        ] {
            var configuration = encoder.configuration
            change(&configuration)
            #expect(throws: VideoCodingError.self) { try encoder.reconfigure(configuration) }
            #expect(throws: VideoCodingError.self) { _ = try VP8Encoder(configuration: configuration) }
        }
        // And goes on as it was.
        #expect(try encoder.encode(scrolling(3)).allSatisfy { $0 != nil })
    }

    @Test("Frames are encoded although their timestamps jump, repeat or go back")
    func timestamps() throws {
        let encoder = try makeEncoder()
        let picture = scrolling(1)[0]
        for seconds in [0.0, 0.03, 0.03, 5, 4, -1e6, 1e9, 1e9 + 0.03, 0] {
            guard case .encoded(let frame) = try encoder.encode(picture, timestamp: .seconds(seconds)) else {
                Issue.record("dropped at \(seconds)")
                continue
            }
            #expect(frame.timestamp == .seconds(seconds))
        }
    }

    @Test("An encoder of any size has one thread, since libvpx's threads spin while they wait")
    func threads() throws {
        let size = PixelSize(width: 3840, height: 2160)
        let configuration = VP8Encoder.Configuration(size: size, bitrate: .kilobitsPerSecond(4000))
        #expect(try configuration.makeLibraryConfiguration().g_threads == 1)
    }

    @Test("Nothing changes outside the change rectangles")
    func changedRegions() throws {
        let encoder = try makeEncoder { $0.bitrate = .kilobitsPerSecond(3000) }
        let decoder = try VP8Decoder()
        let (before, after) = (TextPicture(size: size, seed: 3), TextPicture(size: size, seed: 4))
        var last: PixelBuffer?
        // What is coarse still is coded wherever it is.
        var coarsest = 127
        for frame in try encoder.encode(Array(repeating: before.i420, count: 20)) {
            guard let frame else { continue }
            last = try decoder.decode(frame.data)
            coarsest = frame.coarsest
        }
        #expect(coarsest <= Coarseness.fine)
        // Half of the picture, and some nonsense that has to be clipped.
        let regions = [
            PixelRectangle(x: 160, y: 0, size: PixelSize(width: 160, height: 240)),
            PixelRectangle(x: -50, y: -50, size: PixelSize(width: 20, height: 20)),
            PixelRectangle(x: 500, y: 20, size: PixelSize(width: Int.max, height: Int.max)),
        ]
        var changed = MacroblockMap(size: size)
        for region in regions { changed.insert(region) }
        for index in 20..<40 {
            let outcome = try encoder.encode(after.i420, timestamp: .seconds(index) / 30, changed: changed)
            if case .encoded(let frame) = outcome { last = try decoder.decode(frame.data) }
        }
        let picture = try #require(last)
        func error(_ columns: Range<Int>, _ expected: TextPicture) -> Int {
            picture.withPlanes { set in
                (0..<size.height).reduce(0) { sum, row in
                    columns.reduce(sum) { sum, column in
                        sum
                            + abs(
                                Int(set.planes[0][row * set.strides[0] + column])
                                    - Int(expected.luma[row * size.width + column]))
                    }
                } / columns.count / size.height
            }
        }
        #expect(error(0..<150, before) < 8)
        #expect(error(0..<150, after) > 20)
        #expect(error(170..<320, after) < 16)
    }

    @Test("A frame truncated at any length or with any byte changed is an error or decodes, without a trap")
    func garbage() throws {
        let small = PixelSize(width: 48, height: 32)
        let encoder = try makeEncoder { $0.size = small }
        let frames = try encoder.encode(scrolling(2, size: small)).compactMap { $0?.data }
        let (key, delta) = (frames[0], frames[1])
        let decoder = try VP8Decoder(largestSize: PixelSize(width: 256, height: 256))
        for length in 0..<key.count {
            _ = try? decoder.decode(Array(key[..<length]))
        }
        for index in key.indices {
            for bit in [0x01, 0x80, 0xFF] as [UInt8] {
                var damaged = key
                damaged[index] ^= bit
                _ = try? decoder.decode(damaged)
                _ = try? decoder.decode(delta)
            }
        }
        for index in delta.indices {
            _ = try decoder.decode(key)
            var damaged = delta
            damaged[index] ^= 0xFF
            _ = try? decoder.decode(damaged)
            _ = try? decoder.decode(Array(delta[..<index]))
        }
        var generator: UInt64 = 7
        for length in 1..<400 {
            let noise = (0..<length).map { _ -> UInt8 in
                generator = generator &* 6_364_136_223_846_793_005 &+ 1
                return UInt8(truncatingIfNeeded: generator >> 56)
            }
            _ = try? decoder.decode(noise)
        }
        // A key frame mends it.
        let mended = try #require(try decoder.decode(key))
        let fresh = try #require(try VP8Decoder().decode(key))
        #expect(try StructuralSimilarity.luma(mended, fresh) == 1)
    }

    @Test("The decoder's errors state the reason")
    func decoderErrors() throws {
        let frames = try makeEncoder().encode(scrolling(2)).compactMap { $0?.data }
        let decoder = try VP8Decoder(largestSize: PixelSize(width: 320, height: 239))
        #expect(throws: VideoCodingError.emptyFrame) { _ = try decoder.decode([] as [UInt8]) }
        #expect(throws: VideoCodingError.keyFrameNeeded) { _ = try decoder.decode(frames[1]) }
        #expect(throws: VideoCodingError.pictureTooLarge(size: size, limit: decoder.largestSize)) {
            _ = try decoder.decode(frames[0])
        }
        #expect(throws: VideoCodingError.corruptedFrame(reason: "a key frame's header is truncated")) {
            _ = try decoder.decode(Array(frames[0][..<9]))
        }
    }

    @Test("Decoded frames stay unchanged while later frames are decoded")
    func picturesStay() throws {
        let pictures = scrolling(8)
        let decoder = try VP8Decoder()
        let decoded = try makeEncoder { $0.bitrate = .kilobitsPerSecond(2000) }.encode(pictures).compactMap { frame in
            try frame.flatMap { try decoder.decode($0.data) }
        }
        for (one, other) in zip(decoded, pictures) { #expect(try StructuralSimilarity.luma(one, other) > 0.85) }
    }
}

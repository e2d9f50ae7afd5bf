import RTCShareMedia
import RTCShareRTP
import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("AV1", .enabled(if: CodecLibraries.hasAV1, "libaom3 or libdav1d6 is not installed"))
struct AV1Tests {
    private let size = PixelSize(width: 320, height: 240)

    private func scrolling(_ count: Int, size: PixelSize? = nil) -> [PixelBuffer] {
        let picture = TextPicture(size: size ?? self.size)
        return (0..<count).map { picture.scrolled(by: $0 * 2).coloured(1) }
    }

    private func encode(_ pictures: [PixelBuffer], quantizer: Int = 30) throws -> [AV1Coder.Frame] {
        let coder = try AV1Coder(.init(size: try #require(pictures.first).size))
        return try pictures.map { try #require(try coder.encode($0, quantizer: quantizer)) }
    }

    @Test("Frames of random sizes, quantizers and key frames decode as FFmpeg's libaom decodes them", arguments: 1...6)
    func roundTrip(seed: UInt64) throws {
        var numbers = SeededNumbers(seed)
        let decoder = try AV1Decoder()
        let judge = CodecLibraries.hasFFmpeg ? try FFmpegDecoder("libaom-av1") : nil
        var coder: AV1Coder?
        for _ in 0..<3 {
            let size = PixelSize(
                width: Int.random(in: 1...200, using: &numbers), height: Int.random(in: 1...200, using: &numbers))
            let configuration = AV1Coder.Configuration(
                size: size, hint: .random(using: &numbers), threads: Int.random(in: 1...2, using: &numbers))
            try coder?.reconfigure(configuration)
            let sizeCoder = try coder ?? AV1Coder(configuration)
            coder = sizeCoder
            var picture = ChangingPicture(size: size, seed: seed)
            for index in 0..<8 {
                let (quantizer, wantsKey) = (Int.random(in: 1...63, using: &numbers), index == 5)
                let source = picture.i420
                let frame = try #require(
                    try sizeCoder.encode(
                        source, quantizer: quantizer, asKeyFrame: wantsKey, refines: Bool.random(using: &numbers),
                        isNatural: Bool.random(using: &numbers)))
                #expect(frame.isKeyFrame == (index == 0 || wantsKey))
                let shown = try #require(try decoder.decode(frame.data))
                #expect(shown.size == size && decoder.lastQuantizer == frame.quantizer)
                let ratio = try StructuralSimilarity.peakSignalToNoiseRatio(shown, source)
                #expect(ratio > 40 - Double(quantizer) / 2, "\(size), \(quantizer), frame \(index)")
                if let judge { #expect(try judge.decode(frame.data, shows: shown), "\(size), frame \(index)") }
                picture.change(&numbers)
            }
        }
    }

    @Test("A key frame begins with a sequence header in BT.601, and no frame has a temporal delimiter")
    func units() throws {
        let coder = try AV1Coder(.init(size: size))
        for (index, picture) in scrolling(4).enumerated() {
            let frame = try #require(try coder.encode(picture, quantizer: 40, asKeyFrame: index == 2))
            var kinds: [OpenBitstreamUnit.Kind?] = []
            var position = 0
            while let unit = try OpenBitstreamUnit.next(in: frame.data.span.bytes, at: position) {
                kinds.append(unit.kind)
                position = unit.bytes.upperBound
                guard unit.kind == .sequenceHeader else { continue }
                let bits = unit.payload.map { String(Int(frame.data[$0]) + 256, radix: 2).dropFirst() }.joined()
                // `color_description_present_flag`, the primaries, transfer and matrix, and `color_range` (AV1 §5.5.2).
                #expect(bits.contains("10000011000000110000001100"))
            }
            #expect(frame.isKeyFrame == index.isMultiple(of: 2))
            #expect(kinds == (frame.isKeyFrame ? [.sequenceHeader, .frame] : [.frame]))
            let header = try AV1FrameHeader(parsing: frame.data.span.bytes)
            let coded = PixelSize(width: header.width, height: header.height)
            #expect(
                header.isKeyFrame == frame.isKeyFrame && coded == (frame.isKeyFrame ? size : .init(width: 0, height: 0))
            )
        }
    }

    @Test("A coarser quantizer makes frames smaller and less similar")
    func quantizers() throws {
        let picture = ChangingPicture(size: size, seed: 4).i420
        let results = try [2, 10, 20, 30, 40, 50, 60, 63].map { quantizer in
            let frame = try #require(try encode([picture], quantizer: quantizer).first)
            let shown = try #require(try AV1Decoder().decode(frame.data))
            return (frame.data.count, try StructuralSimilarity.peakSignalToNoiseRatio(shown, picture))
        }
        // Palettes show text exactly with each of the finer ones.
        for (finer, coarser) in zip(results, results.dropFirst()) {
            #expect(finer.0 > coarser.0 && (finer.1 > coarser.1 || coarser.1 == 128), "\(results)")
        }
    }

    @Test("A finer quantizer refines an unchanged frame")
    func refinement() throws {
        let picture = scrolling(1)[0]
        let coder = try AV1Coder(.init(size: size))
        let decoder = try AV1Decoder()
        var ratios: [Double] = []
        for quantizer in [60, 30, 10, 2] {
            let frame = try #require(try coder.encode(picture, quantizer: quantizer))
            let shown = try #require(try decoder.decode(frame.data))
            ratios.append(try StructuralSimilarity.peakSignalToNoiseRatio(shown, picture))
        }
        #expect(ratios == ratios.sorted() && ratios[3] > 50, "\(ratios)")
    }

    /// Debian's libaom ends the process here with a quantizer of 1 in each frame, and shows 40 dB with 0.
    @Test("The finest quantizer is used only where libaom's assertions hold", arguments: 1...8)
    func finestQuantizer(seed: UInt64) throws {
        var numbers = SeededNumbers(seed)
        let size = PixelSize(
            width: Int.random(in: 1...120, using: &numbers), height: Int.random(in: 1...120, using: &numbers))
        let coder = try AV1Coder(.init(size: size))
        let decoder = try AV1Decoder()
        var picture = ChangingPicture(size: size, seed: seed)
        var framesSinceKey = 0
        for index in 0..<60 {
            if Bool.random(using: &numbers) { picture.change(&numbers) }
            // Long enough without a key frame for the finest.
            let wantsKey = index < 30 && Int.random(in: 0..<10, using: &numbers) == 0
            let quantizer = Int.random(in: 0..<4, using: &numbers) == 0 ? Int.random(in: 1...63, using: &numbers) : 1
            let frame = try #require(
                try coder.encode(
                    picture.i420, quantizer: quantizer, asKeyFrame: wantsKey,
                    refines: Bool.random(using: &numbers),
                    isNatural: Bool.random(using: &numbers)))
            framesSinceKey = frame.isKeyFrame ? 0 : framesSinceKey + 1
            #expect(frame.quantizer >= (framesSinceKey < 18 ? 8 : 4))
            if quantizer == 1 { #expect(frame.quantizer == (framesSinceKey < 18 ? 8 : 4)) }
            #expect(try decoder.decode(frame.data)?.size == size)
        }
    }

    @Test("A frame of another size or format, or a setting out of range, is rejected")
    func refusals() throws {
        let coder = try AV1Coder(.init(size: size))
        let other = TextPicture(size: PixelSize(width: 16, height: 16)).i420
        #expect(throws: VideoCodingError.self) { try coder.encode(other, quantizer: 30) }
        for quantizer in [-1, 0, 64] {
            #expect(throws: VideoCodingError.self) { try coder.encode(scrolling(1)[0], quantizer: quantizer) }
        }
        for configuration in [
            AV1Coder.Configuration(size: PixelSize(width: 0, height: 10)),
            .init(size: PixelSize(width: 10, height: 20_000)), .init(size: size, threads: 0),
            .init(size: size, threads: 17),
        ] {
            #expect(throws: VideoCodingError.self) { try coder.reconfigure(configuration) }
            #expect(throws: VideoCodingError.self) { try AV1Coder(configuration) }
        }
        #expect(try coder.encode(scrolling(1)[0], quantizer: 30)?.isKeyFrame == true)
        #expect(try coder.encode(scrolling(2)[1], quantizer: 30)?.isKeyFrame == false)
    }

    @Test("A frame truncated at any length or with any byte changed is an error or decodes, without a trap")
    func garbage() throws {
        let frames = try encode(scrolling(2, size: PixelSize(width: 48, height: 32))).map(\.data)
        let (key, delta) = (frames[0], frames[1])
        let decoder = try AV1Decoder(largestSize: PixelSize(width: 256, height: 256))
        for length in 0..<key.count { _ = try? decoder.decode(Array(key[..<length])) }
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
        var numbers = SeededNumbers(7)
        for length in 1..<400 {
            _ = try? decoder.decode((0..<length).map { _ in UInt8.random(in: 0...255, using: &numbers) })
        }
        // A key frame repairs it.
        let repaired = try #require(try decoder.decode(key))
        let fresh = try #require(try AV1Decoder().decode(key))
        #expect(samples(repaired) == samples(fresh))
    }

    @Test("The decoder's errors state the reason, and only a key frame helps after one")
    func decoderErrors() throws {
        let frames = try encode(scrolling(3)).map(\.data)
        let small = try AV1Decoder(largestSize: PixelSize(width: 320, height: 239))
        #expect(throws: VideoCodingError.emptyFrame) { try small.decode([] as [UInt8]) }
        #expect(throws: VideoCodingError.keyFrameNeeded) { try small.decode(frames[1]) }
        #expect(throws: VideoCodingError.pictureTooLarge(size: size, limit: small.largestSize)) {
            try small.decode(frames[0])
        }
        let decoder = try AV1Decoder()
        _ = try decoder.decode(frames[0])
        #expect(throws: VideoCodingError.self) { try decoder.decode([0x32, 0x05, 0x00]) }
        #expect(throws: VideoCodingError.keyFrameNeeded) { try decoder.decode(frames[1]) }
        _ = try decoder.decode(frames[0])
        #expect(try decoder.decode(frames[1])?.size == size)
    }

    @Test("Decoded frames stay unchanged while later frames are decoded")
    func picturesStay() throws {
        let pictures = scrolling(8)
        let decoder = try AV1Decoder()
        let decoded = try encode(pictures).compactMap { try decoder.decode($0.data) }
        for (one, other) in zip(decoded, pictures) { #expect(try StructuralSimilarity.luma(one, other) > 0.9) }
    }
}

extension ContentHint {
    static func random(using numbers: inout SeededNumbers) -> ContentHint {
        allCases.randomElement(using: &numbers) ?? .detail
    }
}

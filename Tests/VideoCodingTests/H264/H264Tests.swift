import RTCShareMedia
import RTCShareRTP
import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("H.264", .enabled(if: CodecLibraries.hasH264, "libopenh264-7 is not installed"))
struct H264Tests {
    private let size = PixelSize(width: 320, height: 240)

    private func scrolling(_ count: Int, size: PixelSize? = nil) -> [PixelBuffer] {
        let picture = TextPicture(size: size ?? self.size)
        return (0..<count).map { picture.scrolled(by: $0 * 2).coloured(1) }
    }

    private func encode(_ pictures: [PixelBuffer], quantizer: Int = 24) throws -> [H264Coder.Frame] {
        let coder = try H264Coder(.init(size: try #require(pictures.first).size))
        return try pictures.map { try #require(try coder.encode($0, quantizer: quantizer)) }
    }

    @Test("Frames of random sizes, quantizers and key frames decode as FFmpeg decodes them", arguments: 1...6)
    func roundTrip(seed: UInt64) throws {
        var numbers = SeededNumbers(seed)
        let decoder = try H264Decoder()
        let judge = CodecLibraries.hasFFmpeg ? try FFmpegDecoder("h264") : nil
        var coder: H264Coder?
        for _ in 0..<3 {
            let size = PixelSize(
                width: Int.random(in: 16...200, using: &numbers), height: Int.random(in: 16...200, using: &numbers))
            let configuration = H264Coder.Configuration(size: size, hint: .random(using: &numbers))
            try coder?.reconfigure(configuration)
            let sizeCoder = try coder ?? H264Coder(configuration)
            coder = sizeCoder
            var picture = ChangingPicture(size: size, seed: seed)
            for index in 0..<8 {
                let (quantizer, wantsKey) = (Int.random(in: 8...51, using: &numbers), index == 5)
                let source = picture.i420
                let frame = try #require(
                    try sizeCoder.encode(source, quantizer: quantizer, asKeyFrame: wantsKey))
                // A frame that did not fit is a coarser key frame.
                let isCoarser = frame.quantizer > quantizer
                #expect(frame.isKeyFrame == (index == 0 || wantsKey || isCoarser))
                let shown = try #require(try decoder.decode(frame.data))
                #expect(shown.size == frame.size && frame.size == configuration.codedSize)
                let ratio = try StructuralSimilarity.peakSignalToNoiseRatio(cropped(shown, to: size), source)
                #expect(ratio > 38 - Double(frame.quantizer) / 2, "\(size), \(quantizer), frame \(index)")
                if let judge { #expect(try judge.decode(frame.data, shows: shown), "\(size), frame \(index)") }
                picture.change(&numbers)
            }
        }
    }

    /// The upper left part.
    private func cropped(_ picture: PixelBuffer, to size: PixelSize) -> PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, strides in
            picture.withPlanes { set in
                for plane in 0..<3 {
                    let extent = PixelFormat.i420.planeExtent(plane, of: size)
                    for row in 0..<extent.rows {
                        UnsafeMutableRawBufferPointer(rebasing: planes[plane][(row * strides[plane])...]).copyMemory(
                            from: UnsafeRawBufferPointer(
                                rebasing: set.planes[plane][
                                    row * set.strides[plane]..<row * set.strides[plane] + extent.rowBytes]))
                    }
                }
            }
        }
    }

    @Test("A key frame begins with its parameter sets in constrained baseline profile, other frames have one slice")
    func units() throws {
        let coder = try H264Coder(.init(size: size))
        for (index, picture) in scrolling(4).enumerated() {
            let frame = try #require(try coder.encode(picture, quantizer: 30, asKeyFrame: index == 2))
            let units = try AnnexB.units(of: frame.data.span.bytes)
            #expect(frame.isKeyFrame == index.isMultiple(of: 2))
            #expect(units.map(\.type) == (frame.isKeyFrame ? [7, 8, 5] : [1]))
            let header = try H264FrameHeader(parsing: frame.data.span.bytes)
            #expect(header.isKeyFrame == frame.isKeyFrame && header.hasParameterSets == frame.isKeyFrame)
            guard frame.isKeyFrame else { continue }
            let parameters = try #require(header.sequenceParameters.first)
            #expect(
                parameters.width == size.width && parameters.height == size.height
                    && parameters.profileLevelID >> 8 == 0x42C0)
        }
    }

    @Test("An odd side is made even by repeating the last column or row")
    func oddSides() throws {
        let odd = PixelSize(width: 53, height: 47)
        let picture = TextPicture(size: odd).coloured(2)
        let frame = try #require(try encode([picture], quantizer: 4).first)
        #expect(frame.size == PixelSize(width: 54, height: 48))
        let shown = try #require(try H264Decoder().decode(frame.data))
        #expect(shown.size == frame.size)
        let luma = samples(shown)[0]
        for row in 0..<48 { #expect(abs(Int(luma[row * 54 + 53]) - Int(luma[row * 54 + 52])) < 8) }
        for column in 0..<54 { #expect(abs(Int(luma[47 * 54 + column]) - Int(luma[46 * 54 + column])) < 8) }
        #expect(try StructuralSimilarity.peakSignalToNoiseRatio(cropped(shown, to: odd), picture) > 45)
    }

    @Test(
        "A side of less than 16 is extended by repeating the last column or row",
        arguments: [(10, 6), (1, 40), (40, 3)])
    func smallSides(width: Int, height: Int) throws {
        let small = PixelSize(width: width, height: height)
        let picture = TextPicture(size: small).coloured(2)
        let frame = try #require(try encode([picture], quantizer: 4).first)
        #expect(frame.size == PixelSize(width: max(width, 16), height: max(height, 16)))
        let shown = try #require(try H264Decoder().decode(frame.data))
        #expect(shown.size == frame.size)
        #expect(try StructuralSimilarity.peakSignalToNoiseRatio(cropped(shown, to: small), picture) > 40)
        for (plane, last) in zip(samples(shown), [(width, height), ((width + 1) / 2, (height + 1) / 2)]) {
            let stride = plane.count == frame.size.area ? frame.size.width : frame.size.width / 2
            for row in 0..<plane.count / stride {
                for column in 0..<stride {
                    let inside = min(row, last.1 - 1) * stride + min(column, last.0 - 1)
                    #expect(abs(Int(plane[row * stride + column]) - Int(plane[inside])) < 12)
                }
            }
        }
    }

    @Test("A coarser quantizer makes frames smaller and less similar")
    func quantizers() throws {
        let picture = TextPicture(size: size, seed: 4).i420
        let results = try [0, 8, 16, 24, 32, 40, 51].map { quantizer in
            let frame = try #require(try encode([picture], quantizer: quantizer).first)
            let shown = try #require(try H264Decoder().decode(frame.data))
            return (frame.data.count, try StructuralSimilarity.peakSignalToNoiseRatio(shown, picture))
        }
        for (finer, coarser) in zip(results, results.dropFirst()) {
            #expect(finer.0 > coarser.0 && finer.1 > coarser.1, "\(results)")
        }
    }

    @Test("A finer quantizer refines an unchanged frame without a key frame")
    func refinement() throws {
        let picture = scrolling(1)[0]
        let coder = try H264Coder(.init(size: size))
        let decoder = try H264Decoder()
        var ratios: [Double] = []
        for (index, quantizer) in [40, 24, 12, 1].enumerated() {
            let frame = try #require(try coder.encode(picture, quantizer: quantizer))
            #expect(frame.isKeyFrame == (index == 0))
            let shown = try #require(try decoder.decode(frame.data))
            ratios.append(try StructuralSimilarity.peakSignalToNoiseRatio(shown, picture))
        }
        #expect(ratios == ratios.sorted() && ratios[3] > 50, "\(ratios)")
    }

    @Test("Noise that needs more memory than OpenH264 has becomes a coarser key frame")
    func noise() throws {
        var numbers = SeededNumbers(5)
        let pictures = (0..<3).map { _ in
            PixelBuffer(size: size, format: .i420) { planes, _ in
                for plane in planes {
                    for index in plane.indices { plane[index] = UInt8.random(in: 0...255, using: &numbers) }
                }
            }
        }
        let decoder = try H264Decoder()
        for frame in try encode(pictures, quantizer: 0) {
            #expect(frame.isKeyFrame && frame.quantizer > 0 && frame.data.count < size.area)
            #expect(try decoder.decode(frame.data)?.size == size)
        }
    }

    @Test("A frame of another size or format, or a setting out of range, is rejected")
    func refusals() throws {
        let coder = try H264Coder(.init(size: size))
        let other = TextPicture(size: PixelSize(width: 16, height: 16)).i420
        #expect(throws: VideoCodingError.self) { try coder.encode(other, quantizer: 30) }
        for quantizer in [-1, 52] {
            #expect(throws: VideoCodingError.self) { try coder.encode(scrolling(1)[0], quantizer: quantizer) }
        }
        for (width, height) in [(7680, 4320), (8700, 16), (0, 0), (0, 100), (100, 0)] {
            let configuration = H264Coder.Configuration(size: PixelSize(width: width, height: height))
            #expect(throws: VideoCodingError.self) { try coder.reconfigure(configuration) }
            #expect(throws: VideoCodingError.self) { try H264Coder(configuration) }
        }
        #expect(try coder.encode(scrolling(1)[0], quantizer: 30)?.isKeyFrame == true)
        #expect(try coder.encode(scrolling(2)[1], quantizer: 30)?.isKeyFrame == false)
    }

    @Test(
        "The smallest and the largest sizes of level 5.2 are encoded",
        arguments: [(16, 16), (4096, 2304), (8688, 16)])
    func largestSizes(width: Int, height: Int) throws {
        let size = PixelSize(width: width, height: height)
        let gray = PixelBuffer(size: size, format: .i420) { planes, _ in
            for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: 128) }
        }
        let frame = try #require(try encode([gray], quantizer: 40).first)
        #expect(try H264Decoder(largestSize: size).decode(frame.data)?.size == size || width > 8192)
    }

    @Test("A frame truncated at any length or with any byte changed is an error or decodes, without a trap")
    func garbage() throws {
        let frames = try encode(scrolling(2, size: PixelSize(width: 48, height: 32))).map(\.data)
        let (key, delta) = (frames[0], frames[1])
        let decoder = try H264Decoder(largestSize: PixelSize(width: 256, height: 256))
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
            let noise = (0..<length).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            _ = try? decoder.decode(noise)
            _ = try? decoder.decode(Array(key.prefix(30)) + noise)
        }
        // A key frame repairs it.
        let repaired = try #require(try decoder.decode(key))
        let fresh = try #require(try H264Decoder().decode(key))
        #expect(samples(repaired) == samples(fresh))
    }

    @Test("The decoder's errors state the reason, and only a key frame helps after one")
    func decoderErrors() throws {
        let frames = try encode(scrolling(4)).map(\.data)
        let small = try H264Decoder(largestSize: PixelSize(width: 320, height: 207))
        #expect(throws: VideoCodingError.emptyFrame) { try small.decode([] as [UInt8]) }
        #expect(throws: VideoCodingError.keyFrameNeeded) { try small.decode(frames[1]) }
        #expect(throws: VideoCodingError.pictureTooLarge(size: size, limit: small.largestSize)) {
            try small.decode(frames[0])
        }
        let decoder = try H264Decoder()
        _ = try decoder.decode(frames[0])
        #expect(throws: VideoCodingError.self) { try decoder.decode([0x41, 0x9A, 0x00]) }
        #expect(throws: VideoCodingError.keyFrameNeeded) { try decoder.decode(frames[1]) }
        _ = try decoder.decode(frames[0])
        #expect(try decoder.decode(frames[1])?.size == size)
        // The frame before was lost.
        #expect(throws: VideoCodingError.self) { try decoder.decode(frames[3]) }
        #expect(throws: VideoCodingError.keyFrameNeeded) { try decoder.decode(frames[3]) }
    }

    @Test("Decoded frames stay unchanged while later frames are decoded")
    func picturesStay() throws {
        let pictures = scrolling(8)
        let decoder = try H264Decoder()
        let decoded = try encode(pictures).compactMap { try decoder.decode($0.data) }
        for (one, other) in zip(decoded, pictures) { #expect(try StructuralSimilarity.luma(one, other) > 0.9) }
    }
}

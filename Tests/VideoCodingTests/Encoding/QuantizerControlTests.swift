import Glibc
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

@Suite struct QuantizerControlTests {
    private static let share = 100_000.0
    private static let picture = QuantizerControl.Picture(kind: .following, activity: .init(natural: 20_000))

    @Test("Fewer bits give a coarser quantizer within the limits")
    func order() {
        let control = QuantizerControl(.vp8)
        let quantizers = [10_000_000.0, 300_000, 200_000, 150_000, 1000].map {
            control.quantizer(for: Self.picture, bits: $0, in: 4...56)
        }
        #expect(quantizers == quantizers.sorted())
        #expect(quantizers.first == 4 && quantizers.last == 56)
        for (quantizer, bits) in zip(quantizers, [10_000_000.0, 300_000, 200_000, 150_000]) {
            #expect(control.bits(Self.picture, at: quantizer) <= bits)
        }
    }

    @Test("The complexity is learned from several frames, and one simple frame has little effect")
    func learning() {
        var control = QuantizerControl(.vp8)
        for _ in 0..<20 {
            let quantizer = control.quantizer(for: Self.picture, bits: Self.share, in: 4...63)
            // Of a picture that is twice as hard as any.
            control.record(
                Int(control.bits(Self.picture, at: quantizer) * 300 / complexity(control)), for: Self.picture,
                quantizer: quantizer)
        }
        #expect(abs(complexity(control) - 300) < 15)
        control.record(100, for: Self.picture, quantizer: 30)
        #expect(complexity(control) > 240)
    }

    @Test("The quantizer of a video settles with its own scale, which its sizes show, and swings with that of text")
    func video() {
        let range = AV1Coder.range
        for (motionScale, isMotion) in [(nil, false), (range.motionScale, false), (range.motionScale, true)] {
            var control = QuantizerControl(range.scale, motion: motionScale)
            control.isMotion = isMotion
            var quantizers = [30]
            for _ in 0..<60 {
                let last = quantizers[quantizers.count - 1]
                let finest = control.slightlyFiner(than: last, notBelow: 20)
                let quantizer = control.quantizer(for: Self.picture, bits: Self.share, in: finest...63)
                // Eight steps halve the size, and what a coarser frame left out is a part of the next one.
                let steps = Double(34 - quantizer + last - quantizer)
                control.record(Int(Self.share * pow(2, steps / 8)), for: Self.picture, quantizer: quantizer)
                quantizers.append(quantizer)
            }
            let settled = quantizers.suffix(30)
            #expect(((settled.max() ?? 0) - (settled.min() ?? 0) <= 2) == (motionScale != nil), "\(quantizers)")
        }
    }

    @Test("The sizes of text keep its scale, also after those of a video")
    func textAfterVideo() {
        let range = AV1Coder.range
        var control = QuantizerControl(range.scale, motion: range.motionScale)
        func give(_ scale: QuantizerControl.Scale, count: Int) {
            for quantizer in (0..<count).map({ [30, 60, 42, 55][$0 % 4] }) {
                control.record(Int(scale.weights[quantizer] * Self.share), for: Self.picture, quantizer: quantizer)
            }
        }
        func ratio() -> Double { control.bits(Self.picture, at: 60) / control.bits(Self.picture, at: 30) }
        let text = range.scale.weights[60] / range.scale.weights[30]
        give(range.scale, count: 20)
        #expect(abs(ratio() - text) < 0.01)
        give(range.motionScale, count: 20)
        #expect(ratio() < text / 2)
        give(range.scale, count: 20)
        #expect(abs(ratio() - text) < 0.01)
    }

    private func complexity(_ control: QuantizerControl) -> Double {
        let known = QuantizerControl(.vp8)
        return 150 * control.bits(Self.picture, at: 30) / known.bits(Self.picture, at: 30)
    }

    @Test("Quantizer indices of frame headers and libvpx's quantizers map to each other")
    func indices() {
        #expect(
            QuantizerControl.Scale.indices.count == 64
                && QuantizerControl.Scale.indices == QuantizerControl.Scale.indices.sorted())
        for quantizer in 0...63 {
            #expect(QuantizerControl.Scale.quantizer(ofIndex: QuantizerControl.Scale.indices[quantizer]) == quantizer)
        }
        #expect(QuantizerControl.Scale.quantizer(ofIndex: 6) == 5)
    }

    @Test("The first key frame has about the intended size", arguments: [400_000, 1_000_000, 4_000_000])
    func firstKeyFrame(bitsPerSecond: Int) throws {
        let size = PixelSize(width: 640, height: 480)
        var configuration = VP8Encoder.Configuration(size: size, bitrate: .bitsPerSecond(bitsPerSecond))
        configuration.minimumQuantizer = 4
        configuration.maximumQuantizer = 63
        let text = TextPicture(size: size, seed: 8).i420
        guard case .encoded(let frame) = try VP8Encoder(configuration: configuration).encode(text, timestamp: .zero)
        else { throw VideoCodingError.emptyPicture }
        let time = Double(frame.data.count * 8) / Double(bitsPerSecond)
        // As much as it may take, or as little as the finest or coarsest quantizer leaves, or blurred.
        #expect(time < 0.5)
        #expect(time > 0.12 || frame.quantizer == 4 || frame.isUnfinished)
    }

    @Test("Content that a coarser quantizer makes hardly smaller is fine, however few bits there are")
    func palettes() {
        let control = QuantizerControl(.init(weights: [4, 2, 1, 0.5], usualComplexity: 10, palettes: 0.2))
        let (flat, natural) = (PictureActivity(flat: 1000), PictureActivity(natural: 1000))
        for bits in [0.0, 1999, 2000, 1_000_000] {
            #expect(control.quantizer(for: .init(kind: .page, activity: flat), bits: bits, in: 0...3) == 0)
        }
        for (bits, quantizer) in [(0.0, 3), (9999, 3), (10_000, 2), (1_000_000, 0)] {
            #expect(control.quantizer(for: .init(kind: .page, activity: natural), bits: bits, in: 0...3) == quantizer)
        }
    }

    @Test("Macroblocks with at most eight colors are flat where palettes are told apart", arguments: 1...20)
    func flat(colors: Int) throws {
        let picture = PixelBuffer(size: PixelSize(width: 16, height: 16), format: .i420) { planes, strides in
            for row in 0..<16 {
                for column in 0..<16 { planes[0][row * strides[0] + column] = UInt8((row + column) % colors * 9) }
            }
        }
        let (told, all) = (
            try PictureActivity.sum(of: picture, hasPalettes: true), try PictureActivity.sum(of: picture)
        )
        #expect(all.flat == 0 && told == (colors <= 8 ? PictureActivity(flat: all.natural) : all))
    }

    @Test("The activities of the parts add up to the whole, and a uniform frame has none")
    func activity() throws {
        let size = PixelSize(width: 100, height: 70)
        let text = TextPicture(size: size, seed: 3).i420
        let all = try PictureActivity.sum(of: text).natural
        var (one, other) = (MacroblockMap(size: size), MacroblockMap(size: size))
        for index in one.cells.indices { index.isMultiple(of: 3) ? one.insert(index) : other.insert(index) }
        let (first, second) = (
            try PictureActivity.sum(of: text, in: one).natural, try PictureActivity.sum(of: text, in: other).natural
        )
        #expect(all > 0 && first > 0 && abs(first + second - all) < 0.001)
        #expect(try PictureActivity.sum(of: text, in: MacroblockMap(size: size)) == PictureActivity())
        let flat = PixelBuffer(size: size, format: .i420) { planes, _ in
            for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: 90) }
        }
        #expect(try PictureActivity.sum(of: flat) == PictureActivity())
    }
}

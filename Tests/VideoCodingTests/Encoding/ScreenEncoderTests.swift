import Foundation
import RTCShareMedia
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareVideoCoding

@Suite("Screen encoder")
struct ScreenEncoderTests {
    private static let codecs = CodecLibraries.screenCodecs

    private static let size = PixelSize(width: 640, height: 360)
    private static let bitsPerSecond = 500_000

    private func share(_ codec: VideoCodec, _ picture: @escaping (Int) -> any VideoFrameBuffer) throws -> EncodedShare {
        try EncodedShare(
            .text, codec: codec, bitsPerSecond: Self.bitsPerSecond, size: Self.size, looks: true, picture: picture)
    }

    private func signalToNoise(_ share: EncodedShare) throws -> Double {
        try StructuralSimilarity.peakSignalToNoiseRatio(try #require(share.seen), share.shown)
    }

    @Test(
        "The first frame of a page is as small as the route requires, and at rest the page becomes almost lossless",
        arguments: codecs)
    func rest(_ codec: VideoCodec) throws {
        let page = TextPicture(size: Self.size, seed: 3).i420
        var share = try share(codec) { _ in page }
        share.isStill = true
        try share.run(to: 10, bitsPerSecond: Self.bitsPerSecond)
        let first = try #require(share.frames.first)
        // The densest page needs twice as many bits in H.264.
        let limit = Duration.milliseconds(codec == .av1 ? 500 : 1000)
        #expect(first.isKeyFrame && first.arrival < limit && first.similarity > 0.7, "\(first)")
        let ratio = try signalToNoise(share)
        #expect(ratio > 56, "\(share.seconds)")
        // Then it costs nothing more.
        try share.run(to: 13, bitsPerSecond: Self.bitsPerSecond)
        #expect(share.seconds.suffix(2).allSatisfy { $0.frames <= 6 && $0.largest < 60 }, "\(share.seconds)")
    }

    /// A page without text, with a part of a photo or not.
    private static func page(_ size: PixelSize, hasPhoto: Bool) -> PixelBuffer {
        var random = SeededNumbers(7)
        let luma = (0..<size.area).map { index -> UInt8 in
            let (x, y) = (index % size.width - 96, index / size.width - 64)
            guard hasPhoto, (0..<128).contains(x), (0..<64).contains(y) else { return 235 }
            let wave = 40 * sin(Double(x) / 7) * cos(Double(y) / 5)
            return UInt8(120 + wave + Double.random(in: -12...12, using: &random))
        }
        return TextPicture(size: size, luma: luma).i420
    }

    @Test("A photo that appears on a fine page becomes as fine", arguments: codecs)
    func appearingPhoto(_ codec: VideoCodec) throws {
        let size = PixelSize(width: 320, height: 176)
        let pages = [false, true].map { Self.page(size, hasPhoto: $0) }
        var share = try EncodedShare(.text, codec: codec, bitsPerSecond: 2_000_000, size: size, looks: true) {
            pages[$0 < 60 ? 0 : 1]
        }
        try share.run(to: 10, bitsPerSecond: 2_000_000)
        #expect(try signalToNoise(share) > 53, "\(share.seconds)")
    }

    @Test("The colors of text that has scrolled become as fine as its shapes", arguments: codecs)
    func scrolledColors(_ codec: VideoCodec) throws {
        let text = TextPicture(size: Self.size, seed: 7)
        let pictures = (0...11).map { text.scrolled(by: $0 * 3).coloured(0) }
        var share = try share(codec) { pictures[min(max($0 - 60, 0) / 3, 11)] }
        try share.run(to: 12, bitsPerSecond: Self.bitsPerSecond)
        let (seen, shown) = (samples(try #require(share.seen)), samples(share.shown))
        for plane in 1...2 {
            let error = zip(seen[plane], shown[plane]).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
            #expect(error / Double(seen[plane].count) < 1, "plane \(plane)")
        }
    }

    @Test("A photo that moves as a whole is a video also in H.264", .enabled(if: CodecLibraries.hasH264))
    func movingPhoto() throws {
        let (size, bitsPerSecond) = (PixelSize(width: 320, height: 192), 1_500_000)
        var random = SeededNumbers(3)
        let width = 2400
        let world = (0..<width * size.height).map { index -> UInt8 in
            let (x, y) = (Double(index % width), Double(index / width))
            return UInt8(120 + 40 * sin(x / 9 + sin(y / 13)) * cos(y / 7) + Double.random(in: -16...16, using: &random))
        }
        var share = try EncodedShare(.none, codec: .h264, bitsPerSecond: bitsPerSecond, size: size) { number in
            let rows = (0..<size.height).map { world[$0 * width + number * 8..<$0 * width + number * 8 + size.width] }
            return TextPicture(size: size, luma: rows.flatMap { $0 }).i420
        }
        try share.run(to: 8, bitsPerSecond: bitsPerSecond)
        #expect(share.seconds.suffix(3).allSatisfy { $0.frames > 20 && $0.keyFrames < 4 }, "\(share.seconds)")
    }

    // In AV1, text is painted: it takes no more bits if it is fine.
    @Test(
        "Motion that waited for the queue is not coded as finely as a page after a rest",
        arguments: codecs.filter { $0 != .av1 } + [.vp8])
    func waitingMotion(_ codec: VideoCodec) throws {
        let (size, bitsPerSecond) = (PixelSize(width: 320, height: 180), 2_500_000)
        var sizes: [Int] = []
        for rests in [false, true] {
            var share = try EncodedShare(.text, codec: codec, bitsPerSecond: bitsPerSecond, size: size) {
                TextPicture(size: size, seed: UInt64($0)).i420
            }
            try share.run(to: 2, bitsPerSecond: bitsPerSecond)
            // The content moves on or rests. The queue is full for the last second of it.
            (share.isStill, share.changesAt) = (rests, 120)
            try share.run(to: 3, bitsPerSecond: bitsPerSecond)
            share.state.cadence.queueDidFill(true, now: .seconds(3))
            try share.run(to: 4, bitsPerSecond: bitsPerSecond)
            share.state.cadence.queueDidFill(false, now: .seconds(4))
            try share.run(to: 5, bitsPerSecond: bitsPerSecond)
            let first = try #require(share.frames.first { $0.time >= .seconds(4) })
            sizes.append(first.byteCount)
        }
        #expect(Double(sizes[0]) < 0.9 * Double(sizes[1]), "\(sizes)")
    }

    @Test("A fine page that its source redraws costs as little as one at rest", arguments: codecs)
    func redrawing(_ codec: VideoCodec) throws {
        let page = TextPicture(size: Self.size, seed: 3).i420
        var share = try share(codec) { _ in page }
        try share.run(to: 14, bitsPerSecond: Self.bitsPerSecond)
        let rest = share.seconds.suffix(2)
        #expect(rest.allSatisfy { (1...6).contains($0.frames) && $0.largest < 60 }, "\(share.seconds)")
        #expect(try signalToNoise(share) > 56)
    }

    @Test("Content that only turns is sent at once", arguments: codecs)
    func rotation(_ codec: VideoCodec) throws {
        let page = TextPicture(size: Self.size, seed: 3).i420
        var control = EncoderControl(settings: .init(bitrate: .kilobitsPerSecond(2000)), codec: codec, now: .zero)
        let encoder = try codec.makeEncoder(Self.size, control.settings)
        var input = PictureInput()
        var outcomes: [EncodingOutcome] = []
        for (index, rotation) in ([VideoRotation](repeating: .upright, count: 60) + [.half]).enumerated() {
            let time = Duration.seconds(index) / 30
            control.begin(new: true, now: time)
            let order = control.order(isNew: true)
            try input.take(VideoFrame(buffer: page, timestamp: time, rotation: rotation), order: order)
            outcomes.append(
                try encoder.encode(&input, timestamp: time, asKeyFrame: index == 0, order: order).outcome)
        }
        guard case .unchanged = outcomes[59], case .encoded(let last) = outcomes[60] else {
            Issue.record("\(outcomes.suffix(2))")
            return
        }
        #expect(last.rotation == .half)
    }

    @Test("A page that scrolls farther than vectors of VP8 reach is moved in AV1", .enabled(if: CodecLibraries.hasAV1))
    func distantScroll() throws {
        let size = PixelSize(width: 320, height: 1000)
        let page = TextPage(width: 320, height: 1800)
        let pictures = [0, 300, 0].map { page.shown(size, from: $0).i420 }
        var share = try EncodedShare(
            .text, codec: .av1, bitsPerSecond: 2_000_000, size: size, looks: true
        ) { pictures[min($0 / 60, 2)] }
        try share.run(to: 5, bitsPerSecond: 400_000)
        let encoder = try #require(share.encoder as? ScreenEncoder<AV1Coder>)
        #expect(samples(try #require(share.seen)) == samples(encoder.shown))
        let moved = share.frames.filter { $0.time >= .seconds(2) && $0.time < .seconds(2.1) }
        let first = share.frames[0]
        #expect(!moved.isEmpty && moved.allSatisfy { !$0.isKeyFrame && $0.byteCount < first.byteCount }, "\(moved)")
    }

    @Test("A scrolled page stays sharp", arguments: codecs)
    func scroll(_ codec: VideoCodec) throws {
        let text = TextPicture(size: Self.size, seed: 7)
        var share = try share(codec) { text.scrolled(by: $0 * 3).i420 }
        try share.run(to: 3, bitsPerSecond: Self.bitsPerSecond)
        let least = share.frames.dropFirst(15).map(\.similarity).min() ?? 0
        #expect(least > 0.95)
        #expect(share.seconds.dropFirst().allSatisfy { $0.frames == 30 && $0.keyFrames == 0 }, "\(share.seconds)")
    }

    @Test("Another page of plain text is almost exact at once in AV1", .enabled(if: CodecLibraries.hasAV1))
    func nextPage() throws {
        let pages = [3, 4].map { TextPicture(size: Self.size, seed: $0).i420 }
        var share = try share(.av1) { pages[$0 < 60 ? 0 : 1] }
        try share.run(to: 3, bitsPerSecond: Self.bitsPerSecond)
        let next = try #require(share.frames.first { $0.time >= .seconds(2) })
        #expect(next.similarity > 0.99999 && next.arrival - next.time < .milliseconds(500), "\(next)")
    }

    @Test("A video's key frame is so small that its next frame is not late", arguments: codecs)
    func videoKeyFrame(codec: VideoCodec) throws {
        let text = TextPicture(size: Self.size, seed: 7)
        let delays = try [ContentHint.text, .motion].map { hint in
            var share = try EncodedShare(hint, codec: codec, bitsPerSecond: Self.bitsPerSecond, size: Self.size) {
                text.scrolled(by: $0 * 40).i420
            }
            try share.run(to: 1, bitsPerSecond: Self.bitsPerSecond)
            let first = try #require(share.frames.first)
            return first.arrival - first.time
        }
        #expect(delays[1] < .milliseconds(200) && delays[1] * 5 / 4 < delays[0], "\(delays)")
    }

    @Test("In AV1, new text over old is exact, and as small as in a key frame", .enabled(if: CodecLibraries.hasAV1))
    func textOverText() throws {
        let (text, other) = (TextPicture(size: Self.size, seed: 3), TextPicture(size: Self.size, seed: 4))
        // Less than half of the frame, where the old text predicts a little of the new one.
        let height = Self.size.height * 2 / 5
        let mixed = TextPicture(
            size: Self.size,
            luma: Array(other.luma.prefix(Self.size.width * height) + text.luma.dropFirst(Self.size.width * height)))
        let pages = [text.i420, mixed.i420]
        var share = try share(.av1) { pages[$0 < 60 ? 0 : 1] }
        try share.run(to: 3, bitsPerSecond: Self.bitsPerSecond)
        let (first, next) = (share.frames[0], try #require(share.frames.first { $0.time >= .seconds(2) }))
        #expect(!next.isKeyFrame && next.byteCount < first.byteCount && next.similarity > 0.99999, "\(first), \(next)")
    }

    @Test("In AV1, text that scrolls by several lines costs its new lines", .enabled(if: CodecLibraries.hasAV1))
    func lines() throws {
        let text = TextPicture(size: Self.size, seed: 7)
        var share = try share(.av1) { text.scrolled(by: max($0 - 60, 0) * 37).i420 }
        try share.run(to: 4, bitsPerSecond: Self.bitsPerSecond)
        let (first, later) = (share.frames[0], share.frames.filter { $0.time >= .milliseconds(2100) })
        #expect(later.count > 25 && later.allSatisfy { $0.similarity > 0.98 }, "\(share.seconds)")
        // A tenth of the rows is new with each frame.
        let mean = later.reduce(0) { $0 + $1.byteCount } / later.count
        #expect(mean * 2 < first.byteCount, "\(first), \(mean)")
    }

    @Test(
        "In AV1, a menu costs its text, and closed again almost nothing, over text or an image",
        .enabled(if: CodecLibraries.hasAV1), arguments: [false, true])
    func menu(overImage: Bool) throws {
        let (text, other) = (TextPicture(size: Self.size, seed: 3), TextPicture(size: Self.size, seed: 4))
        let columns = Self.size.width
        let image = (0..<Self.size.area).map { UInt8(100 + ($0 % columns * 7 ^ $0 / columns * 13) % 61) }
        let page = overImage ? image : text.luma
        var covered = page
        for row in 64..<264 {
            let line = row * columns
            covered.replaceSubrange(line + 64..<line + 304, with: other.luma[line + 64..<line + 304])
        }
        let pages = [page, covered].map { TextPicture(size: Self.size, luma: $0).i420 }
        var share = try EncodedShare(
            .text, codec: .av1, bitsPerSecond: 400_000, size: Self.size, looks: true
        ) { pages[(120..<135).contains($0) ? 1 : 0] }
        try share.run(to: 5, bitsPerSecond: 400_000)
        func frame(at time: Duration) throws -> EncodedShare.Frame {
            try #require(share.frames.first { $0.time >= time })
        }
        let (opened, closed) = (try frame(at: .seconds(4)), try frame(at: .milliseconds(4500)))
        #expect(opened.byteCount < 5000 && opened.similarity > 0.99, "\(opened)")
        #expect(closed.byteCount < (overImage ? 1000 : 5000) && closed.similarity > 0.99, "\(opened), \(closed)")
    }

    @Test("A page becomes fine although something small changes with each frame", arguments: codecs)
    func spinner(_ codec: VideoCodec) throws {
        let text = TextPicture(size: Self.size, seed: 5)
        var share = try share(codec) { index in
            var changed = text
            changed.draw(0x7E42_4242_7E02_827E, x: 40 + index % 8 * 8, y: 100)
            return changed.i420
        }
        try share.run(to: 3, bitsPerSecond: Self.bitsPerSecond)
        #expect(try signalToNoise(share) > 40)
        #expect(share.seconds.allSatisfy { $0.bits < Self.bitsPerSecond * 3 / 2 }, "\(share.seconds)")
    }

    @Test("The encoder knows exactly what viewers see, also at other sizes and after key frames", arguments: codecs)
    func reconstruction(_ codec: VideoCodec) throws {
        for (index, size) in [Self.size, PixelSize(width: 333, height: 201)].enumerated() {
            var picture = ChangingPicture(size: size, seed: 11)
            var numbers = SeededNumbers(UInt64(index))
            let frames = (0..<90).map { _ in
                picture.change(&numbers)
                return picture.i420
            }
            var share = try EncodedShare(.detail, codec: codec, bitsPerSecond: 400_000, size: size, looks: true) {
                frames[$0]
            }
            share.wantsKeyFrame = { $0 == 40 }
            try share.run(to: 3, bitsPerSecond: 400_000)
            let known: I420Picture? =
                switch share.encoder {
                case let encoder as ScreenEncoder<AV1Coder>: encoder.shown
                case let encoder as ScreenEncoder<H264FrameCoder>: encoder.shown
                default: nil
                }
            let seen = try #require(share.seen)
            #expect(samples(seen) == samples(try #require(known)))
        }
    }

    @Test("Frames that are smaller than a macroblock are encoded", arguments: codecs, [(100, 10), (12, 200)])
    func tiny(_ codec: VideoCodec, size: (width: Int, height: Int)) throws {
        let size = PixelSize(width: size.width, height: size.height)
        let page = TextPicture(size: size, seed: 3).coloured(2)
        var share = try EncodedShare(.text, codec: codec, bitsPerSecond: 500_000, size: size, looks: true) { _ in page }
        share.isStill = true
        try share.run(to: 2, bitsPerSecond: 500_000)
        let seen = try #require(share.seen)
        #expect(seen.size.width >= size.width && seen.size.height >= size.height)
        let (shown, own) = (samples(seen)[0], samples(page)[0])
        for row in 0..<size.height {
            for column in 0..<size.width {
                let difference = Int(shown[row * seen.size.width + column]) - Int(own[row * size.width + column])
                #expect(abs(difference) < 16)
            }
        }
    }

    @Test("OpenH264 adopts a hint with the next key frame, and makes none for it", .enabled(if: CodecLibraries.hasH264))
    func hint() throws {
        let coder = try H264FrameCoder(size: Self.size, hint: .detail)
        let shown = try I420Picture(size: Self.size)
        func encode(asKeyFrame: Bool = false, refines: Bool = false) throws -> Bool? {
            try coder.encode(
                replacing: shown, quantizer: 30, asKeyFrame: asKeyFrame, keepsLast: false, refines: refines,
                isNatural: false)?.isKeyFrame
        }
        #expect(try encode() == true)
        for hint in [ContentHint.motion, .detail, .motion] {
            #expect(try coder.reconfigure(size: Self.size, hint: hint) == false)
            #expect(try encode() == false)
        }
        #expect(try encode(asKeyFrame: true) == true && encode() == false)
        // At rest, a screen is coded again.
        #expect(try coder.reconfigure(size: Self.size, hint: .detail) == false && encode(refines: true) == false)
        #expect(try coder.reconfigure(size: Self.size, hint: .detail) && encode() == true)
        #expect(try coder.reconfigure(size: PixelSize(width: 320, height: 240), hint: .motion))
    }

    /// A coder that needs many bits and, like OpenH264 for noise, codes everything with the coarsest quantizer.
    private final class CoarseCoder: FrameCoder {
        static var format: any VideoPayloadFormat { .h264 }
        static var range: QuantizerRange { H264FrameCoder.range }
        var requests: [(quantizer: Int, isKeyFrame: Bool)] = []
        /// Whether it shows everything as it is.
        var isExact = false

        init(size: PixelSize, hint: ContentHint) throws(VideoCodingError) {}

        func reconfigure(size: PixelSize, hint: ContentHint) throws(VideoCodingError) -> Bool { false }

        func encode(
            replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, refines: Bool,
            isNatural: Bool
        ) throws(VideoCodingError) -> CodedFrame? {
            requests.append((quantizer, asKeyFrame))
            if !isExact { memset(shown.samples.luma, 128, shown.samples.lumaStride * shown.size.height) }
            let byteCount = requests.count == 1 ? 100_000 : 2000
            return CodedFrame(
                data: Array(repeating: 0, count: byteCount), isKeyFrame: true, quantizer: 51, replacement: 51)
        }
    }

    @Test("The encoder learns from the quantizer that a library used instead, and knows that it coded everything")
    func replacedQuantizer() throws {
        let page = TextPicture(size: Self.size, seed: 3)
        let encoder = try ScreenEncoder<CoarseCoder>(size: Self.size)
        var control = EncoderControl(
            settings: .init(bitrate: .kilobitsPerSecond(2000), hint: .detail), codec: .h264, now: .zero)
        var input = PictureInput()
        func encode(_ picture: PixelBuffer, at time: Duration, asKeyFrame: Bool = false) throws -> EncodedVideoFrame {
            control.begin(new: true, now: time)
            let order = control.order(isNew: true)
            try input.take(VideoFrame(buffer: picture, timestamp: time), order: order)
            guard
                case .encoded(let frame) = try encoder.encode(
                    &input, timestamp: time, asKeyFrame: asKeyFrame, order: order
                ).outcome
            else { throw VideoCodingError.emptyFrame }
            return frame
        }
        let first = try encode(page.i420, at: .zero)
        #expect(first.coarseness == 127)
        // So many bits at the coarsest quantizer would be several times as many at the one that was requested.
        _ = try encode(page.i420, at: .seconds(9), asKeyFrame: true)
        let requests = encoder.coder.requests.map(\.quantizer)
        #expect(requests[1] > requests[0] + 4, "\(requests)")
        // A change of a part becomes a key frame.
        var changed = page
        changed.draw(0x7E42_4242_7E02_827E, x: 40, y: 100)
        let part = try encode(changed.i420, at: .seconds(10))
        #expect(part.isKeyFrame && part.coarseness == 127)
        #expect(encoder.coder.requests[2].isKeyFrame == false)
        #expect(encoder.drawn.share == 1)
    }

    @Test(
        "Fine content counts as fine at a coarse quantizer, except a video", arguments: [ContentHint.detail, .motion])
    func measuredCoarseness(_ hint: ContentHint) throws {
        let encoder = try ScreenEncoder<CoarseCoder>(size: Self.size)
        encoder.coder.isExact = true
        var control = EncoderControl(
            settings: .init(bitrate: .kilobitsPerSecond(2000), hint: hint), codec: .h264, now: .zero)
        control.begin(new: true, now: .zero)
        let order = control.order(isNew: true)
        var input = PictureInput()
        try input.take(
            VideoFrame(buffer: TextPicture(size: Self.size, seed: 3).i420, timestamp: .zero), order: order)
        guard
            case .encoded(let frame) = try encoder.encode(
                &input, timestamp: .zero, asKeyFrame: true, order: order
            ).outcome
        else { throw VideoCodingError.emptyFrame }
        #expect(frame.coarseness == (hint == .motion ? 127 : 0))
    }

    /// A coder that can paint every second macroblock, for much more bits than the library needs.
    private final class PaintingCoder: FrameCoder {
        static var format: any VideoPayloadFormat { .av1 }
        static var range: QuantizerRange { AV1Coder.range }
        var paintedCounts: [Int] = []

        init(size: PixelSize, hint: ContentHint) throws(VideoCodingError) {}

        func reconfigure(size: PixelSize, hint: ContentHint) throws(VideoCodingError) -> Bool { false }

        func encode(
            replacing shown: I420Picture, quantizer: Int, asKeyFrame: Bool, keepsLast: Bool, refines: Bool,
            isNatural: Bool
        ) throws(VideoCodingError) -> CodedFrame? {
            CodedFrame(data: Array(repeating: 0, count: 500), isKeyFrame: asKeyFrame, quantizer: quantizer)
        }

        func paintingBits(of index: Int, in picture: any PixelPlanes) throws(VideoCodingError) -> Double? {
            index.isMultiple(of: 2) ? 300 : nil
        }

        func update(
            _ shown: I420Picture, by scrolls: [Scroll], painting macroblocks: MacroblockMap,
            of picture: any PixelPlanes, keepsLast: Bool
        ) throws(VideoCodingError) -> FrameUpdate? {
            paintedCounts.append(macroblocks.count)
            return FrameUpdate(byteCount: macroblocks.count * 300 / 8, keepsLast: false)
        }
    }

    @Test("What the library codes in fewer bits is not painted, at any frame rate", arguments: [0, 5])
    func paintedFilm(steps: Int) throws {
        let encoder = try ScreenEncoder<PaintingCoder>(size: Self.size)
        let settings = VideoEncoder.Settings(bitrate: .bitsPerSecond(Self.bitsPerSecond), hint: .detail)
        var governor = QualityGovernor(hint: .detail, framesPerSecond: 30, bitsPerSecond: Self.bitsPerSecond)
        governor.steps = Array(repeating: .bandwidth, count: steps)
        var ledger = BitLedger()
        ledger.setRates(settings.bitrate, burst: .zero, now: .zero)
        var input = PictureInput()
        for index in 0..<30 {
            let time = Duration.milliseconds(180 * index)
            ledger.pass(to: time)
            let order = EncodingOrder(
                settings: settings, sizeLimits: .init(), hint: .detail, isCamera: false, input: nil, ledger: ledger,
                governor: governor, isNew: true)
            let page = TextPicture(size: Self.size, seed: UInt64(index))
            try input.take(VideoFrame(buffer: page.i420, timestamp: time), order: order)
            if index == 15 { encoder.coder.paintedCounts = [] }
            _ = try encoder.encode(&input, timestamp: time, asKeyFrame: index == 0, order: order)
        }
        #expect(encoder.coder.paintedCounts.isEmpty)
    }
}

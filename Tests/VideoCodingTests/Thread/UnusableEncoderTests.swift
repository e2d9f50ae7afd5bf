import RTCShareLocks
import RTCShareMedia
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// Encoders that can't encode some frames, or none.
@Suite("Unusable encoders", .timeLimit(.minutes(1)))
struct UnusableEncoderTests {
    private static let error = VideoCodingError.codecFailed(library: "a", operation: "encoding", reason: "of the test")

    /// An encoder that encodes only frames of one width.
    private final class PartialEncoder: PictureEncoder {
        let ledger = BitLedger()
        let newShare = 1.0

        func encode(
            _ input: inout PictureInput, timestamp: Duration, asKeyFrame: Bool, order: EncodingOrder
        ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: EncodingOutcome) {
            guard let size = input.picture?.size, size.width == 64 else { throw error }
            input.didEncode()
            let frame = EncodedVideoFrame(data: [0], format: .vp8, isKeyFrame: true, size: size, timestamp: timestamp)
            return ([], .encoded(frame))
        }
    }

    private struct Outcomes {
        /// The sizes for which an encoder was to be made.
        var sizes: [PixelSize] = []
        var frames = 0
        var failures = 0
        /// The numbers of failures before each event that the encoder is unusable.
        var unusableAfter: [Int] = []
    }

    /// Encodes frames of these widths, each after the outcome of the one before, with an encoder that is made before the
    /// first one if `isPrepared` is true.
    private func encode(_ widths: [Int], canBegin: Bool = true, isPrepared: Bool = false) throws -> Outcomes {
        let outcomes = Mailbox(Outcomes())
        let codec = VideoCodec(
            format: .vp8, unavailability: { nil }, relativeSize: 1, relativeEffort: 1, implementation: ("a", "a")
        ) { (size, _) throws(VideoCodingError) in
            outcomes.post { $0.sizes.append(size) }
            guard canBegin else { throw Self.error }
            return PartialEncoder()
        } makeDecoder: { () throws(VideoCodingError) in
            try VP8Decoder()
        }
        let thread = try VideoEncoder(codec, settings: .init(bitrate: .kilobitsPerSecond(1000))) { _, _ in
            outcomes.post { $0.frames += 1 }
        } onEvent: { event in
            outcomes.post {
                switch event {
                case .failed: $0.failures += 1
                case .unusable: $0.unusableAfter.append($0.failures)
                case .drifted, .sourceEnded: Issue.record("\(event)")
                }
            }
        }
        if isPrepared {
            thread.prepare(for: PixelSize(width: 64, height: 32))
            outcomes.take { $0.sizes.isEmpty ? .wait(until: nil) : .done(()) }
        }
        let source = DirectSource()
        thread.show(source)
        let begin = CaptureClock.now
        for (index, width) in widths.enumerated() {
            let before = outcomes.read { $0 }
            let picture = TextPicture(size: PixelSize(width: width, height: 32), seed: UInt64(index + 1)).i420
            source.receive(VideoFrame(buffer: picture, timestamp: begin + .milliseconds(index * 40)))
            outcomes.take {
                let isDone = width == 64 && canBegin ? $0.frames > before.frames : $0.failures > before.failures
                return isDone ? .done(()) : .wait(until: nil)
            }
        }
        thread.stop()
        return outcomes.read { $0 }
    }

    @Test("An encoder that can't be made, or fails with the first frame, is unusable at once")
    func first() throws {
        #expect(try encode([64], canBegin: false).unusableAfter == [1])
        #expect(try encode([48]).unusableAfter == [1])
    }

    @Test("An encoder that is made before the first frame encodes it; if it can't be made, that frame has another try")
    func prepared() throws {
        let outcomes = try encode([64, 64], isPrepared: true)
        #expect(outcomes.sizes == [PixelSize(width: 64, height: 32)] && outcomes.frames == 2)
        let unusable = try encode([64], canBegin: false, isPrepared: true)
        #expect(unusable.sizes.count == 2 && unusable.failures == 1 && unusable.unusableAfter == [1])
    }

    @Test("An encoder that fails later is unusable after three failures in a row, once until it succeeds")
    func later() throws {
        #expect(try encode([64, 48, 48]).unusableAfter == [])
        #expect(try encode([64, 48, 48, 48, 48, 48]).unusableAfter == [3])
        #expect(try encode([64, 48, 48, 64, 48, 48]).unusableAfter == [])
        #expect(try encode([64, 48, 48, 48, 64, 48, 48, 48]).unusableAfter == [3, 6])
    }
}

/// The largest sizes of codecs.
@Suite struct EncodedSizeLimitsTests {
    private static let huge = PixelSize(width: 16_383, height: 16_383)

    /// Returns the size in which a codec encodes frames of a size.
    private func encoded(_ codec: VideoCodec, _ width: Int, _ height: Int) -> PixelSize {
        let settings = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(1000), maximumSize: Self.huge)
        let order = EncoderControl(settings: settings, codec: codec, now: .zero).order(isNew: true)
        let buffer = PixelBuffer(size: PixelSize(width: width, height: height), format: .bgra) { _, _ in }
        return order.sizes(for: VideoFrame(buffer: buffer, timestamp: .zero)).now
    }

    @Test("A frame that is too large for H.264 is scaled down for it, and keeps its shape")
    func large() throws {
        #expect(encoded(.h264, 3840, 2160) == PixelSize(width: 3840, height: 2160))
        #expect(encoded(.vp8, 7680, 4320) == PixelSize(width: 7680, height: 4320))
        for (width, height) in [(7680, 4320), (9000, 64), (64, 9000), (8000, 8000)] {
            let size = encoded(.h264, width, height)
            try H264Coder.Configuration(size: size).validate()
            #expect(size.macroblocks > 36_000 || max(size.width, size.height) > 8600, "\(size)")
            let change = Double(size.width * height) / Double(size.height * width)
            #expect(abs(change - 1) < 0.05, "\(size)")
        }
    }
}

import Glibc
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

/// A screen of windows, each of which shows some rows of a page of text in colours.
private struct Windows {
    let size: PixelSize
    private var luma: [UInt8]
    private var page: [UInt8]
    private let pageRows: Int
    private var windows: [(place: PixelRectangle, row: Int)] = []
    private var numbers: SeededNumbers

    init(size: PixelSize, seed: UInt64) {
        self.size = size
        numbers = SeededNumbers(seed)
        pageRows = size.height * 2
        page = TextPicture(size: PixelSize(width: size.width, height: pageRows), seed: seed).luma
        luma = Array(page[..<size.area])
        let (width, height) = (size.width * 2 / 5, size.height * 4 / 5)
        for x in [size.width / 20, size.width / 2 + 7] {
            let place = PixelRectangle(x: x, y: size.height / 11, size: PixelSize(width: width, height: height))
            windows.append((place, 0))
            draw(windows.count - 1)
        }
    }

    private mutating func draw(_ index: Int) {
        let (place, first) = windows[index]
        for y in 0..<place.size.height {
            let from = (first + y) * size.width + place.x
            let to = (place.y + y) * size.width + place.x
            luma.replaceSubrange(to..<to + place.size.width, with: page[from..<from + place.size.width])
        }
    }

    /// What happens on the screen.
    enum Change {
        case nothing, letter, line, scroll, scrollOfBoth, jump, film
    }

    /// Does it, and says where.
    mutating func make(_ change: Change) -> [PixelRectangle] {
        switch change {
        case .nothing: return []
        case .letter: return [draw(width: 12, height: 16)]
        case .line: return [draw(width: 300, height: 20)]
        case .scroll: return [scroll(Int.random(in: 0...1, using: &numbers))]
        case .scrollOfBoth: return [scroll(0), scroll(1)]
        case .jump:
            let index = Int.random(in: 0...1, using: &numbers)
            windows[index].row = Int.random(in: 0..<size.height, using: &numbers)
            draw(index)
            return [windows[index].place]
        case .film: return [draw(width: size.width / 3, height: size.height / 3)]
        }
    }

    private mutating func scroll(_ index: Int) -> PixelRectangle {
        let row = windows[index].row + Int.random(in: -90...90, using: &numbers)
        windows[index].row = min(max(row, 0), size.height - 1)
        draw(index)
        return windows[index].place
    }

    /// Something else in a rectangle somewhere.
    private mutating func draw(width: Int, height: Int) -> PixelRectangle {
        let place = PixelRectangle(
            x: Int.random(in: 0...size.width - width, using: &numbers),
            y: Int.random(in: 0...size.height - height, using: &numbers), size: PixelSize(width: width, height: height))
        let seed = UInt8.random(in: 0...255, using: &numbers)
        for y in place.y..<place.y + height {
            for x in place.x..<place.x + width {
                luma[y * size.width + x] = UInt8(truncatingIfNeeded: (x ^ y) &* Int(seed | 1))
            }
        }
        return place
    }

    /// As a source gives it: what is dark has a colour.
    var buffer: PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, strides in
            luma.withUnsafeBufferPointer { luma in
                for y in 0..<size.height {
                    let line = luma.baseAddress.map { $0 + y * size.width }
                    guard let line, let target = planes[0].baseAddress else { return }
                    memcpy(target + y * strides[0], line, size.width)
                    guard y.isMultiple(of: 2) else { continue }
                    for x in 0..<size.width / 2 {
                        let isDark = line[x * 2] < 100
                        planes[1][y / 2 * strides[1] + x] = isDark ? 90 : 128
                        planes[2][y / 2 * strides[2] + x] = isDark ? 170 : 128
                    }
                }
            }
        }
    }
}

/// What the encoder gives, as libvpx's decoder and FFmpeg's see it.
private struct TwoDecoders {
    private let encoder: VP8Encoder
    private let libvpx: VP8Decoder
    private let ffmpeg: FFmpegDecoder
    private let seen: ReferencePicture

    init(_ encoder: VP8Encoder, libvpx: VP8Decoder, ffmpeg: FFmpegDecoder) {
        (self.encoder, self.libvpx, self.ffmpeg) = (encoder, libvpx, ffmpeg)
        seen = ReferencePicture(size: encoder.configuration.size)
    }

    /// Both decode these frames alike, and have then what the encoder goes on from.
    func agree(_ frames: [EncodedVideoFrame]) throws -> Bool {
        var isSame = true
        for frame in frames {
            try libvpx.follow(frame.data)
            try libvpx.copy(.last, to: seen)
            isSame = try ffmpeg.decode(frame.data, showsWhatIs: seen, of: frame.size) && isSame
        }
        _ = try encoder.changeReference { (expected) -> Void? in
            isSame = expected.isSame(as: seen) && isSame
            return nil
        }
        return isSame
    }
}

@Suite(
    "Two decoders", .enabled(if: FFmpegLibrary.installed != nil, "libavcodec59 is not installed"),
    .timeLimit(.minutes(5)))
struct TwoDecodersTests {
    /// Kinds of frames: whether ours, what of the picture they say.
    private enum Kind: String, CaseIterable {
        case changes, rest, scrollAndNew, scrollAlone, library, libraryAfterScroll, keyFrame
    }

    /// What happens, as often as it stands here.
    private static let changes: [Windows.Change] = [
        .nothing, .nothing, .nothing, .nothing, .letter, .letter, .letter, .letter, .line, .scroll, .scroll, .scroll,
        .scrollOfBoth, .scrollOfBoth, .scrollOfBoth, .scrollOfBoth, .jump, .film,
    ]

    @Test(
        "libvpx's decoder and FFmpeg's show exactly what the encoder goes on from, by every kind of frame, after losses too",
        arguments: [(1920, 1080, 160, 1), (3840, 2160, 60, 2), (1366, 766, 120, 3)])
    func agreement(width: Int, height: Int, pictures: Int, seed: UInt64) throws {
        let size = PixelSize(width: width, height: height)
        var numbers = SeededNumbers(seed)
        var screen = Windows(size: size, seed: seed)
        var state = EncoderThreadState(
            settings: .init(bitrate: .kilobitsPerSecond(20000), maximumSize: size, hint: .text), now: .zero)
        var encoder = FrameEncoder()
        let (libvpx, ffmpeg) = (try VP8Decoder(), try FFmpegDecoder())
        var kinds: [Kind: Int] = [:]
        // Until when the viewer, who lost a frame, waits for the key frame that was asked for.
        var keyFrameAt: Int? = 0
        for index in 0..<pictures {
            let time = Duration.seconds(index) / 30
            let change = try #require(Self.changes.randomElement(using: &numbers))
            let damage = screen.make(change)
            let frame = VideoFrame(buffer: screen.buffer, timestamp: time, damage: index == 0 ? nil : damage)
            let isAsked = index == keyFrameAt || index % 97 == 50
            state.begin(new: true, now: time)
            let order = state.order(isNew: true)
            try encoder.take(damage.isEmpty && index > 0 ? nil : frame, order: order)
            let (leading, outcome) = try encoder.encode(timestamp: time, asKeyFrame: isAsked, order: order)
            var frames = leading
            if case .encoded(let last) = outcome { frames.append(last) }
            for frame in leading { kinds[kind(of: frame, leads: true, change), default: 0] += 1 }
            if frames.count > leading.count, let last = frames.last {
                kinds[kind(of: last, leads: false, change), default: 0] += 1
            }
            if let keyFrameAt, index < keyFrameAt { continue }
            if isAsked { keyFrameAt = nil }
            if keyFrameAt == nil, !isAsked, Int.random(in: 0..<30, using: &numbers) == 0 {
                // Of what is lost, and of what follows, nothing is decoded.
                keyFrameAt = index + Int.random(in: 1...4, using: &numbers)
                continue
            }
            let judges = TwoDecoders(try #require(encoder.encoder), libvpx: libvpx, ffmpeg: ffmpeg)
            try #require(try judges.agree(frames), "picture \(index), \(change)")
        }
        // More than a partial update takes comes into sight beside what scrolled on large screens alone.
        for kind in Kind.allCases where kind != .libraryAfterScroll || size.macroblocks > 10_000 {
            #expect(kinds[kind, default: 0] > 1, "\(kind): \(kinds)")
        }
    }

    private func kind(of frame: EncodedVideoFrame, leads: Bool, _ change: Windows.Change) -> Kind {
        if frame.isKeyFrame { return .keyFrame }
        if leads { return .scrollAlone }
        if frame.isScroll { return frame.isPartialUpdate ? .scrollAndNew : .libraryAfterScroll }
        guard frame.isPartialUpdate else { return .library }
        return change == .nothing ? .rest : .changes
    }
}

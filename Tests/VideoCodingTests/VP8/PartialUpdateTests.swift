import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// The choice of the encoder for small changes: ours or libvpx.
@Suite("Partial updates")
struct PartialUpdateTests {
    private static let size = PixelSize(width: 640, height: 480)

    /// Text that scrolls for two seconds, is written for another two, and then rests.
    private static let pictures: [PixelBuffer] = {
        let page = TextPage(width: 640, height: 1400)
        var text = page.shown(size, from: 0)
        return (0..<180).map { index in
            switch index {
            case ..<60: text = page.shown(size, from: index * 12)
            case ..<120: text.draw(0x7E42_4242_7E02_827E, x: 40 + index % 60 * 8, y: 100)
            default: break
            }
            return text.i420
        }
    }()

    private func share(_ change: (inout VideoEncoder.Settings) -> Void) throws -> EncodedShare {
        var share = try EncodedShare(.text, bitsPerSecond: 2_000_000, size: Self.size, looks: true) {
            Self.pictures[min($0, 179)]
        }
        var settings = share.state.settings
        change(&settings)
        share.state.apply(settings, now: .zero)
        return share
    }

    @Test("Typing and scrolling use partial updates; without them libvpx encodes each frame")
    func setting() throws {
        for isUsed in [true, false] {
            var share = try share { $0.usesPartialUpdates = isUsed }
            try share.run(to: 6, bitsPerSecond: 2_000_000)
            let statistics = share.state.statistics
            #expect(statistics.framesEncoded > 100)
            let updates = statistics.partialUpdatesEncoded
            #expect(isUsed ? updates > statistics.framesEncoded / 2 : updates == 0, "\(updates)")
            #expect(try share.similarity() > 0.98)
        }
    }

    @Test("Switching partial updates on and off needs no key frame and does not disturb the decoder")
    func liveSetting() throws {
        var share = try share { _ in }
        for (second, isUsed) in [(1, true), (2, false), (3, true), (4, false), (5, true), (6, false)] {
            var settings = share.state.settings
            settings.usesPartialUpdates = isUsed
            share.state.apply(settings, now: .seconds(second - 1))
            let before = share.state.statistics.partialUpdatesEncoded
            try share.run(to: second, bitsPerSecond: 2_000_000)
            let updates = share.state.statistics.partialUpdatesEncoded - before
            #expect(isUsed ? updates > 0 : updates == 0, "second \(second): \(updates)")
        }
        #expect(share.state.statistics.keyFramesEncoded == 1)
        #expect(try share.similarity() > 0.98)
    }
}

import RTCShareMedia
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// Changes that follow a blurred key frame, as those after a change of the codec.
@Suite("Changes of blurred content")
struct BlurredChangesTests {
    private static let size = PixelSize(width: 640, height: 360)
    private static let bitsPerSecond = 100_000

    /// Returns the frames of pictures of dense text that change from the first frame on.
    private func frames(_ picture: @escaping (Int) -> any VideoFrameBuffer) throws -> EncodedShare {
        var share = try EncodedShare(
            .detail, bitsPerSecond: Self.bitsPerSecond, size: Self.size, looks: true, picture: picture)
        var settings = share.state.settings
        settings.burstRate = settings.bitrate * 2.5
        share.state.apply(settings, now: .zero)
        try share.run(to: 3, bitsPerSecond: Self.bitsPerSecond)
        return share
    }

    private func longestGap(_ share: EncodedShare) -> Duration {
        let arrivals = share.frames.map(\.arrival)
        return zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.max() ?? .zero
    }

    @Test("Fast scrolling moves a blurred page, and sharpens it part by part")
    func scrolling() throws {
        let text = TextPicture(size: Self.size, seed: 7)
        let share = try frames { text.scrolled(by: $0 * 37).i420 }
        #expect(longestGap(share) < .milliseconds(850), "\(share.frames)")
        #expect(share.frames.count > 15, "\(share.frames)")
    }

    @Test("Pages that follow a blurred one are blurred, too, until one stays")
    func pages() throws {
        let pages = (0..<5).map { TextPicture(size: Self.size, seed: UInt64($0 + 1)).i420 }
        let share = try frames { pages[min($0 / 6, 4)] }
        #expect(longestGap(share) < .milliseconds(850), "\(share.frames)")
    }
}

import RTCShareMedia
import RTCSharePeerConnection
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCShareStreams

/// The effect of a peer's limits on its own encoding, and on one that it shares with others.
@Suite struct EncodingLimitsTests {
    private static let wanted = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(2000))

    private static func limits(
        kilobits: Int? = nil, frames: Double? = nil, macroblocks: Int? = nil
    ) -> SendingLimits {
        var limits = SendingLimits()
        limits.maximumBitrate = kilobits.map { .kilobitsPerSecond($0) }
        limits.maximumFramesPerSecond = frames
        limits.maximumMacroblocks = macroblocks
        return limits
    }

    @Test("A peer's limits hold for its own encoding, however low they are")
    func peerLimitsHold() {
        var settings = Self.wanted
        Self.limits(kilobits: 1, frames: 0.1, macroblocks: 48).apply(to: &settings, isShared: false)
        #expect(settings.bitrate == .kilobitsPerSecond(1) && settings.framesPerSecond == 0.1)
        #expect(settings.maximumSize.macroblocks <= 48)
    }

    @Test("A peer's limits lower a shared encoding to no less than 320x180 at 5 frames per second")
    func sharedFloor() {
        var settings = Self.wanted
        for _ in 0..<100 {
            Self.limits(kilobits: 1, frames: 0.1, macroblocks: 48).apply(to: &settings, isShared: true)
        }
        #expect(settings.bitrate == .kilobitsPerSecond(30) && settings.framesPerSecond == 5)
        #expect(settings.maximumSize == PixelSize(width: 1920, height: 1080).fitted(withinMacroblocks: 240))
        #expect(settings.maximumSize.width >= 320 && settings.maximumSize.height >= 180)
    }

    @Test("Limits above that hold for all peers of an encoding, and none raises the program's limits")
    func higherLimits() {
        var settings = Self.wanted
        Self.limits(kilobits: 900, frames: 15, macroblocks: 3600).apply(to: &settings, isShared: true)
        #expect(settings.bitrate == .kilobitsPerSecond(900) && settings.framesPerSecond == 15)
        #expect((3300...3600).contains(settings.maximumSize.macroblocks))
        settings = Self.wanted
        settings.framesPerSecond = 2
        Self.limits(kilobits: 9000, frames: 1, macroblocks: 1 << 20).apply(to: &settings, isShared: true)
        #expect(settings.bitrate == .kilobitsPerSecond(2000) && settings.framesPerSecond == 2)
        #expect(settings.maximumSize == Self.wanted.maximumSize)
    }

    @Test("A peer's fraction is the least of its bits, frames and sides")
    func leastShare() {
        let cases: [(SendingLimits, Double)] = [
            (Self.limits(), 1), (Self.limits(kilobits: 500), 0.25), (Self.limits(frames: 15), 0.5),
            (Self.limits(macroblocks: 8160 / 4), 0.5), (Self.limits(kilobits: 1000, frames: 3, macroblocks: 8000), 0.1),
            (Self.limits(kilobits: 90_000, frames: 300, macroblocks: 1 << 20), 1),
        ]
        for (limits, share) in cases { #expect(abs(limits.share(of: Self.wanted) - share) < 1e-9, "\(limits)") }
        // The default limits of browsers separate no viewer, whatever the screen.
        let firefox = Self.limits(frames: 60, macroblocks: 12_288)
        var large = Self.wanted
        large.maximumSize = PixelSize(width: 3840, height: 2160)
        #expect(
            firefox.share(of: Self.wanted) == 1 && firefox.share(of: large) > EncodingGroup<VideoSender>.climbingShare)
    }
}

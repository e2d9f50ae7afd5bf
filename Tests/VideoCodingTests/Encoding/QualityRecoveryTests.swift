import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// The thread's rule books with libvpx, without the thread: a picture of text that moves, and a network that dips.
@Suite("QualityGovernor with libvpx during a drop of the bitrate")
struct QualityRecoveryTests {
    private static let size = PixelSize(width: 1280, height: 720)

    @Test(
        "Sideways motion recovers within ten seconds of a drop of the bitrate",
        arguments: [(ContentHint.text, 1_500_000), (.motion, 4_000_000)])
    func dip(hint: ContentHint, bitsPerSecond: Int) throws {
        var share = try EncodedShare(hint, shift: 1, bitsPerSecond: bitsPerSecond, size: Self.size)
        try share.run(to: 10, bitsPerSecond: bitsPerSecond)
        try share.run(to: 16, bitsPerSecond: 200_000)
        #expect(share.state.governor.reason == .bandwidth)
        try share.run(to: 29, bitsPerSecond: bitsPerSecond)
        try expectRecovery(share)
    }

    @Test(
        "Scrolling text recovers within six seconds of a drop of the bitrate",
        arguments: [(1, 375_000), (3, 1_000_000), (3, 375_000)])
    func scroll(rows: Int, bitsPerSecond: Int) throws {
        let size = PixelSize(width: 640, height: 360)
        var share = try EncodedShare(.text, scroll: rows, bitsPerSecond: bitsPerSecond, size: size)
        try share.run(to: 10, bitsPerSecond: bitsPerSecond)
        try share.run(to: 14, bitsPerSecond: 50_000)
        try share.run(to: 20, bitsPerSecond: bitsPerSecond)
        try expectRecovery(share)
    }

    /// Expects the last three seconds to be as those before the tenth.
    private func expectRecovery(_ share: EncodedShare) throws {
        let (before, after) = (EncodedShare.Second(share.seconds[7..<10]), EncodedShare.Second(share.seconds.suffix(3)))
        #expect(Double(after.frames) > Double(before.frames) * 0.9, "\(before), then \(after)")
        #expect(after.quantizer < before.quantizer + 15 && after.width == before.width, "\(before), then \(after)")
    }

    @Test("Sideways motion recovers gradually with a bitrate that recovers gradually")
    func ramp() throws {
        var share = try EncodedShare(.motion, shift: 1, bitsPerSecond: 200_000, size: Self.size)
        try share.run(to: 6, bitsPerSecond: 200_000)
        #expect(share.state.governor.reason == .bandwidth)
        var rate = 200_000
        while rate < 4_000_000 {
            rate = min(rate * 109 / 100, 4_000_000)
            try share.run(to: share.seconds.count + 1, bitsPerSecond: rate)
        }
        try share.run(to: share.seconds.count + 10, bitsPerSecond: rate)
        let after = EncodedShare.Second(share.seconds.suffix(3))
        #expect(after.frames > 27 * 3 && after.width == Self.size.width && after.quantizer < 40, "\(after)")
    }

    @Test("A window dragged over text is shown in every frame and stays sharp")
    func drag() throws {
        let (desk, page) = (TextPicture(size: Self.size, seed: 7), TextPicture(size: Self.size, seed: 8))
        var share = try EncodedShare(.detail, bitsPerSecond: 1_500_000, size: Self.size, looks: true) { index in
            var picture = desk
            // Still for three seconds, to become sharp; then faster and faster.
            let step = max(index - 90, 0)
            let (x, y) = (20 + step * step / 20, 20 + step * 3)
            picture.fill(PixelRectangle(x: x, y: y, size: PixelSize(width: 480, height: 360))) {
                page.luma[($1 - y) * Self.size.width + $0 - x]
            }
            return picture.i420
        }
        try share.run(to: 6, bitsPerSecond: 1_500_000)
        let moving = share.frames.filter { $0.time >= .seconds(3) }
        #expect(moving.count >= 89, "\(moving.count)")
        let worst = moving.map(\.similarity).min() ?? 0
        #expect(worst > 0.97, "\(worst)")
        #expect(share.mostBits(from: .seconds(3), to: .seconds(6), in: .seconds(1), of: 1_500_000) < 1.1)
    }

    @Test("The quality does not oscillate at a constantly low bitrate", arguments: [ContentHint.text, .motion])
    func narrow(hint: ContentHint) throws {
        var share = try EncodedShare(hint, shift: 1, bitsPerSecond: 200_000, size: Self.size)
        try share.run(to: 15, bitsPerSecond: 200_000)
        let before = share.changes
        try share.run(to: 45, bitsPerSecond: 200_000)
        let changes = share.changes - before
        #expect(changes <= (hint == .motion ? 0 : 6), "\(changes) in half a minute")
        let bits = share.seconds[15...].reduce(0) { $0 + $1.bits } / 30
        #expect(bits < 500_000, "\(bits)")
    }
}

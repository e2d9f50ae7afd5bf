import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding

/// Programs and compositors that draw everything anew for something small: their source says that all changed, each time.
@Suite("Screens that are redrawn as a whole")
struct RedrawnScreenTests {
    private static let size = PixelSize(width: 1280, height: 720)
    private static let bitsPerSecond = 1_500_000

    /// A page of text with a small element that changes with every picture.
    private static func pictures(seed: UInt64) -> [PixelBuffer] {
        (0..<4).map { index in
            var picture = TextPicture(size: size, seed: seed)
            picture.draw(.max, x: 40 + index * 4, y: 400)
            return picture.i420
        }
    }

    @Test("Blurred parts become as fine as possible beside constant changes")
    func sharpening() throws {
        let pictures = Self.pictures(seed: 7)
        var share = try EncodedShare(.text, bitsPerSecond: Self.bitsPerSecond, size: Self.size) { pictures[$0 % 4] }
        try share.run(to: 6, bitsPerSecond: Self.bitsPerSecond)
        let last = try #require(share.seconds.last)
        #expect(last.frames >= 29 && last.quantizer <= 10, "\(last)")
    }

    @Test(
        "Small changes continue while the bits of a new page are being paid for",
        arguments: [2_000_000, 2_500_000, 3_500_000])
    func page(bitsPerSecond: Int) throws {
        let pages = [Self.pictures(seed: 7), Self.pictures(seed: 8)]
        var share = try EncodedShare(.text, bitsPerSecond: bitsPerSecond, size: Self.size, looks: true) {
            pages[$0 < 180 ? 0 : 1][$0 % 4]
        }
        try share.run(to: 9, bitsPerSecond: bitsPerSecond)
        let times = share.frames.map(\.time).filter { $0 >= .seconds(5.9) && $0 < .seconds(8) }
        let longest = try #require(zip(times, times.dropFirst()).map { $1 - $0 }.max())
        #expect(longest <= .milliseconds(150), "\(longest)")
        // It is sharp soon after.
        #expect(share.seconds[8].quantizer <= 10, "\(share.seconds[8])")
    }
}

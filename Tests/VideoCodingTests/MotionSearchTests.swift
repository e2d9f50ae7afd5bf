import Media
import TestSupport
import Testing

@testable import VideoCoding

@Suite struct MotionSearchTests {
    private static let screen = PixelSize(width: 1280, height: 720)

    @Test(
        "libvpx looks the further for what moved the more time a picture leaves, and less on a larger one",
        arguments: [
            (1.0, 1280, 720, Duration.milliseconds(50), -8, -3), (1, 1280, 720, .milliseconds(33), -8, -4),
            (0.7, 1280, 720, .milliseconds(33), -8, -3), (1, 1280, 720, .milliseconds(15), -8, -8),
            (1, 1920, 1080, .milliseconds(100), -8, -4), (0.9, 1920, 1080, .seconds(10), -8, -3),
            (0.09, 1280, 720, .seconds(1), -8, -8), (0, 1280, 720, .seconds(1), -8, -8),
            (1, 1280, 720, .seconds(1), -2, -2), (1, 1280, 720, .zero, -5, -5),
        ])
    func speed(change: Double, width: Int, height: Int, interval: Duration, fastest: Int, speed: Int) {
        var search = MotionSearch()
        let size = PixelSize(width: width, height: height)
        #expect(search.speed(change: change, of: size, interval: interval, fastest: fastest) == speed)
    }

    @Test("a machine on which it takes longer looks less far, and tries again later")
    func learns() {
        var search = MotionSearch()
        func speed() -> Int {
            search.speed(change: 1, of: Self.screen, interval: .milliseconds(50), fastest: -8)
        }
        for _ in 0..<10 where speed() == -3 {
            search.took(.milliseconds(60), speed: -3, change: 1, of: Self.screen)
        }
        #expect(speed() == -4)
        #expect((0..<200).contains { _ in speed() == -3 })
    }
}

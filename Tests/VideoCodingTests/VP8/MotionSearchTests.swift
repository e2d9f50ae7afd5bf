import RTCShareMedia
import Testing

@testable import RTCShareVideoCoding

@Suite struct MotionSearchTests {
    private static let screen = PixelSize(width: 1280, height: 720)

    @Test(
        "The search range grows with the time available per frame and shrinks with the frame's size",
        arguments: [
            (1.0, 1280, 720, Duration.milliseconds(50), -8, -3), (1, 1280, 720, .milliseconds(33), -8, -4),
            (0.7, 1280, 720, .milliseconds(33), -8, -3), (1, 1280, 720, .milliseconds(15), -8, -8),
            (1, 1920, 1080, .milliseconds(100), -8, -4), (0.9, 1920, 1080, .milliseconds(400), -8, -3),
            // A page that is new.
            (0.9, 1920, 1080, .milliseconds(500), -8, -8),
            (0.09, 1280, 720, .seconds(1), -8, -8), (0, 1280, 720, .seconds(1), -8, -8),
            (1, 1280, 720, .seconds(1), -2, -2), (1, 1280, 720, .zero, -5, -5),
        ])
    func speed(change: Double, width: Int, height: Int, interval: Duration, fastest: Int, speed: Int) {
        var search = MotionSearch()
        let size = PixelSize(width: width, height: height)
        #expect(
            search.speed(change: change, of: size, interval: interval, fastest: fastest, timestamp: .zero) == speed)
    }

    /// Returns the number of frames per second with a wide search, given the bytes that each kind of search takes.
    private func farPictures(seconds: Int, effort: Duration?, bytes: (far: Int, fastest: Int)) -> [Int] {
        var search = MotionSearch()
        return (0..<seconds).map { second in
            (0..<20).count { index in
                let speed = search.speed(
                    change: 1, of: Self.screen, interval: .milliseconds(50), fastest: -8,
                    timestamp: .seconds(second) + .milliseconds(50 * index))
                search.record(
                    effort, speed: speed, change: 1, of: Self.screen,
                    byteCount: speed == -8 ? bytes.fastest : bytes.far, quantizer: 50)
                return speed != -8
            }
        }
    }

    @Test("A wide search that saves bits is kept, with occasional trials of the fast one")
    func worthwhile() {
        let pictures = farPictures(seconds: 30, effort: nil, bytes: (far: 5000, fastest: 10_000))
        #expect(pictures.dropFirst().allSatisfy { $0 >= 17 })
        #expect(pictures.reduce(0, +) > 560 && pictures.reduce(0, +) < 600)
    }

    @Test("A wide search that saves no bits is only tried occasionally")
    func useless() {
        let pictures = farPictures(seconds: 30, effort: nil, bytes: (far: 9000, fastest: 10_000))
        #expect(pictures.dropFirst().allSatisfy { $0 <= 3 })
        #expect((20...60).contains(pictures.reduce(0, +)))
    }

    @Test("A slow CPU narrows the search and tries again later")
    func learns() {
        var search = MotionSearch()
        func speed() -> Int {
            search.speed(change: 1, of: Self.screen, interval: .milliseconds(50), fastest: -8, timestamp: .zero)
        }
        for _ in 0..<2 where speed() == -3 {
            search.record(
                .milliseconds(300), speed: -3, change: 1, of: Self.screen, byteCount: 1000, quantizer: 50)
        }
        #expect(speed() == -4)
        #expect((0..<400).contains { _ in speed() == -3 })
    }
}

import RTCShareMedia
import Testing

@testable import RTCSharePlayback

@Suite("The layout of frames in a window")
struct ViewLayoutTests {
    private func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    private func area(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRectangle {
        PixelRectangle(x: x, y: y, size: size(width, height))
    }

    @Test("A frame is as large as fits, centered, with its aspect")
    func fitted() {
        #expect(ViewLayout.fitted(size(1280, 720), in: area(0, 0, 1280, 720)) == area(0, 0, 1280, 720))
        #expect(ViewLayout.fitted(size(640, 360), in: area(0, 0, 1280, 720)) == area(0, 0, 1280, 720))
        #expect(ViewLayout.fitted(size(1280, 720), in: area(0, 0, 1000, 1000)) == area(0, 218, 1000, 563))
        #expect(ViewLayout.fitted(size(720, 1280), in: area(10, 20, 1280, 720)) == area(447, 20, 405, 720))
        #expect(ViewLayout.fitted(size(10_000, 1), in: area(0, 0, 100, 100)) == area(0, 49, 100, 1))
    }

    @Test(
        "An empty frame has no rectangle, and neither has a frame in an empty window",
        arguments: [(0, 5), (5, 0), (0, 0)])
    func empty(width: Int, height: Int) {
        #expect(ViewLayout.fitted(size(width, height), in: area(0, 0, 100, 100)) == nil)
        #expect(ViewLayout.fitted(size(100, 100), in: area(0, 0, width, height)) == nil)
        #expect(ViewLayout.corner(size(100, 100), of: area(0, 0, width, height)) == nil)
    }

    @Test("A frame in the corner is at the lower right, and no side exceeds a quarter of the window's")
    func corner() throws {
        #expect(ViewLayout.corner(size(640, 360), of: area(0, 0, 1280, 720)) == area(942, 522, 320, 180))
        let upright = try #require(ViewLayout.corner(size(360, 640), of: area(0, 0, 1280, 720)))
        #expect(upright == area(1161, 522, 101, 180))
    }

    @Test("A window has the size of its frame in the screen's pixels, or the largest size of that aspect that fits")
    func window() {
        let room = size(1800, 1000)
        #expect(ViewLayout.window(for: size(1280, 720), density: 1, room: room) == size(1280, 720))
        #expect(ViewLayout.window(for: size(1280, 720), density: 2, room: room) == size(640, 360))
        #expect(ViewLayout.window(for: size(1280, 720), density: 1.5, room: room) == size(854, 480))
        #expect(ViewLayout.window(for: size(3840, 2160), density: 1, room: room) == size(1778, 1000))
        #expect(ViewLayout.window(for: size(3840, 2160), density: 2, room: size(1920, 1080)) == size(1920, 1080))
    }

    @Test("A rotated frame is shown upright", arguments: VideoRotation.allCases)
    func rotation(_ rotation: VideoRotation) {
        let buffer = PixelBuffer(size: size(64, 32), format: .i420) { _, _ in }
        let frame = VideoFrame(buffer: buffer, timestamp: .zero, rotation: rotation)
        let turns = rotation == .quarter || rotation == .threeQuarters
        #expect(frame.sizeToBeSeen == (turns ? size(32, 64) : size(64, 32)))
    }
}

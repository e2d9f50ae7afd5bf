import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite(
    "Small pictures of windows", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb, xsetroot, xrandr, xdotool and import (ImageMagick)"))
struct WindowThumbnailTests {
    @Test(
        "Each window that can be seen has a picture of its own pixels, with its aspect, whatever covers it",
        arguments: [[], ["-extension", "MIT-SHM"]])
    func pictures(arguments: [String]) throws {
        let display = try VirtualDisplay(arguments: arguments)
        let client = try WindowClient(display: display)
        let wide = try client.window(400, 200, colour: 0xFF0000, border: 3)
        let small = try client.window(31, 21, colour: 0x00FF00)
        let closed = try client.window(50, 50, colour: 0x0000FF)
        let hidden = try client.window(50, 50)
        let windows = try WindowSource.windows(display: display.name)
        #expect(windows.map(\.id) == [wide, small, closed, hidden])
        try client.destroy(closed)
        try client.unmap(hidden)
        let bound = PixelSize(width: 100, height: 100)
        let thumbnails = try WindowSource.thumbnails(of: windows, fitting: bound, display: display.name)
        #expect(Set(thumbnails.keys) == [wide, small])
        #expect(thumbnails[wide]?.size == PixelSize(width: 100, height: 50))
        #expect(thumbnails[small]?.size == PixelSize(width: 30, height: 20))
        #expect(thumbnails[wide]?.colour(99, 49) == 0xFF0000)
        #expect(thumbnails[small]?.colour(29, 19) == 0x00FF00)
    }

    @Test("Of many windows only as many are kept in memory at a time as make a few screens, and none is left out")
    func batches() {
        func window(_ id: UInt32, _ width: Int, _ height: Int) -> DisplayWindow {
            DisplayWindow(
                id: id, title: "", application: nil, processID: nil, size: PixelSize(width: width, height: height))
        }
        let windows = (0..<100).map { window($0, 1920, 1080) }
        let batches = WindowThumbnails.batches(of: windows)
        #expect(batches.flatMap { $0 } == windows)
        #expect(batches.allSatisfy { $0.reduce(0) { $0 + $1.size.area } <= 32 << 20 })
        #expect(batches.count == 7)
        // A window of the largest size that X has is left out.
        #expect(WindowThumbnails.batches(of: [window(1, 65535, 65535), window(2, 8192, 4096)]).map(\.count) == [1])
        #expect(WindowThumbnails.batches(of: []).isEmpty)
    }
}

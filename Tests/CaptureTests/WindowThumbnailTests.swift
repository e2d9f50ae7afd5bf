import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite(
    "Thumbnails of windows", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb, xsetroot, xrandr, xdotool and import (ImageMagick)"))
struct WindowThumbnailTests {
    @Test(
        "Each visible window has a thumbnail of its own pixels, with its aspect, whatever covers it",
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

    @Test("Of many windows, only a few screens' worth is in memory at a time, and each has a thumbnail")
    func memory() {
        var queue = PixelQueue<Int>(capacity: ImageReader.mostPixels)
        var taken: [Int] = []
        for window in 0..<100 {
            while let next = queue.removeFirst(beforeAdding: 1920 * 1080) { taken.append(next) }
            queue.append(window, area: 1920 * 1080)
            #expect(queue.area <= 32 << 20)
        }
        #expect(taken.count == 84, "the others are there at the same time")
        while let next = queue.removeFirst() { taken.append(next) }
        #expect(taken == Array(0..<100) && queue.area == 0)
    }

    @Test("A window of the largest size that X permits has no thumbnail, and the others have one")
    func largest() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let small = try client.window(31, 21, colour: 0x00FF00)
        let large = DisplayWindow(
            id: 1, title: "", application: nil, processID: nil, size: PixelSize(width: 65535, height: 65535))
        let windows = [large] + (try WindowSource.windows(display: display.name))
        let bound = PixelSize(width: 100, height: 100)
        let thumbnails = try WindowSource.thumbnails(of: windows, fitting: bound, display: display.name)
        #expect(Set(thumbnails.keys) == [small])
    }
}

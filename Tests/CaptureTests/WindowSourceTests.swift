import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb, xsetroot, xrandr, xdotool and import (ImageMagick)"))
struct WindowSourceTests {
    private static let red: UInt32 = 0xFF0000
    private static let blue: UInt32 = 0x0000FF
    private static let grey: UInt32 = 0x808080

    /// A running source of one window, with its sink and observer.
    private struct Watched {
        let source: WindowSource
        let sink = Collector(keeping: 4)
        let observer = CaptureObserver()

        init(_ window: UInt32, of display: VirtualDisplay) throws {
            source = try WindowSource(.id(window), display: display.name, framesPerSecond: 50)
            source.add(sink)
            source.add(observer: observer)
            try source.start()
        }

        /// Waits for a frame of only one color, and of this size if given.
        func shows(_ colour: UInt32, _ size: PixelSize? = nil) -> Bool {
            sink.wait { sink in
                guard let frame = sink.frames.last else { return false }
                return (size.map { frame.size == $0 } ?? true) && Set(pixels(frame.buffer)) == [colour]
            }
        }
    }

    private static func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    @Test(
        "A frame is the window's own pixels without its border, whatever covers the window and whichever memory has it",
        arguments: [[], ["-extension", "MIT-SHM"]], [UInt8(24), 32])
    func covered(arguments: [String], depth: UInt8) throws {
        let display = try VirtualDisplay(arguments: arguments)
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(201, 151, x: 40, y: 30, colour: Self.red, border: 5, depth: depth)
        _ = try client.window(300, 80, x: 0, y: 60, colour: Self.blue)
        let watched = try Watched(window, of: display)
        defer { watched.source.stop() }
        #expect(watched.source.captureFormat.size == Self.size(200, 150))
        #expect(watched.shows(Self.red, Self.size(200, 150)))
        // Drawing in a part of the window that is not visible on the screen.
        let part = PixelRectangle(x: 20, y: 50, size: Self.size(30, 20))
        try client.paint(window, Self.grey, part)
        let isDrawn = watched.sink.wait { sink in
            guard let buffer = sink.frames.last?.buffer else { return false }
            return (0..<150).allSatisfy { y in
                (0..<200).allSatisfy { x in
                    let isInside = (20..<50).contains(x) && (50..<70).contains(y)
                    return buffer.colour(x, y) == (isInside ? Self.grey : Self.red)
                }
            }
        }
        #expect(isDrawn)
        #expect(watched.sink.frames.last?.damage == [part])
        #expect(watched.observer.events == [.started])
    }

    @Test("A resize is followed and reported, and an odd column or row is cut off")
    func resize() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(200, 150, colour: Self.red)
        let watched = try Watched(window, of: display)
        #expect(watched.shows(Self.red, Self.size(200, 150)))
        try client.resize(window, 321, 99)
        #expect(watched.shows(Self.red, Self.size(320, 98)))
        try client.resize(window, 50, 40)
        #expect(watched.shows(Self.red, Self.size(50, 40)))
        try client.paint(window, Self.blue)
        #expect(watched.shows(Self.blue, Self.size(50, 40)))
        watched.source.stop()
        #expect(
            watched.observer.events == [
                .started, .resized(Self.size(320, 98)), .resized(Self.size(50, 40)), .stopped,
            ])
    }

    @Test("A window that had another size for a moment between two frames shows its later drawing")
    func resizedThereAndBack() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(200, 150, colour: Self.red)
        let watched = try Watched(window, of: display)
        defer { watched.source.stop() }
        #expect(watched.shows(Self.red))
        watched.source.remove(watched.sink)
        // Until it rests: then it looks at the window no more than every two seconds.
        usleep(400_000)
        try client.resize(window, 320, 240)
        try client.resize(window, 200, 150)
        try client.paint(window, Self.blue)
        watched.sink.forgetFrames()
        watched.source.add(watched.sink)
        #expect(watched.shows(Self.blue, Self.size(200, 150)))
    }

    @Test("A change of a border's width is followed")
    func border() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(200, 150, colour: Self.red, border: 2)
        let watched = try Watched(window, of: display)
        defer { watched.source.stop() }
        #expect(watched.shows(Self.red))
        for (border, colour) in [(5, Self.blue), (0, Self.grey), (1, Self.red)] {
            try client.setBorder(window, border)
            try client.paint(window, colour)
            #expect(watched.shows(colour, Self.size(200, 150)))
        }
        #expect(watched.sink.ends.isEmpty)
    }

    @Test("The source of a hidden window is muted, and continues with a whole frame when the window is visible again")
    func unmapped() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(200, 150, colour: Self.red)
        let watched = try Watched(window, of: display)
        #expect(watched.shows(Self.red))
        try client.unmap(window)
        #expect(watched.observer.wait(for: 2))
        #expect(watched.source.broadcaster.isMuted)
        try client.resize(window, 100, 80)
        try client.paint(window, Self.blue)
        watched.sink.forgetFrames()
        try client.map(window)
        #expect(watched.shows(Self.blue, Self.size(100, 80)))
        #expect(watched.sink.frames.first?.damage == nil)
        #expect(!watched.source.broadcaster.isMuted)
        // So short that the source may not have seen it go.
        try client.blink(window)
        try client.paint(window, Self.grey)
        #expect(watched.shows(Self.grey))
        watched.source.stop()
        #expect(
            watched.observer.events.prefix(4) == [
                .started, .interrupted(.minimized), .interruptionEnded(.minimized), .resized(Self.size(100, 80)),
            ])
    }

    @Test("A window that is hidden before its source starts is paused, and a source that ends leaves no mute")
    func pausedAtStart() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(200, 150, colour: Self.red, isMapped: false)
        let watched = try Watched(window, of: display)
        #expect(watched.observer.wait(for: 2))
        #expect(watched.observer.events == [.started, .interrupted(.minimized)])
        #expect(watched.source.broadcaster.isMuted)
        #expect(watched.sink.frames.isEmpty)
        watched.source.stop()
        #expect(!watched.source.broadcaster.isMuted)
        try watched.source.start()
        try client.map(window)
        #expect(watched.shows(Self.red))
        watched.source.stop()
    }

    @Test(
        "A window that is closed ends the source with an error that names it, paused or not", arguments: [true, false])
    func closed(isMapped: Bool) throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let window = try client.window(200, 150, colour: Self.red, title: "Notes", isMapped: isMapped)
        let watched = try Watched(window, of: display)
        #expect(isMapped ? watched.sink.wait { !$0.frames.isEmpty } : watched.observer.wait(for: 2))
        try client.destroy(window)
        #expect(watched.sink.wait { !$0.ends.isEmpty })
        let error = watched.sink.ends.first.flatMap { $0 } as? CaptureError
        #expect(error == .windowClosed(id: window, title: "Notes"))
        #expect(error?.description.contains("window 'Notes'") == true)
        watched.source.stop()
        #expect(watched.observer.events.last == .failed(.systemFailure))
        #expect(!watched.source.broadcaster.isMuted)
        // It can't be started again, which is reported at once.
        try watched.source.start()
        #expect(watched.sink.wait { $0.ends.count == 2 })
    }

    @Test("A window beyond the screen's edges is reported, and its frames continue")
    func offScreen() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(200, 150, colour: Self.red)
        let watched = try Watched(window, of: display)
        #expect(watched.shows(Self.red))
        // A corner can be seen.
        try client.move(window, x: -199, y: 479)
        try client.paint(window, Self.grey)
        #expect(watched.shows(Self.grey))
        #expect(watched.observer.events == [.started])
        try client.move(window, x: -200, y: 100)
        #expect(watched.observer.wait(for: 2))
        #expect(!watched.source.broadcaster.isMuted)
        try client.paint(window, Self.blue)
        #expect(watched.shows(Self.blue))
        try client.unmap(window)
        #expect(watched.observer.wait(for: 4))
        try client.move(window, x: 10, y: 10)
        try client.map(window)
        #expect(watched.observer.wait(for: 5))
        watched.source.stop()
        #expect(
            watched.observer.events == [
                .started, .interrupted(.movedOffScreen), .interruptionEnded(.movedOffScreen), .interrupted(.minimized),
                .interruptionEnded(.minimized), .stopped,
            ])
    }

    @Test("A decoration that is put around a window, hidden and shown again is followed")
    func frame() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let window = try client.window(200, 150, colour: Self.red)
        let watched = try Watched(window, of: display)
        #expect(watched.shows(Self.red))
        let frame = try client.window(210, 175, x: 300, y: 200, colour: Self.blue, overrideRedirect: true)
        try client.reparent(window, to: frame, x: 5, y: 20)
        try client.paint(window, Self.grey)
        #expect(watched.shows(Self.grey, Self.size(200, 150)))
        // The window itself gets no event when the decoration is hidden or shown.
        for colour in [Self.red, Self.blue, Self.grey] {
            try client.blink(frame)
            try client.paint(window, colour)
            #expect(watched.shows(colour))
        }
        try client.unmap(frame)
        #expect(watched.observer.wait { $0.last == .interrupted(.minimized) })
        try client.paint(window, Self.red)
        try client.map(frame)
        #expect(watched.shows(Self.red))
        #expect(watched.observer.events.last == .interruptionEnded(.minimized))
        watched.source.stop()
    }

    @Test("The pointer is drawn over the window, and not over another window that covers it")
    func pointer() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xsetroot", "-cursor_name", "left_ptr")
        let frame = try client.window(240, 240, x: 100, y: 100, colour: Self.grey, border: 3)
        let window = try client.window(200, 200, x: 11, y: 17, colour: Self.red, in: frame, border: 4)
        let cover = try client.window(100, 200, x: 230, y: 100, colour: Self.blue)
        try display.run("xdotool", "mousemove", "168", "174")
        let watched = try Watched(window, of: display)
        // The window's own corner is at 100 + 3 + 11 + 4 and 100 + 3 + 17 + 4, the border is not its own.
        let place = (x: 168 - 118, y: 174 - 124)
        let isDrawn = watched.sink.wait { sink in
            guard let buffer = sink.frames.last?.buffer else { return false }
            let places = (0..<200 * 200).filter { buffer.colour($0 % 200, $0 / 200) != Self.red }
            return !places.isEmpty
                && places.allSatisfy {
                    (place.x - 6..<place.x + 26).contains($0 % 200) && (place.y - 6..<place.y + 30).contains($0 / 200)
                }
                && buffer.colour(place.x + 1, place.y + 3) != Self.red
        }
        #expect(isDrawn)
        try display.run("xdotool", "mousemove", "260", "200")
        #expect(watched.shows(Self.red))
        try client.unmap(cover)
        #expect(watched.sink.wait { $0.frames.last?.buffer.colour(260 - 118 + 1, 200 - 124 + 3) != Self.red })
        watched.source.stop()
    }

    @Test(
        "A source follows its window after all orders of events, and ends when the window is closed",
        arguments: UInt64(1)...4)
    func storm(seed: UInt64) throws {
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        try display.run("xdotool", "mousemove", "639", "479")
        let frame = try client.window(300, 300, colour: Self.blue)
        let window = try client.window(200, 150, colour: Self.red)
        let watched = try Watched(window, of: display)
        for _ in 0..<400 {
            switch random(9) {
            case 0: try client.unmap(window)
            case 1: try client.map(window)
            case 2: try client.blink(window)
            case 3, 4: try client.resize(window, 1 + random(300), 1 + random(200))
            case 5: try client.move(window, x: random(800) - 400, y: random(600) - 300)
            case 6: try client.setBorder(window, random(6))
            case 7: try client.reparent(window, to: random(2) == 0 ? frame : client.root, x: random(20), y: 0)
            default: try client.paint(window, UInt32(random(0x100_0000)))
            }
        }
        try client.reparent(window, to: client.root, x: 0, y: 0)
        try client.resize(window, 120, 90)
        try client.map(window)
        try client.paint(window, Self.grey)
        #expect(watched.shows(Self.grey, Self.size(120, 90)))
        #expect(watched.sink.ends.isEmpty)
        try client.resize(window, 140, 90)
        try client.destroy(window)
        #expect(watched.sink.wait { !$0.ends.isEmpty })
        #expect(watched.sink.ends.first.flatMap { $0 } as? CaptureError == .windowClosed(id: window, title: ""))
    }

    @Test("A window that has no pixels, does not exist or is the screen itself is rejected with a remedy")
    func refused() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let other = try client.window(200, 150, title: "Other")
        func error(_ id: UInt32) -> CaptureError? {
            do throws(CaptureError) {
                _ = try WindowSource(.id(id), display: display.name)
                return nil
            } catch {
                return error
            }
        }
        let described = DisplayWindow(
            id: other, title: "Other", application: nil, processID: nil, size: Self.size(200, 150))
        #expect(error(0x7654321) == .unknownWindow(.id(0x7654321), windows: [described]))
        #expect(error(0x7654321)?.description.contains("'Other' (200x150)") == true)
        #expect(error(client.root)?.description.contains("share the whole screen") == true)
        #expect(error(try client.window(9, 9, isInputOnly: true))?.description.contains("InputOnly") == true)
        let menu = try client.window(90, 90, overrideRedirect: true, isMapped: false)
        #expect(error(menu)?.description.contains("not on the screen") == true)
        #expect(error(try client.window(1, 50))?.description.contains("1x50") == true)
        // An open menu is shared if it is named.
        try client.map(menu)
        #expect(error(menu) == nil)
        #expect(throws: CaptureError.self) { try WindowSource(.id(1), display: nil) }
    }

    @Test("A server without Composite is rejected, and the error names the alternatives")
    func withoutComposite() throws {
        let display = try VirtualDisplay(arguments: ["-extension", "Composite"])
        let client = try WindowClient(display: display)
        let window = try client.window(200, 150)
        do throws(CaptureError) {
            _ = try WindowSource(.id(window), display: display.name)
            Issue.record("a window was taken")
        } catch {
            #expect(error.description.contains("no Composite extension"))
            #expect(error.description.contains("region"))
        }
        #expect(try WindowSource.windows(display: display.name).map(\.id) == [window])
    }

    @Test("A server that hangs does not delay stop, and one that is killed does not delay the end")
    func hanging() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let watched = try Watched(try client.window(200, 150), of: display)
        #expect(watched.sink.wait { !$0.frames.isEmpty })
        display.suspend(true)
        let begin = monotonicNow()
        watched.source.stop()
        #expect(monotonicNow() - begin < .seconds(2))
        display.suspend(false)
        try watched.source.start()
        #expect(watched.observer.wait(for: 3))
        display.kill()
        #expect(watched.sink.wait { $0.ends.count == 2 })
        guard case .displayLost(display.name, _) = watched.sink.ends.last.flatMap({ $0 }) as? CaptureError else {
            Issue.record("\(watched.sink.ends)")
            return
        }
    }

    @Test(
        "A window of a window manager is followed while it is minimized, restored and closed",
        .enabled(if: VirtualDisplay.hasWindowManager, "needs openbox and xterm"))
    func windowManager() throws {
        let display = try VirtualDisplay()
        let manager = try display.startWindowManager()
        let xterm = try display.start("xterm", ["-T", "Alpha", "-geometry", "40x10+20+40", "-e", "cat"])
        let other = try display.start("xterm", ["-T", "Beta", "-geometry", "40x10+30+60", "-e", "cat"])
        defer {
            for process in [xterm, other, manager] {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }
        var windows: [DisplayWindow] = []
        let deadline = monotonicNow() + .seconds(20)
        while windows.count < 2, monotonicNow() < deadline {
            usleep(50_000)
            windows = try WindowSource.windows(display: display.name)
        }
        #expect(Set(windows.map(\.title)) == ["Alpha", "Beta"])
        let alpha = try #require(windows.first { $0.title == "Alpha" })
        #expect(alpha.application == "XTerm")
        #expect(alpha.processID == xterm.processIdentifier)
        let source = try WindowSource(.title("alph"), display: display.name, framesPerSecond: 50)
        #expect(source.window.id == alpha.id)
        let (sink, observer) = (Collector(keeping: 4), CaptureObserver())
        source.add(sink)
        source.add(observer: observer)
        try source.start()
        #expect(sink.wait { !$0.frames.isEmpty })
        try display.run("xdotool", "windowminimize", "\(alpha.id)")
        #expect(observer.wait { $0.last == .interrupted(.minimized) })
        #expect(try WindowSource.windows(display: display.name).map(\.title) == ["Beta"])
        let all = try WindowSource.windows(display: display.name, includingMinimized: true)
        #expect(all.filter(\.isMinimized).map(\.title) == ["Alpha"])
        #expect(try WindowSource(.title("Alpha"), display: display.name).window.isMinimized)
        try display.run("xdotool", "windowmap", "\(alpha.id)")
        #expect(observer.wait { $0.contains(.interruptionEnded(.minimized)) })
        try display.run("xdotool", "windowsize", "--sync", "\(alpha.id)", "300", "200")
        #expect(sink.wait { ($0.frames.last?.size.width ?? 0) > 280 })
        try display.run("xdotool", "windowkill", "\(alpha.id)")
        #expect(sink.wait { !$0.ends.isEmpty })
        #expect(
            sink.ends.first.flatMap { $0 } as? CaptureError == .windowClosed(id: alpha.id, title: "Alpha"))
        source.stop()
    }
}

/// Returns the colors of a BGRA frame as 0xRRGGBB by rows.
private func pixels(_ buffer: any VideoFrameBuffer) -> [UInt32] {
    buffer.withPlanes { planes in
        (0..<buffer.size.height).flatMap { y in
            (0..<buffer.size.width).map { x in
                let start = y * planes.strides[0] + 4 * x
                let plane = planes.planes[0]
                return UInt32(plane[start + 2]) << 16 | UInt32(plane[start + 1]) << 8 | UInt32(plane[start])
            }
        }
    }
}

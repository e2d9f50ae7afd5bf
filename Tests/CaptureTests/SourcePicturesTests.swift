import Foundation
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite(
    "Images of a display's sources", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb, xsetroot, xrandr, xdotool and import (ImageMagick)"))
struct SourcePicturesTests {
    /// The events of a display.
    private final class Events: Sendable {
        private struct State {
            var contents: [DisplayContents] = []
            var images: [(subject: SourcePictures.Subject, image: PixelBuffer)] = []
            var failures: [CaptureError] = []
        }

        private let state = Locked(State())

        func add(_ event: SourcePictures.Event) {
            state.withLock { state in
                switch event {
                case .contents(let contents): state.contents.append(contents)
                case .image(let subject, let image): state.images.append((subject, image))
                case .failure(let error): state.failures.append(error)
                }
            }
        }

        var contents: [DisplayContents] { state.withLock { $0.contents } }
        var subjects: [SourcePictures.Subject] { state.withLock { $0.images.map(\.subject) } }
        var failures: [CaptureError] { state.withLock { $0.failures } }
        var titles: [String]? { contents.last?.windows.map(\.title) }

        func images(of subject: SourcePictures.Subject) -> [PixelBuffer] {
            state.withLock { $0.images.filter { $0.subject == subject }.map(\.image) }
        }

        func colour(_ window: UInt32) -> UInt32? { images(of: .window(window)).last?.colour(4, 4) }
    }

    private func watch(_ display: VirtualDisplay, showsScreen: Bool = true) throws -> (SourcePictures, Events) {
        let events = Events()
        let pictures = SourcePictures(
            display: display.name, fitting: PixelSize(width: 64, height: 64), showsScreen: showsScreen)
        try pictures.start { events.add($0) }
        return (pictures, events)
    }

    @Test("The screen, its output and each window have an image", arguments: [false, true])
    func first(isComposited: Bool) async throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        if isComposited { try client.compositeWindows() }
        let red = try client.window(256, 128, colour: 0xFF0000, title: "red", border: 3)
        let green = try client.window(256, 128, colour: 0x00FF00, title: "green")
        let (pictures, events) = try watch(display)
        await waitUntil { events.subjects.count >= 4 }
        #expect(events.titles == ["red", "green"])
        #expect(events.contents.last?.size == PixelSize(width: 640, height: 480))
        #expect(Set(events.subjects) == [.screen, .output("screen"), .window(red), .window(green)])
        #expect(events.subjects.first == .screen)
        // The green window covers the red one.
        #expect(events.colour(red) == 0xFF0000)
        #expect(events.colour(green) == 0x00FF00)
        #expect(events.images(of: .screen).first?.size == PixelSize(width: 64, height: 48))
        #expect(events.images(of: .screen).first?.colour(4, 4) == 0x00FF00)
        pictures.stop()
        #expect(events.failures.isEmpty)
    }

    @Test("A change of a window has a new image within three seconds", arguments: [false, true])
    func change(isComposited: Bool) async throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        if isComposited { try client.compositeWindows() }
        let window = try client.window(256, 128, colour: 0xFF0000)
        let (pictures, events) = try watch(display)
        await waitUntil { events.colour(window) == 0xFF0000 }
        // Until then, a change looks like the echo of the reading.
        if !isComposited { try await Task.sleep(for: WatchedPart.echoInterval * 2) }
        for colour in [0x00FF00, 0x0000FF] as [UInt32] {
            try client.paint(window, colour)
            let time = monotonicNow()
            await waitUntil {
                events.colour(window) == colour && events.images(of: .screen).last?.colour(4, 4) == colour
            }
            #expect(monotonicNow() - time < .seconds(5), "two of them are read after each other")
        }
        pictures.stop()
    }

    @Test(
        "Nothing is read or sent while nothing changes",
        .enabled(if: VirtualDisplay.hasWindowManager, "needs xterm"), arguments: [false, true])
    func idle(isComposited: Bool) async throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        if isComposited { try client.compositeWindows() }
        // The program of a window draws again whenever the server asks for it.
        let terminals = try (0..<3).map {
            try display.start("xterm", ["-geometry", "40x10+\($0 * 60)+\($0 * 40)", "-e", "sleep 100"])
        }
        defer { for terminal in terminals { terminal.terminate() } }
        _ = try client.window(256, 128, colour: 0xFF0000)
        await waitUntil { (try? WindowSource.windows(display: display.name).count) == 4 }
        try await Task.sleep(for: .seconds(1))
        let (pictures, events) = try watch(display)
        await waitUntil { Set(events.subjects).count == 6 }
        // The screen is read again after the programs have drawn.
        try await Task.sleep(for: .seconds(4))
        let (reads, sent) = (pictures.readCount, events.subjects.count)
        #expect(reads <= (isComposited ? 6 : 8) && sent <= 8, "\(reads) reads, \(sent) images")
        try await Task.sleep(for: .seconds(8))
        #expect(pictures.readCount == reads)
        #expect(events.subjects.count == sent && events.contents.count == 1)
        pictures.stop()
    }

    @Test("A window that opens, closes, or changes its title or size is reported", arguments: [false, true])
    func list(hasManager: Bool) async throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let first = try client.window(256, 128, title: "first")
        if hasManager { try client.set("_NET_CLIENT_LIST", numbers: [first], type: "WINDOW", of: client.root) }
        let (pictures, events) = try watch(display, showsScreen: false)
        await waitUntil { events.titles == ["first"] && events.subjects == [.window(first)] }
        let second = try client.window(256, 128, colour: 0x00FF00, title: "second")
        if hasManager { try client.set("_NET_CLIENT_LIST", numbers: [first, second], type: "WINDOW", of: client.root) }
        await waitUntil { events.titles == ["first", "second"] && events.colour(second) == 0x00FF00 }
        try client.set("_NET_WM_NAME", text: "other", type: "UTF8_STRING", of: first)
        await waitUntil { events.titles == ["other", "second"] }
        try client.resize(second, 100, 200)
        await waitUntil { events.images(of: .window(second)).last?.size == PixelSize(width: 32, height: 64) }
        #expect(events.contents.last?.windows.last?.size == PixelSize(width: 100, height: 200))
        let count = events.contents.count
        // A moved window is the same.
        try client.move(second, x: 10, y: 10)
        try client.destroy(first)
        if hasManager { try client.set("_NET_CLIENT_LIST", numbers: [second], type: "WINDOW", of: client.root) }
        await waitUntil { events.titles == ["second"] }
        #expect(events.contents.count == count + 1)
        pictures.stop()
        #expect(events.failures.isEmpty)
    }

    @Test("A screen of another size is reported")
    func size() async throws {
        let display = try VirtualDisplay()
        let (pictures, events) = try watch(display)
        await waitUntil { events.subjects.count == 2 }
        try display.run("xrandr", "--newmode", "small", "1", "322", "322", "322", "322", "241", "241", "241", "241")
        try display.run("xrandr", "--addmode", "screen", "small")
        try display.run("xrandr", "--output", "screen", "--mode", "small")
        let small = PixelSize(width: 322, height: 241)
        await waitUntil {
            events.contents.last?.size == small && events.contents.last?.outputs.first?.area.size == small
        }
        pictures.stop()
        #expect(events.failures.isEmpty)
    }

    @Test("The end leaves windows as they were, also in the middle of the first images")
    func end() async throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        let windows = try (0..<5).map { try client.window(256, 128, x: $0, colour: 0xFF0000) }
        let (pictures, events) = try watch(display)
        await waitUntil { !events.subjects.isEmpty }
        pictures.stop()
        let sent = events.subjects.count
        try client.paint(windows[0], 0x00FF00)
        await waitUntil { windows.allSatisfy { !client.hasOwnPixels($0) } }
        #expect(events.subjects.count == sent)
    }

    @Test("A display that ends is reported, and tried again")
    func failure() async throws {
        let display = try VirtualDisplay()
        let (pictures, events) = try watch(display)
        await waitUntil { events.subjects.count == 2 }
        display.kill()
        await waitUntil { !events.failures.isEmpty }
        guard case .displayLost = events.failures[0] else { throw events.failures[0] }
        pictures.stop()
    }

    @Test("A part of the screen has an image of its own size limit")
    func part() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        _ = try client.window(100, 100, colour: 0x00FF00)
        let area = DisplaySource.Area.region(PixelRectangle(x: 0, y: 0, size: PixelSize(width: 100, height: 100)))
        let bound = PixelSize(width: 50, height: 50)
        let image = try DisplaySource.picture(of: area, fitting: bound, display: display.name)
        #expect(image.size == bound)
        #expect(image.colour(49, 49) == 0x00FF00)
        let whole = try DisplaySource.picture(of: .screen, fitting: bound, display: display.name)
        #expect(whole.size == PixelSize(width: 50, height: 38))
        #expect(throws: CaptureError.self) {
            try DisplaySource.picture(of: .output("none"), fitting: bound, display: display.name)
        }
    }
}

@Suite("The readings of a watched window")
struct WatchedPartTests {
    private let size = PixelSize(width: 2, height: 2)

    @Test("A damaged window is read at once, and then every two seconds at most")
    func interval() {
        var part = WatchedPart(size: size, damage: nil)
        part.damage(now: .seconds(10))
        #expect(part.readTime == .seconds(10))
        part.willRead()
        part.didRead(now: .seconds(10), isChanged: true, mayEcho: true)
        #expect(part.readTime == nil)
        part.damage(now: .milliseconds(10_100))
        #expect(part.readTime == .seconds(12))
        part.damage(now: .seconds(11))
        #expect(part.readTime == .seconds(12))
    }

    @Test("Damage soon after a reading without a change is its echo, and later damage is not")
    func echo() {
        var part = WatchedPart(size: size, damage: nil)
        part.didRead(now: .seconds(10), isChanged: false, mayEcho: true)
        part.damage(now: .milliseconds(10_400))
        #expect(part.readTime == nil && part.echoTime == .milliseconds(10_500))
        part.clearEcho()
        #expect(part.echoTime == nil)
        part.damage(now: .milliseconds(10_500))
        #expect(part.readTime == .seconds(12))
    }

    @Test("Damage soon after a reading that changes nothing on the screen counts")
    func withoutEcho() {
        var part = WatchedPart(size: size, damage: nil)
        part.didRead(now: .seconds(10), isChanged: false, mayEcho: false)
        part.damage(now: .milliseconds(10_100))
        #expect(part.readTime == .seconds(12) && part.echoTime == nil)
    }
}

import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite("The damage of a screen", .serialized, .timeLimit(.minutes(2)))
struct ScreenDamageTests {
    /// A copy of the screen that is only updated within the damage of frames.
    private final class Shadow {
        private(set) var pixels: [UInt32] = []
        private var size = PixelSize(width: 0, height: 0)
        private(set) var changedPixels = 0
        private(set) var wholeFrames = 0

        func take(_ frame: VideoFrame) {
            let whole = [PixelRectangle(x: 0, y: 0, size: frame.size)]
            if frame.damage == nil { wholeFrames += 1 }
            if size != frame.size {
                size = frame.size
                pixels = Array(repeating: 0, count: size.area)
            }
            frame.buffer.withPlanes { planes in
                for part in frame.damage ?? whole {
                    changedPixels += part.size.area
                    for y in part.y..<part.y + part.size.height {
                        for x in part.x..<part.x + part.size.width {
                            let start = y * planes.strides[0] + 4 * x
                            let plane = planes.planes[0]
                            pixels[y * size.width + x] =
                                UInt32(plane[start + 2]) << 16 | UInt32(plane[start + 1]) << 8 | UInt32(plane[start])
                        }
                    }
                }
            }
        }
    }

    @Test(
        "The damage of frames covers all changes, and is small if the changes are",
        .enabled(if: VirtualDisplay.isAvailable && VirtualDisplay.path(of: "xterm") != nil, "needs Xvfb and xterm"),
        arguments: [[], ["-extension", "MIT-SHM"]])
    func shadow(arguments: [String]) throws {
        let display = try VirtualDisplay(arguments: arguments)
        try display.run("xsetroot", "-solid", "#204080", "-cursor_name", "left_ptr")
        try display.run("xdotool", "mousemove", "600", "440")
        let source = try DisplaySource(area: .screen, display: display.name, framesPerSecond: 100)
        let sink = Collector()
        source.add(sink)
        try source.start()
        #expect(sink.wait { !$0.frames.isEmpty })
        // Letters here and there, and a part that scrolls; the pointer crosses it meanwhile.
        let script = """
            for i in $(seq 60); do printf '\\033[%d;%dHx%d' $((i % 20 + 1)) $((i * 7 % 50 + 1)) $i; sleep 0.01; done
            for i in $(seq 40); do echo line $i; sleep 0.01; done; printf done; exec sleep 60
            """
        let xterm = try display.start("xterm", ["-geometry", "60x20+20+30", "-e", "sh", "-c", script])
        defer {
            kill(xterm.processIdentifier, SIGKILL)
            xterm.waitUntilExit()
        }
        for step in 0..<40 { try display.run("xdotool", "mousemove", "\(step * 15)", "\(40 + step * 5)") }
        // Away from the content, because ImageMagick captures no pointer.
        try display.run("xdotool", "mousemove", "639", "479")
        let expected = { (try? display.judgedPixels()) ?? [] }
        func differing(_ pixels: [UInt32], _ judged: [UInt32]) -> Bool {
            guard pixels.count == judged.count else { return true }
            return zip(pixels, judged).enumerated().contains {
                $0.element.0 != $0.element.1 && ($0.offset % 640 < 600 || $0.offset / 640 < 440)
            }
        }
        var isEqual = false
        var (frames, pixels) = ([VideoFrame](), [UInt32]())
        let deadline = monotonicNow() + .seconds(20)
        while !isEqual, monotonicNow() < deadline {
            usleep(200_000)
            let shadow = Shadow()
            frames = sink.frames
            for frame in frames { shadow.take(frame) }
            pixels = shadow.pixels
            isEqual = !differing(pixels, expected()) && frames.count > 40
            guard isEqual else { continue }
            #expect(shadow.wholeFrames == 1)
            // Frame for frame the whole screen would be a hundred times the screen.
            #expect(shadow.changedPixels < frames.count * 640 * 480 / 4)
        }
        #expect(isEqual)
        // Each frame is separate: none was overwritten while it was referenced.
        let again = Shadow()
        for frame in frames { again.take(frame) }
        let isUnchanged = again.pixels == pixels
        #expect(isUnchanged)
        source.stop()
    }

    @Test(
        "A screen at rest delivers one frame, and again one to a later sink",
        .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb"))
    func rest() throws {
        let display = try VirtualDisplay()
        try display.run("xsetroot", "-solid", "#204080")
        let source = try DisplaySource(area: .screen, display: display.name, framesPerSecond: 50)
        let (first, second) = (Collector(), Collector())
        source.add(first)
        try source.start()
        #expect(first.wait { !$0.frames.isEmpty })
        usleep(300_000)
        #expect(first.frames.count <= 2)
        let before = first.frames.count
        source.add(second)
        #expect(second.wait { !$0.frames.isEmpty })
        #expect(second.frames.first?.damage == nil)
        #expect(second.frames.first?.buffer.colour(10, 10) == 0x204080)
        #expect(first.frames.count <= before + 1)
        source.stop()
    }

    @Test(
        "A sink that wants no frames gets none, and then the changes since",
        .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb"))
    func noUse() throws {
        let display = try VirtualDisplay()
        try display.run("xsetroot", "-solid", "#204080")
        let source = try DisplaySource(area: .screen, display: display.name, framesPerSecond: 50)
        let track = VideoTrack(id: "screen", source: source)
        let sink = Collector()
        track.add(sink)
        try source.start()
        #expect(sink.wait { !$0.frames.isEmpty })
        track.isPaused = true
        try display.run("xsetroot", "-solid", "#00ff00")
        usleep(200_000)
        #expect(sink.frames.last?.buffer.colour(10, 10) == 0x204080)
        #expect(track.framesMuted == 0)
        track.isPaused = false
        #expect(sink.wait { $0.frames.last?.buffer.colour(10, 10) == 0x00FF00 })
        source.stop()
    }
}

@Suite("ScreenPictures")
struct ScreenPicturesTests {
    private func fill(_ picture: ScreenPicture, _ part: PixelRectangle, _ value: UInt8) {
        for row in part.y..<part.y + part.size.height {
            let start = row * picture.stride + part.x * 4
            for index in start..<start + part.size.width * 4 { picture.memory[index] = value }
        }
    }

    @Test(
        "A frame equals the one before it outside of its damage, in any memory, and a referenced frame does not change",
        .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb"), arguments: UInt64(1)...6)
    func sequence(seed: UInt64) throws {
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let display = try VirtualDisplay()
        let size = PixelSize(width: 40, height: 30)
        let whole = PixelRectangle(x: 0, y: 0, size: size)
        var pictures = ScreenPictures(connection: try XConnection(display: display.name), size: size)
        var expected = [UInt8](repeating: 0, count: size.area * 4)
        var held: [(picture: ScreenPicture, bytes: [UInt8])] = []
        for step in 0..<200 {
            // Often the same part, as during scrolling.
            let parts = (0..<1 + random(3)).map { _ in
                let (x, y) = (random(2) * 10, random(2) * 10)
                return PixelRectangle(
                    x: x, y: y, size: PixelSize(width: 1 + random(3) * 10, height: 1 + random(2) * 10))
            }
            let isWhole = step == 0 || random(20) == 0
            // Like a pointer that is drawn over the captured frame.
            let overlay =
                random(3) == 0
                ? PixelRectangle(x: random(30), y: random(20), size: PixelSize(width: 10, height: 10)) : nil
            let picture = try pictures.begin(parts: isWhole ? nil : parts, overlay: overlay)
            for part in (isWhole ? [whole] : parts) + [overlay].compactMap({ $0 }) {
                let value = UInt8(random(256))
                fill(picture, part, value)
                for row in part.y..<part.y + part.size.height {
                    for index in 0..<part.size.width * 4 { expected[(row * 40 + part.x) * 4 + index] = value }
                }
            }
            #expect(Array(picture.memory.prefix(expected.count)) == expected)
            #expect(pictures.newest === picture)
            for (picture, bytes) in held { #expect(Array(picture.memory.prefix(bytes.count)) == bytes) }
            if random(2) == 0 { held.append((picture, expected)) }
            while held.count > random(5) { held.removeFirst() }
        }
    }
}

@Suite("ScreenCadence")
struct ScreenCadenceTests {
    private let interval = Duration.seconds(1) / 30.0

    @Test("The first change after a rest is captured at once, and the next ones at the rate")
    func rate() {
        var cadence = ScreenCadence(framesPerSecond: 30, now: .zero)
        var now = Duration.seconds(10)
        #expect(cadence.deadline(hasChange: true) <= now)
        cadence.didLook(isFrame: true, pointerMoved: false, now: now)
        // After a rest, half an interval is saved up.
        #expect(cadence.deadline(hasChange: true) == now + interval / 2)
        // Late by a little each time: the rate is kept all the same.
        var looks = 0
        let begin = now
        while now < begin + .seconds(10) {
            now = cadence.deadline(hasChange: true) + .milliseconds(looks % 7)
            cadence.didLook(isFrame: true, pointerMoved: false, now: now)
            looks += 1
        }
        #expect((299...301).contains(looks))
    }

    @Test("Changes at the rate, but not at its ticks, no longer wait for a tick after a pause of one tick")
    func steadyChanges() {
        var cadence = ScreenCadence(framesPerSecond: 30, now: .zero)
        for number in 0..<300 {
            // Each change is a few milliseconds before or after its regular time, and one change is skipped.
            let jitter = Duration.milliseconds([0, 4, -4, 2, -3][number % 5])
            let change = .seconds(5) + interval * Double(number < 10 ? number : number + 1) + jitter
            let look = max(change, cadence.deadline(hasChange: true))
            if number > 11 { #expect(look == change) }
            cadence.didLook(isFrame: true, pointerMoved: false, now: look)
        }
    }

    @Test("A capture without a frame does not delay the capture of the next change")
    func noFrame() {
        var cadence = ScreenCadence(framesPerSecond: 30, now: .zero)
        cadence.didLook(isFrame: true, pointerMoved: false, now: .seconds(5))
        cadence.didLook(isFrame: false, pointerMoved: false, now: .seconds(6))
        #expect(cadence.deadline(hasChange: true) <= .seconds(6))
    }

    @Test("The pointer is queried at the rate while it moves, and less often at rest")
    func pointer() {
        var cadence = ScreenCadence(framesPerSecond: 30, now: .zero)
        cadence.didLook(isFrame: true, pointerMoved: true, now: .seconds(5))
        #expect(cadence.deadline(hasChange: false) == .seconds(5) + interval)
        cadence.didLook(isFrame: false, pointerMoved: false, now: .seconds(6))
        #expect(cadence.deadline(hasChange: false) == .seconds(6) + ScreenCadence.restInterval)
        cadence.didLook(isFrame: true, pointerMoved: true, now: .seconds(7))
        #expect(cadence.deadline(hasChange: false) == .seconds(7) + interval)
    }

    @Test("A frame that no sink wants is offered again at the next tick")
    func skip() {
        var cadence = ScreenCadence(framesPerSecond: 30, now: .zero)
        cadence.skip(now: .seconds(3))
        #expect(cadence.deadline(hasChange: true) == .seconds(3) + interval)
        #expect(cadence.deadline(hasChange: false) > .seconds(3))
    }
}

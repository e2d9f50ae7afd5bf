import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite(
    .serialized, .timeLimit(.minutes(2)),
    .enabled(if: VirtualDisplay.isAvailable, "needs Xvfb, xsetroot, xrandr, xdotool and import (ImageMagick)"))
struct DisplaySourceTests {
    private static let red: UInt32 = 0xFF0000

    private func capture(
        _ area: DisplaySource.Area, of display: VirtualDisplay, rate: Double = 50
    ) throws -> (DisplaySource, Collector) {
        let source = try DisplaySource(area: area, display: display.name, framesPerSecond: rate)
        let sink = Collector(keeping: 4)
        source.add(sink)
        try source.start()
        return (source, sink)
    }

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

    @Test(
        "A frame is the whole screen, pixel by pixel as ImageMagick reads it",
        arguments: [[], ["-extension", "MIT-SHM"]])
    func wholeScreen(arguments: [String]) throws {
        let display = try VirtualDisplay(arguments: arguments)
        let stipple = try stipple()
        defer { unlink(stipple) }
        try display.run("xsetroot", "-bitmap", stipple, "-fg", "#204080", "-bg", "#F0A010")
        // Beyond the lower right corner only the pointer's hot spot stays on the screen.
        try display.run("xdotool", "mousemove", "639", "479")
        let judged = try display.judgedPixels()
        #expect(Set(judged) == [0x204080, 0xF0A010])
        let (source, sink) = try capture(.screen, of: display)
        #expect(source.captureFormat == CaptureFormat(size: PixelSize(width: 640, height: 480), framesPerSecond: 50))
        #expect(sink.wait { !$0.frames.isEmpty })
        source.stop()
        let frame = try #require(sink.frames.last)
        #expect(frame.buffer.format == .bgra)
        let seen = pixels(frame.buffer)
        let differing = zip(seen, judged).enumerated().filter { $0.element.0 != $0.element.1 }.map(\.offset)
        #expect(seen.count == judged.count)
        #expect(differing.allSatisfy { $0 % 640 >= 600 && $0 / 640 >= 440 })
        #expect(sink.ends.count == 1)
        #expect(sink.ends.allSatisfy { $0 == nil })
    }

    @Test(
        "Real text in a window is captured as ImageMagick reads it",
        .enabled(if: VirtualDisplay.path(of: "xterm") != nil, "needs xterm"))
    func window() throws {
        let display = try VirtualDisplay()
        try display.run("xdotool", "mousemove", "639", "479")
        let xterm = try display.start("xterm", ["-geometry", "60x20+0+0", "-e", "sh", "-c", "ls -la /; exec sleep 60"])
        defer {
            kill(xterm.processIdentifier, SIGKILL)
            xterm.waitUntilExit()
        }
        let (source, sink) = try capture(
            .region(PixelRectangle(x: 0, y: 0, size: .init(width: 320, height: 200))), of: display)
        defer { source.stop() }
        // The screen may change between ImageMagick's capture and ours: both are repeated until they are equal.
        let isEqual = sink.wait { sink in
            guard let frame = sink.frames.last, let judged = try? display.judgedPixels() else { return false }
            let expected = (0..<200).flatMap { judged[$0 * 640..<$0 * 640 + 320] }
            return Set(expected).count > 1 && pixels(frame.buffer) == expected
        }
        #expect(isEqual)
    }

    @Test("A change on the screen is in the frames that follow, and earlier frames stay as they were")
    func change() throws {
        let display = try VirtualDisplay()
        try display.run("xsetroot", "-solid", "#00ff00")
        try display.run("xdotool", "mousemove", "600", "400")
        let (source, sink) = try capture(.screen, of: display)
        #expect(sink.wait { $0.frames.last?.buffer.colour(10, 10) == 0x00FF00 })
        let before = try #require(sink.frames.last)
        try display.run("xsetroot", "-solid", "#ff0000")
        #expect(sink.wait { $0.frames.last?.buffer.colour(10, 10) == Self.red })
        source.stop()
        #expect(before.buffer.colour(10, 10) == 0x00FF00)
        let after = try #require(sink.frames.last)
        #expect(after.timestamp > before.timestamp)
        #expect(after.timestamp <= monotonicNow())
    }

    @Test("The pointer is drawn at its position, follows it and is clipped at the edges")
    func pointer() throws {
        let display = try VirtualDisplay()
        try display.run("xsetroot", "-solid", "#ff0000", "-cursor_name", "left_ptr")
        try display.run("xdotool", "mousemove", "100", "100")
        let (source, sink) = try capture(.screen, of: display)
        defer { source.stop() }
        func isDrawn(_ frame: VideoFrame?, _ columns: Range<Int>, _ rows: Range<Int>) -> Bool {
            guard let frame else { return false }
            return columns.contains { x in rows.contains { frame.buffer.colour(x, $0) != Self.red } }
        }
        #expect(sink.wait { isDrawn($0.frames.last, 92..<116, 92..<124) })
        try display.run("xdotool", "mousemove", "300", "200")
        #expect(sink.wait { isDrawn($0.frames.last, 292..<316, 192..<224) })
        let frame = try #require(sink.frames.last)
        #expect(!isDrawn(frame, 0..<280, 0..<480))
        for (x, y) in [("0", "0"), ("639", "479"), ("639", "0"), ("0", "479")] {
            let before = sink.frames.last?.timestamp ?? .zero
            try display.run("xdotool", "mousemove", x, y)
            #expect(sink.wait { ($0.frames.last?.timestamp ?? .zero) > before })
        }
        #expect(sink.ends.isEmpty)
    }

    @Test("A region is that part of the screen, with even sides, and the pointer at its place in it")
    func region() throws {
        let display = try VirtualDisplay()
        try display.run("xsetroot", "-solid", "#ff0000", "-cursor_name", "left_ptr")
        try display.run("xdotool", "mousemove", "110", "75")
        let region = PixelRectangle(x: 99, y: 51, size: PixelSize(width: 101, height: 81))
        let (source, sink) = try capture(.region(region), of: display)
        #expect(source.captureFormat.size == PixelSize(width: 100, height: 80))
        #expect(sink.wait { !$0.frames.isEmpty })
        source.stop()
        let seen = pixels(try #require(sink.frames.last).buffer)
        #expect(seen.count == 8000)
        let places = seen.indices.filter { seen[$0] != Self.red }
        #expect(!places.isEmpty)
        #expect(places.allSatisfy { (4..<35).contains($0 % 100) && (16..<55).contains($0 / 100) })
    }

    @Test("A region beyond the screen is an error with the screen's size")
    func outside() throws {
        let display = try VirtualDisplay()
        let region = PixelRectangle(x: 600, y: 0, size: PixelSize(width: 100, height: 100))
        let expected = CaptureError.regionOutsideScreen(region: region, screen: PixelSize(width: 640, height: 480))
        #expect(throws: expected) { try DisplaySource(area: .region(region), display: display.name) }
        #expect(expected.description.contains("640x480"))
    }

    @Test("Outputs are listed and shared by name, and an unknown one is an error with the known ones")
    func outputs() throws {
        let display = try VirtualDisplay()
        try display.run("xrandr", "--setmonitor", "left", "320/100x480/100+0+0", "screen")
        try display.run("xrandr", "--setmonitor", "right", "320/100x480/100+320+0", "none")
        let outputs = try DisplaySource.outputs(display: display.name)
        #expect(Set(outputs.map(\.description)) == ["left (320x480+0+0)", "right (320x480+320+0)"])
        do throws(CaptureError) {
            _ = try DisplaySource(area: .output("HDMI-7"), display: display.name)
            Issue.record("HDMI-7 was found")
        } catch {
            #expect(error == .unknownOutput(name: "HDMI-7", outputs: outputs))
            #expect(error.description.contains("left (320x480+0+0)"))
        }
        try display.run("xsetroot", "-solid", "#ff0000", "-cursor_name", "left_ptr")
        try display.run("xdotool", "mousemove", "420", "200")
        let source = try DisplaySource(area: .output("right"), display: display.name)
        #expect(source.captureFormat.size == PixelSize(width: 320, height: 480))
        let sink = Collector(keeping: 2)
        source.add(sink)
        try source.start()
        #expect(sink.wait { !$0.frames.isEmpty })
        source.stop()
        let seen = pixels(try #require(sink.frames.last).buffer)
        let places = seen.indices.filter { seen[$0] != Self.red }
        #expect(!places.isEmpty)
        #expect(places.allSatisfy { (90..<130).contains($0 % 320) })
    }

    @Test("An output has its monitor's product name, and none if the identification is invalid")
    func productNames() throws {
        let display = try VirtualDisplay()
        let client = try WindowClient(display: display)
        func names() throws -> [String?] { try DisplaySource.outputs(display: display.name).map(\.productName) }
        #expect(try names() == [nil])
        try client.setMonitor(MonitorIdentificationTests.block(name: Array("DELL U2720Q".utf8)))
        #expect(try names() == ["DELL U2720Q"])
        try client.setMonitor([1, 2, 3])
        #expect(try names() == [nil])
    }

    @Test("A change of the screen's size is followed, and a region outside is paused until it is on the screen again")
    func resize() throws {
        let display = try VirtualDisplay()
        let (whole, wholeSink) = try capture(.screen, of: display)
        let region = PixelRectangle(x: 300, y: 200, size: PixelSize(width: 100, height: 100))
        let (part, partSink) = try capture(.region(region), of: display)
        #expect(wholeSink.wait { !$0.frames.isEmpty })
        #expect(partSink.wait { !$0.frames.isEmpty })
        let observer = CaptureObserver()
        part.add(observer: observer)
        try display.run(
            "xrandr", "--newmode", "small", "1", "322", "322", "322", "322", "241", "241", "241", "241")
        try display.run("xrandr", "--addmode", "screen", "small")
        try display.run("xrandr", "--output", "screen", "--mode", "small")
        #expect(wholeSink.wait { $0.frames.last?.size == PixelSize(width: 322, height: 240) })
        #expect(observer.wait(for: 1))
        let interruption = CaptureInterruption.displayUnavailable(
            reason: "100x100+300+200 is not on the screen, which has become smaller")
        #expect(observer.events == [.interrupted(interruption)])
        #expect(part.broadcaster.isMuted)
        partSink.forgetFrames()
        try display.run("xrandr", "--output", "screen", "--mode", "640x480")
        #expect(partSink.wait { $0.frames.last?.size == region.size })
        #expect(observer.events == [.interrupted(interruption), .interruptionEnded(interruption)])
        #expect(!part.broadcaster.isMuted)
        #expect(partSink.ends.isEmpty)
        #expect(wholeSink.wait { $0.frames.last?.size == PixelSize(width: 640, height: 480) })
        #expect(wholeSink.ends.isEmpty)
        whole.stop()
        part.stop()
    }

    @Test("A share of a monitor is paused while the monitor is off, and shows no other one meanwhile")
    func unplugged() throws {
        let display = try VirtualDisplay()
        func plug() throws {
            try display.run("xrandr", "--setmonitor", "right", "320/100x480/100+320+0", "none")
        }
        try display.run("xrandr", "--setmonitor", "left", "320/100x480/100+0+0", "screen")
        try plug()
        let source = try DisplaySource(area: .output("right"), display: display.name)
        defer { source.stop() }
        let (sink, observer) = (Collector(keeping: 2), CaptureObserver())
        source.add(sink)
        source.add(observer: observer)
        try source.start()
        #expect(sink.wait { !$0.frames.isEmpty })
        let away = CaptureInterruption.displayUnavailable(reason: "the output 'right' is off or unplugged")
        for _ in 0..<2 {
            try display.run("xrandr", "--delmonitor", "right")
            #expect(observer.wait { $0.last == .interrupted(away) })
            #expect(source.broadcaster.isMuted)
            sink.forgetFrames()
            try plug()
            #expect(observer.wait { $0.last == .interruptionEnded(away) })
            #expect(sink.wait { $0.frames.last?.size == PixelSize(width: 320, height: 480) })
        }
        #expect(sink.ends.isEmpty)
    }

    @Test("A screen that is one pixel wide or high is an error with its size")
    func thin() throws {
        let display = try VirtualDisplay(screen: "1x300x24")
        let expected = CaptureError.unsharableSize(PixelSize(width: 1, height: 300))
        #expect(throws: expected) { try DisplaySource(area: .screen, display: display.name) }
        #expect(expected.description.contains("1x300"))
    }

    @Test("A server that is killed ends the source with an error that names the display")
    func killed() throws {
        let display = try VirtualDisplay()
        let (source, sink) = try capture(.screen, of: display)
        let observer = CaptureObserver()
        #expect(sink.wait { !$0.frames.isEmpty })
        source.add(observer: observer)
        display.kill()
        #expect(observer.wait(for: 1))
        source.stop()
        #expect(sink.ends.count == 1)
        // The observer was added after capture began.
        #expect(observer.events == [.failed(.systemFailure)])
        guard case .displayLost(display.name, _) = sink.ends.first.flatMap({ $0 }) as? CaptureError else {
            Issue.record("\(sink.ends)")
            return
        }
    }

    @Test("A server that hangs does not delay stop")
    func hanging() throws {
        let display = try VirtualDisplay()
        let (source, sink) = try capture(.screen, of: display)
        #expect(sink.wait { !$0.frames.isEmpty })
        display.suspend(true)
        defer { display.suspend(false) }
        let begin = monotonicNow()
        source.stop()
        #expect(monotonicNow() - begin < .seconds(2))
        #expect(sink.ends.count == 1)
    }

    @Test("A stopped source can be started again on the same display")
    func restart() throws {
        let display = try VirtualDisplay()
        let (source, sink) = try capture(.screen, of: display)
        #expect(sink.wait { !$0.frames.isEmpty })
        source.stop()
        let newest = try #require(sink.frames.last).timestamp
        try source.start()
        #expect(sink.wait { ($0.frames.last?.timestamp ?? .zero) > newest })
        source.stop()
        #expect(sink.ends.count == 2)
    }

    @Test("A screen of another depth is an error with the supported depths")
    func depth() throws {
        let display = try VirtualDisplay(screen: "320x240x16")
        do throws(CaptureError) {
            _ = try DisplaySource(area: .screen, display: display.name)
            Issue.record("depth 16 was taken")
        } catch {
            #expect(error == .unsupportedPixels(display: display.name, reason: "its depth is 16"))
            #expect(error.description.contains("x24"))
        }
    }

    @Test("A screen that the display does not have is rejected")
    func screenNumber() throws {
        let display = try VirtualDisplay()
        #expect(throws: CaptureError.displayUnavailable(display: "\(display.name).3", reason: "it has no such screen"))
        {
            try DisplaySource(area: .screen, display: "\(display.name).3")
        }
    }

    @Test("A source shares unnamed memory with the X server, which outlives it in neither process")
    func segments() throws {
        let display = try VirtualDisplay()
        func mappings() throws -> [Int] {
            try [ProcessInfo.processInfo.processIdentifier, display.processID].map { process in
                try kernelTable("/proc/\(process)/maps").split(separator: "\n")
                    .count { $0.contains("memfd:rtcshare-screen") }
            }
        }
        let (source, sink) = try capture(.screen, of: display)
        #expect(sink.wait { !$0.frames.isEmpty })
        let shared = try mappings()
        #expect(shared == [1, 1])
        source.stop()
        // A frame keeps the memory that it is in.
        sink.forgetFrames()
        // The server releases it when it reads our request, for which nothing waits.
        let deadline = monotonicNow() + .seconds(10)
        while try mappings() != [0, 0], monotonicNow() < deadline { usleep(10_000) }
        let left = try mappings()
        #expect(left == [0, 0])
    }

    /// A bitmap of 7×5 that no scaling or shift would leave alike, for xsetroot.
    private func stipple() throws -> String {
        let path = NSTemporaryDirectory() + "stipple-\(UUID().uuidString).xbm"
        let text = """
            #define s_width 7
            #define s_height 5
            static unsigned char s_bits[] = {
            0x15, 0x42, 0x7e, 0x01, 0x2c };
            """
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}

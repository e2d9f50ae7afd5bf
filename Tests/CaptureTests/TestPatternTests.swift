import Foundation
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite struct TestPatternTests {
    private static let sizes = [
        PixelSize(width: 128, height: 96), PixelSize(width: 320, height: 240), PixelSize(width: 1280, height: 720),
        PixelSize(width: 720, height: 1280), PixelSize(width: 1366, height: 768),
    ]

    @Test("A frame is a pure function of its number and size", arguments: sizes)
    func deterministic(size: PixelSize) {
        let pattern = TestPattern(size: size)
        for frame in [0, 1, 77, 1_000_000] {
            let first = pattern.render(frame: frame)
            #expect(first.size == size)
            #expect(first.samples == TestPattern.render(frame: frame, size: size).samples)
        }
        #expect(pattern.render(frame: 1).samples != pattern.render(frame: 2).samples)
    }

    @Test("The counter is read back", arguments: sizes, [0, 1, 2, 12345, 0x55_5555, 0xAA_AAAA, 0xFF_FFFF])
    func counter(size: PixelSize, frame: Int) {
        #expect(TestPattern.readCounter(from: TestPattern.render(frame: frame, size: size)) == frame)
    }

    @Test("The counter counts modulo 2^24, and no number of a frame traps")
    func wraps() {
        let pattern = TestPattern(size: PixelSize(width: 320, height: 240))
        #expect(TestPattern.readCounter(from: pattern.render(frame: 0x100_0005)) == 5)
        for frame in [Int.max, Int.min, -1] {
            #expect(TestPattern.readCounter(from: pattern.render(frame: frame)) == frame & 0xFF_FFFF)
        }
    }

    @Test("The counter survives halving, blur and noise", arguments: [0, 4711, 0xAB_CDEF])
    func robust(frame: Int) {
        let picture = TestPattern.render(frame: frame, size: PixelSize(width: 640, height: 360))
        var generator = Noise(state: UInt64(frame) &+ 1)
        var luma = Luma(picture)
        for _ in 0..<2 {
            luma = luma.halved()
            #expect(TestPattern.readCounter(from: luma.blurred().noisy(by: 40, &generator).buffer()) == frame)
        }
    }

    @Test("The counter is read from BGRA as well, and from another size than it was drawn in")
    func otherForms() {
        let luma = Luma(TestPattern.render(frame: 99, size: PixelSize(width: 1280, height: 720)))
        #expect(TestPattern.readCounter(from: luma.bgra()) == 99)
        #expect(TestPattern.readCounter(from: luma.scaled(width: 906, height: 510).buffer()) == 99)
    }

    @Test("A frame without a counter reads as none")
    func absent() {
        var generator = Noise(state: 3)
        let size = PixelSize(width: 320, height: 240)
        for level in [0, 16, 128, 235] {
            let flat = Luma(size: size, samples: [UInt8](repeating: UInt8(level), count: size.area))
            #expect(TestPattern.readCounter(from: flat.buffer()) == nil)
            #expect(TestPattern.readCounter(from: flat.noisy(by: 16, &generator).buffer()) == nil)
        }
        let tiny = Luma(size: PixelSize(width: 8, height: 8), samples: [UInt8](repeating: 0, count: 64))
        #expect(TestPattern.readCounter(from: tiny.buffer()) == nil)
    }

    @Test("A counter with any flipped cell is rejected")
    func flippedCell() {
        let size = PixelSize(width: 320, height: 240)
        let clean = Luma(TestPattern.render(frame: 0x12_3456, size: size))
        for cell in 0..<32 {
            var samples = clean.samples
            for row in 0..<15 {
                for column in cell * 10..<cell * 10 + 10 {
                    samples[row * 320 + column] = 251 - samples[row * 320 + column]
                }
            }
            #expect(TestPattern.readCounter(from: Luma(size: size, samples: samples).buffer()) == nil)
        }
    }

    @Test(
        "A frame equals the one before it outside of its damage", arguments: sizes,
        [(0, 1), (2, 3), (9, 300)])
    func damage(size: PixelSize, frames: (Int, Int)) {
        let pattern = TestPattern(size: size)
        let damage = pattern.damage(from: frames.0, to: frames.1)
        let (before, after) = (pattern.render(frame: frames.0).samples, pattern.render(frame: frames.1).samples)
        var strays = 0
        for plane in 0..<3 {
            let scale = plane == 0 ? 1 : 2
            let width = size.width / scale
            for index in before[plane].indices where before[plane][index] != after[plane][index] {
                let (x, y) = (index % width * scale, index / width * scale)
                let isCovered = damage.contains {
                    ($0.x..<$0.x + $0.size.width).contains(x) && ($0.y..<$0.y + $0.size.height).contains(y)
                }
                if !isCovered { strays += 1 }
            }
        }
        #expect(strays == 0)
        #expect(damage.reduce(0) { $0 + $1.size.area } < size.area / 2)
    }

    @Test("The source delivers frames at its rate, with timestamps of the monotonic clock")
    func source() throws {
        let source = try TestPatternSource(size: PixelSize(width: 320, height: 240), framesPerSecond: 100)
        let sink = Collector()
        source.add(sink)
        let observer = CaptureObserver()
        source.add(observer: observer)
        let before = monotonicNow()
        try source.start()
        try source.start()
        #expect(sink.wait { $0.frames.count >= 20 })
        source.stop()
        source.stop()
        let frames = sink.frames
        #expect(sink.ends.count == 1)
        #expect(sink.ends.allSatisfy { $0 == nil })
        // The frame that is due comes at once.
        #expect(frames[0].timestamp > before - .milliseconds(10))
        #expect(frames.last.map { $0.timestamp <= monotonicNow() } == true)
        // To a sink that has just been added all is new.
        #expect(frames[0].damage == nil)
        for frame in frames {
            let counter = TestPattern.readCounter(from: frame.buffer)
            let number = try #require(counter)
            // Frame N is due N hundredths of a second after a whole second, without drift.
            let second = frame.timestamp - .milliseconds(10 * number)
            #expect(second == .seconds(second.components.seconds))
            let samples = frame.buffer.samples
            #expect(samples == TestPattern.render(frame: number, size: frame.size, framesPerSecond: 100).samples)
        }
        try source.start()
        #expect(sink.wait { $0.frames.count > frames.count })
        source.stop()
        let first = try #require(TestPattern.readCounter(from: sink.frames[frames.count].buffer))
        #expect(first < 100)
        #expect(observer.events == [.started, .stopped, .started, .stopped])
    }

    @Test(
        "The square in the corner is white for the first 100 ms of each second, by the source's schedule",
        arguments: [0.1, 1, 5, 15, 24, 29.97, 30, 59.94, 60, 240])
    func flash(rate: Double) {
        let pattern = TestPattern(size: PixelSize(width: 320, height: 240), framesPerSecond: rate)
        let schedule = TickSchedule(start: .zero, framesPerSecond: rate)
        let wrong = (0..<2000).filter { frame in
            let due = schedule.deadline(frame)
            return pattern.isFlash(frame: frame) != (due - .seconds(due.components.seconds) < .milliseconds(100))
        }
        #expect(wrong.isEmpty)
        if rate == 30 { #expect((0..<62).filter { pattern.isFlash(frame: $0) } == [0, 1, 2, 30, 31, 32, 60, 61]) }
        for frame in 0..<60 where rate == 30 {
            let luma = Luma(pattern.render(frame: frame))
            let expected: UInt8 = frame % 30 < 3 ? 235 : 16
            // An eighth of 240 lines.
            let square = (210..<240).flatMap { y in (290..<320).map { luma.samples[y * 320 + $0] } }
            #expect(square.allSatisfy { $0 == expected })
        }
        for frame in [Int.min, -1, Int.max] { _ = pattern.isFlash(frame: frame) }
    }

    @Test("A sink can stop the source while the source calls it")
    func stopFromSink() throws {
        final class Stopper: VideoSink {
            let source: TestPatternSource
            let ended = DispatchSemaphore(value: 0)
            init(_ source: TestPatternSource) { self.source = source }
            func receive(_ frame: VideoFrame) { source.stop() }
            func sourceDidEnd(error: (any Error)?) { ended.signal() }
        }
        let source = try TestPatternSource(size: PixelSize(width: 128, height: 96))
        let sink = Stopper(source)
        source.add(sink)
        try source.start()
        #expect(sink.ended.wait(timeout: .now() + 10) == .success)
        source.stop()
        source.remove(sink)
    }

    @Test("A tick that is missed is skipped, and later ticks keep their times")
    func schedule() {
        let schedule = TickSchedule(start: .seconds(5), framesPerSecond: 30)
        #expect(schedule.deadline(0) == .seconds(5))
        #expect(schedule.deadline(30) == .seconds(6))
        #expect(schedule.deadline(30 * 86400) == .seconds(5 + 86400))
        #expect(schedule.tick(after: 3, now: schedule.deadline(3)) == 4)
        #expect(schedule.tick(after: 3, now: schedule.deadline(4) + .milliseconds(1)) == 4)
        #expect(schedule.tick(after: 3, now: schedule.deadline(9) + .milliseconds(1)) == 9)
    }
}

/// A repeatable generator (xorshift).
struct Noise {
    var state: UInt64

    mutating func next(_ range: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(range))
    }
}

/// A grey frame that a test damages.
struct Luma {
    var size: PixelSize
    var samples: [UInt8]

    init(size: PixelSize, samples: [UInt8]) {
        self.size = size
        self.samples = samples
    }

    init(_ buffer: some VideoFrameBuffer) {
        self.init(size: buffer.size, samples: buffer.samples[0])
    }

    func halved() -> Luma { scaled(width: size.width / 2, height: size.height / 2) }

    func scaled(width: Int, height: Int) -> Luma {
        var result: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let column = x * size.width / width
                let row = y * size.height / height
                let right = min(column + 1, size.width - 1)
                result.append(
                    UInt8((Int(samples[row * size.width + column]) + Int(samples[row * size.width + right])) / 2))
            }
        }
        return Luma(size: PixelSize(width: width, height: height), samples: result)
    }

    func blurred() -> Luma {
        var copy = self
        for index in samples.indices.dropFirst().dropLast() {
            copy.samples[index] = UInt8(
                (Int(samples[index - 1]) + Int(samples[index]) + Int(samples[index + 1])) / 3)
        }
        return copy
    }

    func noisy(by amplitude: Int, _ generator: inout Noise) -> Luma {
        var copy = self
        for index in samples.indices {
            copy.samples[index] = UInt8(
                clamping: Int(samples[index]) + generator.next(2 * amplitude + 1) - amplitude)
        }
        return copy
    }

    func buffer() -> PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, strides in
            for y in 0..<size.height {
                for x in 0..<size.width { planes[0][y * strides[0] + x] = samples[y * size.width + x] }
            }
        }
    }

    func bgra() -> PixelBuffer {
        PixelBuffer(size: size, format: .bgra) { planes, strides in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    for channel in 0..<4 {
                        planes[0][y * strides[0] + 4 * x + channel] = samples[y * size.width + x]
                    }
                }
            }
        }
    }
}

import Foundation
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareCapture

@Suite struct DisplayLinkTests {
    @Test(
        "The next tick is the first that is not yet due when the closure returns",
        arguments: [
            (0, 0.0, 1), (0, 32.9, 1), (0, 33.4, 2), (0, 66.6, 2), (0, 66.7, 3), (3, 50.0, 4), (0, 1000.0, 30),
            (0, 1000.001, 31),
        ])
    func next(number: Int, milliseconds: Double, expected: Int) {
        let schedule = TickSchedule(start: .seconds(5), framesPerSecond: 30)
        let now = schedule.start + .seconds(milliseconds / 1000)
        #expect(schedule.tick(after: number, dueFrom: now) == expected)
    }

    @Test("A closure that returns exactly when the next tick is due is not late", arguments: [0.1, 1, 29.97, 30, 240])
    func exact(rate: Double) {
        let schedule = TickSchedule(start: .seconds(12345), framesPerSecond: rate)
        let wrong = (0..<1000).filter { number in
            let due = schedule.deadline(number + 1)
            return schedule.tick(after: number, dueFrom: due) != number + 1
                || schedule.tick(after: number, dueFrom: due + .nanoseconds(1)) != number + 2
        }
        #expect(wrong.isEmpty)
    }

    @Test("The closure is called at each tick, and ticks that become due while it runs are skipped and counted")
    func skipping() throws {
        let ticks = Locked<[DisplayLink.Tick]>([])
        let called = DispatchSemaphore(value: 0)
        let link = try DisplayLink(framesPerSecond: 100) { tick in
            ticks.withLock { $0.append(tick) }
            // Beyond the next tick, by the clock of the link.
            while tick.number == 2, monotonicNow() < tick.dueTime + .milliseconds(35) {}
            called.signal()
        }
        try link.start()
        try link.start()
        for _ in 0..<6 { #expect(called.wait(timeout: .now() + 10) == .success) }
        link.stop()
        link.stop()
        let seen = ticks.withLock { $0 }
        let numbers = seen.map(\.number)
        #expect(numbers[0] == 0)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        #expect(seen.allSatisfy { $0.dueTime - seen[0].dueTime == .milliseconds(10 * $0.number) })
        #expect(link.ticksSkipped >= numbers[numbers.count - 1] - (numbers.count - 1))
        if let index = numbers.firstIndex(of: 2), index + 1 < numbers.count { #expect(numbers[index + 1] >= 6) }
        // No call after stop has returned.
        #expect(ticks.withLock { $0.count } == seen.count)
    }

    @Test("A rate that cannot be kept is an error", arguments: [0, -1, .nan, .infinity, 1000])
    func rates(rate: Double) {
        #expect(throws: CaptureError.self) { try DisplayLink(framesPerSecond: rate) { _ in } }
        #expect(throws: CaptureError.self) {
            try PullVideoSource(size: PixelSize(width: 2, height: 2), framesPerSecond: rate) { _ in nil }
        }
    }

    @Test("A custom capturer delivers each drawn frame with the time of its tick, and none if none is drawn")
    func capturer() throws {
        let size = PixelSize(width: 128, height: 96)
        let pattern = TestPattern(size: size)
        let capturer = try PullVideoSource(size: size, framesPerSecond: 100, contentHint: .motion) { tick in
            tick.number.isMultiple(of: 2) ? pattern.render(frame: tick.number) : nil
        }
        let (sink, observer) = (Collector(), CaptureObserver())
        capturer.add(sink)
        capturer.add(observer: observer)
        #expect(capturer.captureFormat == CaptureFormat(size: size, framesPerSecond: 100))
        #expect(capturer.contentHint == .motion)
        try capturer.start()
        #expect(sink.wait { $0.frames.count >= 4 })
        capturer.stop()
        capturer.stop()
        let numbers = sink.frames.compactMap { TestPattern.readCounter(from: $0.buffer) }
        #expect(numbers.count == sink.frames.count)
        #expect(numbers.allSatisfy { $0.isMultiple(of: 2) })
        let first = sink.frames[0].timestamp - .milliseconds(10 * numbers[0])
        #expect(zip(sink.frames, numbers).allSatisfy { $0.timestamp == first + .milliseconds(10 * $1) })
        #expect(sink.ends.count == 1)
        #expect(observer.events == [.started, .stopped])
    }

    @Test("A sink that is added between frames gets the newest frame, with its rotation and time")
    func capturedFrames() throws {
        let picture = TestPattern(size: PixelSize(width: 128, height: 96)).render(frame: 7)
        let capturer = try PullVideoSource(
            framesOf: PixelSize(width: 128, height: 96), framesPerSecond: 100
        ) { tick in
            guard tick.number == 0 else { return nil }
            return VideoFrame(buffer: picture, timestamp: tick.dueTime - .milliseconds(40), rotation: .quarter)
        }
        let first = Collector()
        capturer.add(first)
        try capturer.start()
        defer { capturer.stop() }
        #expect(first.wait { !$0.frames.isEmpty })
        let late = Collector()
        capturer.add(late)
        #expect(late.wait { !$0.frames.isEmpty })
        let (drawn, again) = (try #require(first.frames.first), try #require(late.frames.first))
        #expect(drawn.rotation == .quarter && again.rotation == .quarter)
        #expect(again.timestamp > drawn.timestamp && again.damage == nil)
        #expect(TestPattern.readCounter(from: again.buffer) == 7)
    }

    @Test("A custom capturer can be stopped by its drawing closure")
    func stopFromDraw() throws {
        let capturer = Locked<PullVideoSource?>(nil)
        let size = PixelSize(width: 2, height: 2)
        let own = try PullVideoSource(size: size, framesPerSecond: 100) { _ in
            capturer.withLock { $0 }?.stop()
            return nil
        }
        capturer.withLock { $0 = own }
        let observer = CaptureObserver()
        own.add(observer: observer)
        try own.start()
        #expect(observer.wait(for: 2))
        own.stop()
        #expect(observer.events == [.started, .stopped])
        capturer.withLock { $0 = nil }
    }
}

import RTCShareLocks
import RTCShareMedia
import Testing

@Suite("Frame rates and still sources", .timeLimit(.minutes(1)))
struct FrameOutletTests {
    private let time = ManualTimer()

    private func number(_ index: Int, at timestamp: Duration) -> VideoFrame {
        let buffer = PixelBuffer(size: PixelSize(width: 16, height: 16), format: .bgra) { planes, _ in
            for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: UInt8(index)) }
        }
        return VideoFrame(buffer: buffer, timestamp: timestamp)
    }

    private func numbers(in log: FrameLog) -> [Int] {
        log.frames.map { frame in frame.buffer.withPlanes { Int($0.planes[0][0]) } }
    }

    @Test(
        "The last frame of a source that comes to rest arrives when the rate permits it",
        arguments: [5.0, 15, 24, 30], [30, 60])
    func lastFrame(framesPerSecond: Double, sourceRate: Int) {
        for count in 30..<60 {
            let source = PushVideoSource(isScreencast: true, timer: time.timer)
            let log = FrameLog()
            source.adaptOutputFormat(width: 1280, height: 720, fps: framesPerSecond)
            source.add(log)
            for index in 0..<count {
                source.capture(number(index, at: time.timer.now()))
                time.advance(.seconds(1) / sourceRate)
            }
            time.advance(.seconds(1 / framesPerSecond))
            #expect(numbers(in: log).last == count - 1)
            #expect(Set(numbers(in: log)).count == log.frames.count, "no frame comes twice")
            let most = Double(count) / Double(sourceRate) * framesPerSecond + 3
            #expect(Double(log.frames.count) <= most, "\(log.frames.count) frames of \(count)")
        }
    }

    @Test("A deferred frame has the time of its delivery and all damage since the last frame")
    func lateFrame() {
        let source = PushVideoSource(isScreencast: true, timer: time.timer)
        let log = FrameLog()
        source.add(log)
        source.adaptOutputFormat(width: 1280, height: 720, fps: 5)
        let begin = time.timer.now()
        let parts = (0..<3).map { PixelRectangle(x: $0 * 2, y: 0, size: PixelSize(width: 2, height: 2)) }
        for index in 0..<3 {
            source.capture(VideoFrame(buffer: grey().buffer, timestamp: time.timer.now(), damage: [parts[index]]))
            time.advance(.milliseconds(10))
        }
        time.advance(.seconds(1))
        #expect(log.frames.map { $0.timestamp - begin } == [.zero, .milliseconds(100)])
        #expect(log.frames.map(\.damage) == [nil, [parts[1], parts[2]]])
    }

    /// A sink whose source delivers another frame while this sink takes one.
    private final class BusySink: VideoSink {
        let numbers = Locked<[Int]>([])
        let giveNext = Locked<(@Sendable (Int) -> Void)?>(nil)

        func receive(_ frame: VideoFrame) {
            let count = numbers.withLock { numbers in
                numbers.append(frame.buffer.withPlanes { Int($0.planes[0][0]) })
                return numbers.count
            }
            giveNext.withLock { $0 }?(count)
        }
    }

    @Test("A sink that is added causes one frame for the others, whatever the source delivers meanwhile")
    func joiningSink() {
        let source = PushVideoSource(isScreencast: true, timer: time.timer)
        let track = VideoTrack(id: "v", source: source, timer: time.timer)
        let (busy, late) = (BusySink(), FrameLog())
        track.add(busy)
        source.capture(number(1, at: time.timer.now()))
        busy.giveNext.withLock { next in
            next = { [self] count in if count < 9 { source.capture(number(count, at: time.timer.now())) } }
        }
        track.add(late)
        #expect(busy.numbers.withLock { $0 } == [1, 1], "the caller was kept")
        time.advance(.milliseconds(1))
        #expect(busy.numbers.withLock { $0.last } == 8)
        #expect(numbers(in: late).last == 8)
    }

    @Test("The last frame is delivered before the end of its source")
    func lastFrameBeforeEnd() {
        let source = PushVideoSource(isScreencast: true, timer: time.timer)
        let track = VideoTrack(id: "v", source: source, timer: time.timer)
        let log = FrameLog()
        track.add(log)
        track.adaptOutputFormat(width: 1280, height: 720, fps: 1)
        for index in 0..<3 { source.capture(number(index, at: time.timer.now())) }
        source.end()
        #expect(numbers(in: log) == [0, 2] && log.entries.ends == 1)
        time.advance(.seconds(10))
        #expect(log.frames.count == 2)
    }

    @Test("A sink that is added late gets the newest frame, also through a track")
    func lateSink() {
        let source = PushVideoSource(isScreencast: true, timer: time.timer)
        source.capture(number(7, at: .zero))
        let (direct, behind) = (FrameLog(), FrameLog())
        time.advance(.seconds(30))
        source.add(direct)
        let track = VideoTrack(id: "v", source: source, timer: time.timer)
        track.add(behind)
        #expect(numbers(in: direct) == [7, 7] && numbers(in: behind) == [7])
        #expect(behind.frames[0].damage == nil && behind.frames[0].timestamp == .seconds(30))
    }

    @Test("A frame that arrives while a mute ends is delivered, also if no other follows")
    func muteEndsMeanwhile() {
        let source = PlainSource()
        let track = VideoTrack(id: "v", source: source, timer: time.timer)
        let log = FrameLog()
        track.add(log)
        track.isPaused = true
        let buffer = WatchedBuffer { track.isPaused = false }
        source.sink?.receive(VideoFrame(buffer: buffer, timestamp: time.timer.now()))
        #expect(log.frames.count == 1 && !track.isMuted)
    }

    /// A source of one sink that delivers frames unchanged.
    private final class PlainSource: VideoSource {
        private let state = Locked<(any VideoSink)?>(nil)
        let contentHint = ContentHint.none
        var sink: (any VideoSink)? { state.withLock { $0 } }
        func add(_ sink: any VideoSink) { state.withLock { $0 = sink } }
        func remove(_ sink: any VideoSink) { state.withLock { $0 = nil } }
    }

    /// Calls an action when its planes are read.
    private final class WatchedBuffer: VideoFrameBuffer {
        private let buffer = grey().buffer
        private let action: @Sendable () -> Void
        var size: PixelSize { buffer.size }
        var format: PixelFormat { buffer.format }

        init(_ action: @escaping @Sendable () -> Void) {
            self.action = action
        }

        func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
            action()
            return try buffer.withPlanes(body)
        }
    }

    @Test("A format without pixels delivers no frame and starts no timer")
    func noPixels() {
        let source = PushVideoSource(isScreencast: true, timer: time.timer)
        let log = FrameLog()
        source.add(log)
        source.adaptOutputFormat(width: 0, height: 0, fps: 5)
        source.capture(number(1, at: .zero))
        time.advance(.seconds(10))
        #expect(log.frames.isEmpty)
        source.adaptOutputFormat(width: 100, height: 100, fps: 5)
        #expect(numbers(in: log) == [1])
    }

    @Test("A source that asks before it captures delivers no more frames than the rate permits")
    func demand() {
        let source = AskingSource()
        let track = VideoTrack(id: "v", source: source, timer: time.timer)
        let log = FrameLog()
        track.add(log)
        track.adaptOutputFormat(width: 100, height: 100, fps: 5)
        for _ in 0..<60 {
            if source.broadcaster.demand > .nothing {
                source.broadcaster.send(VideoFrame(buffer: grey().buffer, timestamp: time.timer.now()))
            }
            time.advance(.seconds(1) / 60)
        }
        #expect((5...6).contains(log.frames.count) && source.broadcaster.framesRefused == 0)
    }

    @Test(
        "A frame with odd sides loses a column or a row instead of being scaled",
        arguments: [(1365, 768), (1366, 767), (641, 481)])
    func oddSides(width: Int, height: Int) {
        let track = VideoTrack(id: "v", source: AskingSource(), timer: time.timer)
        let log = FrameLog()
        track.add(log)
        let even = PixelSize(width: width & ~1, height: height & ~1)
        for format in [nil, PixelSize(width: 1920, height: 1080)] {
            if let format { track.adaptOutputFormat(width: format.width, height: format.height, fps: 0) }
            (track.source as? AskingSource)?.broadcaster.send(grey(width, height))
            #expect(log.frames.last?.size == even && log.frames.last?.outputSize == even)
        }
        // A frame that is scaled down anyway keeps its whole area.
        track.adaptOutputFormat(width: 320, height: 240, fps: 0)
        (track.source as? AskingSource)?.broadcaster.send(grey(width, height))
        #expect(log.frames.last?.size == PixelSize(width: width, height: height))
    }

    private final class AskingSource: BroadcastingVideoSource {
        let broadcaster = VideoBroadcaster()
    }
}

import RTCShareLocks
import RTCShareMedia
import Testing

private final class RecordingSink: VideoSink {
    private let log = Locked<(timestamps: [Duration], ends: Int)>(([], 0))
    private let onFrame: @Sendable (RecordingSink) -> Void

    init(onFrame: @escaping @Sendable (RecordingSink) -> Void = { _ in }) {
        self.onFrame = onFrame
    }

    var timestamps: [Duration] { log.withLock { $0.timestamps } }
    var ends: Int { log.withLock { $0.ends } }

    func receive(_ frame: VideoFrame) {
        log.withLock { $0.timestamps.append(frame.timestamp) }
        onFrame(self)
    }

    func sourceDidEnd(error: (any Error)?) {
        log.withLock { $0.ends += 1 }
    }
}

/// Calls a closure when it is freed.
private final class FreedSink: VideoSink {
    private let onFree: @Sendable () -> Void

    init(onFree: @escaping @Sendable () -> Void) { self.onFree = onFree }

    deinit { onFree() }

    func receive(_ frame: VideoFrame) {}
}

private func frame(_ seconds: Int) -> VideoFrame {
    let buffer = PixelBuffer(size: PixelSize(width: 2, height: 2), format: .bgra) { planes, _ in
        planes[0].initializeMemory(as: UInt8.self, repeating: 0)
    }
    return VideoFrame(buffer: buffer, timestamp: .seconds(seconds))
}

/// A capture of video and audio, of which only its observers are notified.
private final class SilentCapture: CaptureSource, AudioCaptureSource, BroadcastingVideoSource {
    let captureFormat = CaptureFormat(size: PixelSize(width: 2, height: 2), framesPerSecond: 1)
    let audioFormat = AudioFormat(sampleRate: 48_000, channels: 1)
    let broadcaster = VideoBroadcaster()

    func start() {}
    func stop() {}
    func add(_ sink: any AudioSink) {}
    func remove(_ sink: any AudioSink) {}
}

@Suite("VideoBroadcaster")
struct BroadcasterTests {
    @Test("A reader gets the events of a capture up to its end, and of many the newest", .timeLimit(.minutes(1)))
    func events() async {
        let capture = SilentCapture()
        let (events, others) = (capture.events, capture.events)
        for width in 1...100 { capture.broadcaster.observers.sizeDidChange(to: PixelSize(width: width, height: 1)) }
        capture.broadcaster.observers.didRefuse(CaptureSourceError(.unknown, "no frame"))
        capture.broadcaster.observers.didEnd(error: nil)
        capture.broadcaster.observers.didStart()
        for events in [events, others] {
            var texts: [String] = []
            for await event in events { texts.append("\(event)") }
            #expect(texts.count == 64)
            #expect(texts.last == "stopped" && texts.dropLast().last?.hasPrefix("failed") == true)
        }
    }

    @Test("A late reader first gets the start and the interruption of the capture that still hold")
    func lateReader() async {
        let capture = SilentCapture()
        let observers = capture.broadcaster.observers
        observers.didStart()
        observers.wasInterrupted(by: .minimized)
        let during = capture.events
        observers.interruptionDidEnd(.minimized)
        let after = capture.events
        observers.didEnd(error: nil)
        let restarted = capture.events
        observers.didStart()
        observers.didEnd(error: nil)
        let started = ["started", "stopped"]
        let interrupted = ["started", "interrupted", "interruptionEnded", "stopped"]
        let cases = [(during, interrupted), (after, started), (restarted, started)]
        for (events, expected) in cases {
            var names: [String] = []
            for await event in events { names.append(String("\(event)".prefix { $0.isLetter })) }
            #expect(names == expected)
        }
    }

    @Test("The events of a source that is never started end when it is released", .timeLimit(.minutes(1)))
    func releasedSource() async {
        for await event in SilentCapture().events { Issue.record("\(event)") }
    }

    @Test("Every sink gets every frame once, also if it is added twice")
    func all() {
        let broadcaster = VideoBroadcaster()
        let (one, other) = (RecordingSink(), RecordingSink())
        broadcaster.add(one)
        broadcaster.add(other)
        broadcaster.add(one)
        broadcaster.send(frame(1))
        broadcaster.end(error: nil)
        #expect(one.timestamps == [.seconds(1)])
        #expect(other.timestamps == [.seconds(1)])
        #expect(one.ends == 1)
    }

    @Test("A removed sink gets neither frames nor the end")
    func removed() {
        let broadcaster = VideoBroadcaster()
        let sink = RecordingSink()
        broadcaster.add(sink)
        broadcaster.send(frame(1))
        broadcaster.remove(sink)
        broadcaster.remove(sink)
        broadcaster.send(frame(2))
        broadcaster.end(error: nil)
        #expect(sink.timestamps == [.seconds(1)])
        #expect(sink.ends == 0)
    }

    @Test("No lock is held while the last reference to a sink is released")
    func freedSink() {
        let broadcaster = VideoBroadcaster()
        let successor = RecordingSink()
        broadcaster.add(FreedSink { broadcaster.add(successor) })
        broadcaster.removeAll()
        broadcaster.send(frame(1))
        #expect(successor.timestamps == [.seconds(1)])
    }

    @Test("A sink can remove itself while it takes a frame, and later sinks still get the frame")
    func removesItself() {
        let broadcaster = VideoBroadcaster()
        let first = RecordingSink { broadcaster.remove($0) }
        let second = RecordingSink()
        broadcaster.add(first)
        broadcaster.add(second)
        broadcaster.send(frame(1))
        broadcaster.send(frame(2))
        #expect(first.timestamps == [.seconds(1)])
        #expect(second.timestamps == [.seconds(1), .seconds(2)])
    }

    @Test("A sink that another sink removes during a frame does not get that frame")
    func removedByAnother() {
        let broadcaster = VideoBroadcaster()
        let second = RecordingSink()
        let first = RecordingSink { _ in broadcaster.remove(second) }
        broadcaster.add(first)
        broadcaster.add(second)
        broadcaster.send(frame(1))
        #expect(second.timestamps.isEmpty)
    }

    @Test("A sink that is added during a frame begins with the next frame")
    func addedDuringRound() {
        let broadcaster = VideoBroadcaster()
        let late = RecordingSink()
        broadcaster.add(RecordingSink { _ in broadcaster.add(late) })
        broadcaster.send(frame(1))
        #expect(late.timestamps.isEmpty)
        broadcaster.send(frame(2))
        #expect(late.timestamps == [.seconds(2)])
    }
}

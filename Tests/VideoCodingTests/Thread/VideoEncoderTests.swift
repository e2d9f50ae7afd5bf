import Foundation
import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

/// The frames that an encoder delivered, with a way to wait for them and a gate that holds its thread in the callback.
private final class Output: Sendable {
    private struct Log {
        var frames: [EncodedVideoFrame] = []
        var failures: [VideoCodingError] = []
        var endings = 0
        var isHeld = false
        var isInside = false
    }
    private let log = Mailbox(Log())

    var frames: [EncodedVideoFrame] { log.read { $0.frames } }
    var failures: [VideoCodingError] { log.read { $0.failures } }
    var endings: Int { log.read { $0.endings } }

    func take(_ frame: EncodedVideoFrame) {
        log.post {
            $0.frames.append(frame)
            $0.isInside = true
        }
        log.take { $0.isHeld ? .wait(until: nil) : .done(()) }
        log.post { $0.isInside = false }
    }

    func take(_ event: VideoEncoder.Event) {
        log.post {
            switch event {
            case .failed(let error): $0.failures.append(error)
            case .sourceEnded: $0.endings += 1
            case .drifted, .unusable: break
            }
        }
    }

    /// Holds the thread in its next callback until told to go on.
    func hold(_ isHeld: Bool) {
        log.post { $0.isHeld = isHeld }
    }

    func waitUntilInside() {
        log.take { $0.isInside ? .done(()) : .wait(until: nil) }
    }

    func waitForFrames(_ count: Int) -> [EncodedVideoFrame] {
        log.take { $0.frames.count >= count ? .done($0.frames) : .wait(until: nil) }
    }

    func waitForEvents(_ count: Int) {
        log.take { $0.failures.count + $0.endings >= count ? .done(()) : .wait(until: nil) }
    }
}

@Suite("VideoEncoder", .timeLimit(.minutes(1)))
struct VideoEncoderTests {
    private let size = PixelSize(width: 160, height: 120)
    private let source = DirectSource()

    /// The capture time of the first frame.
    private let begin = CaptureClock.now

    private func frame(_ index: Int, seed: UInt64 = 1, rotation: VideoRotation = .upright) -> VideoFrame {
        VideoFrame(
            buffer: TextPicture(size: size, seed: seed).i420, timestamp: begin + .milliseconds(index * 40),
            rotation: rotation)
    }

    private func start(
        _ output: Output, _ change: (inout VideoEncoder.Settings) -> Void = { _ in }
    ) throws -> VideoEncoder {
        var settings = VideoEncoder.Settings(bitrate: .kilobitsPerSecond(1000))
        change(&settings)
        let thread = try VideoEncoder(
            .vp8, settings: settings, onFrame: { frame, _ in output.take(frame) }, onEvent: { output.take($0) })
        thread.show(source)
        return thread
    }

    @Test("The frames are decodable, begin with a key frame and have increasing timestamps")
    func frames() throws {
        let output = Output()
        let thread = try start(output)
        let decoder = try VP8Decoder()
        for index in 0..<10 {
            source.receive(frame(index, seed: UInt64(index + 1)))
            _ = output.waitForFrames(index + 1)
        }
        thread.stop()
        let frames = output.frames
        #expect(frames[0].isKeyFrame && frames.dropFirst().allSatisfy { !$0.isKeyFrame })
        for (one, next) in zip(frames, frames.dropFirst()) { #expect(one.timestamp < next.timestamp) }
        for frame in frames { #expect(try decoder.decode(frame.data)?.size == size) }
        let statistics = thread.statistics
        #expect(statistics.framesEncoded == frames.count)
        #expect(statistics.bytesEncoded == frames.reduce(0) { $0 + $1.data.count })
        #expect(statistics.qpSum == frames.reduce(0) { $0 + $1.quantizer })
        #expect(statistics.keyFramesEncoded == 1)
        #expect(statistics.size == size && statistics.sourceSize == size)
        #expect(statistics.totalEncodeTime > .zero)
    }

    @Test("The input slot keeps the newest frame while the thread is busy and counts the others as dropped")
    func keepsNewest() throws {
        let output = Output()
        let thread = try start(output)
        output.hold(true)
        source.receive(frame(0))
        output.waitUntilInside()
        for index in 1...9 { source.receive(frame(index, seed: UInt64(index + 1))) }
        output.hold(false)
        let frames = output.waitForFrames(2)
        thread.stop()
        #expect(frames[1].timestamp == begin + .milliseconds(9 * 40))
        let statistics = thread.statistics
        #expect(statistics.framesReceived == 10)
        #expect(statistics.framesDropped == 8)
        let decoder = try VP8Decoder()
        _ = try decoder.decode(frames[0].data)
        let picture = try #require(try decoder.decode(frames[1].data))
        let newest = try StructuralSimilarity.luma(picture, TextPicture(size: size, seed: 10).i420)
        let older = try StructuralSimilarity.luma(picture, TextPicture(size: size, seed: 9).i420)
        #expect(newest > older + 0.2)
    }

    @Test("Several waiting requests are answered by one key frame, of the last frame if no new one arrives")
    func coalescesKeyFrames() throws {
        let output = Output()
        let thread = try start(output)
        output.hold(true)
        source.receive(frame(0))
        output.waitUntilInside()
        for _ in 0..<20 { thread.requestKeyFrame() }
        output.hold(false)
        // A repetition or two more would show a second answer.
        let frames = output.waitForFrames(5)
        thread.stop()
        #expect(frames[0].isKeyFrame && frames[1].isKeyFrame)
        #expect(frames[2...].allSatisfy { !$0.isKeyFrame })
        #expect(thread.statistics.keyFramesEncoded == 2)
        #expect(thread.statistics.framesRepeated == thread.statistics.framesEncoded - 1)
    }

    @Test("A static frame is sharpened without a new frame")
    func refines() throws {
        let output = Output()
        let thread = try start(output) { $0.bitrate = .kilobitsPerSecond(300) }
        source.receive(frame(0))
        let frames = output.waitForFrames(12)
        thread.stop()
        let decoder = try VP8Decoder()
        let source = TextPicture(size: size).i420
        let similarities = try frames.map {
            try StructuralSimilarity.luma(try #require(try decoder.decode($0.data)), source)
        }
        #expect(similarities[11] > similarities[0] || similarities[0] > 0.99)
        #expect(similarities[11] > 0.95)
    }

    @Test("Settings change while running; only a new size needs a key frame")
    func update() throws {
        let output = Output()
        let thread = try start(output)
        source.receive(frame(0))
        _ = output.waitForFrames(1)
        thread.update {
            $0.bitrate = .kilobitsPerSecond(200)
            $0.framesPerSecond = 15
            $0.hint = .motion
        }
        source.receive(frame(10, seed: 2))
        let count = output.waitForFrames(3).count
        thread.update { $0.maximumSize = PixelSize(width: 100, height: 100) }
        while output.frames.last?.size == size { _ = output.waitForFrames(output.frames.count + 1) }
        thread.stop()
        let frames = output.frames
        #expect(frames[1..<count].allSatisfy { !$0.isKeyFrame })
        let scaled = try #require(frames.first { $0.size != size })
        #expect(scaled.isKeyFrame && scaled.size == PixelSize(width: 100, height: 76))
        #expect(scaled.contentHint == .motion)
        #expect(thread.settings.bitrate == .kilobitsPerSecond(200))
    }

    @Test("A frame's rotation is carried with it, or applied when that is configured", arguments: [false, true])
    func rotation(turns: Bool) throws {
        let output = Output()
        let thread = try start(output) {
            $0.turnsPictures = turns
            $0.maximumSize = PixelSize(width: 60, height: 80)
        }
        source.receive(frame(0, rotation: .quarter))
        let encoded = output.waitForFrames(1)[0]
        thread.stop()
        #expect(encoded.rotation == (turns ? .upright : .quarter))
        #expect(encoded.size == (turns ? PixelSize(width: 60, height: 80) : PixelSize(width: 80, height: 60)))
    }

    @Test("A frame that cannot be encoded is reported and counted, and the next one is encoded")
    func failure() throws {
        let output = Output()
        let thread = try start(output)
        let empty = PixelBuffer(size: PixelSize(width: 0, height: 0), format: .bgra) { _, _ in }
        source.receive(VideoFrame(buffer: empty, timestamp: .zero))
        output.waitForEvents(1)
        source.receive(frame(1))
        #expect(output.waitForFrames(1)[0].isKeyFrame)
        thread.stop()
        #expect(output.failures == [.emptyPicture])
        #expect(thread.statistics.framesDropped == 1)
    }

    @Test("The source's end is reported after its last frame")
    func ending() throws {
        let output = Output()
        let thread = try start(output)
        source.receive(frame(0))
        source.sink.sourceDidEnd(error: nil)
        output.waitForEvents(1)
        #expect(output.frames.count >= 1)
        thread.stop()
        #expect(output.endings == 1)
    }

    @Test("After stop() nothing is called, frames are ignored, and stop() may be called again")
    func stop() throws {
        let output = Output()
        let thread = try start(output)
        source.receive(frame(0))
        _ = output.waitForFrames(1)
        let sink = source.sink
        thread.stop()
        thread.stop()
        let count = output.frames.count
        sink.receive(frame(5))
        thread.requestKeyFrame()
        #expect(thread.statistics.framesReceived == 1)
        #expect(output.frames.count == count)
    }

    @Test("stop() may be called from the callback, and the encoder may be released there")
    func stopInCallback() throws {
        let held = Locked<VideoEncoder?>(nil)
        let done = Mailbox(false)
        let thread = try VideoEncoder(
            .vp8, settings: .init(bitrate: .kilobitsPerSecond(500)),
            onFrame: { _, _ in
                let thread = held.withLock { $0.take() }
                thread?.stop()
                done.post { $0 = true }
            })
        held.withLock { $0 = thread }
        thread.show(source)
        source.receive(frame(0))
        done.take { $0 ? .done(()) : .wait(until: nil) }
        thread.stop()
        #expect(thread.statistics.framesEncoded == 1)
    }

    @Test("A bitrate of zero pauses encoding, and the newest frame is encoded when the pause ends")
    func pause() throws {
        let output = Output()
        let thread = try start(output) { $0.bitrate = .zero }
        for index in 0..<4 { source.receive(frame(index)) }
        #expect(output.frames.isEmpty)
        thread.update { $0.bitrate = .kilobitsPerSecond(500) }
        #expect(output.waitForFrames(1)[0].timestamp == begin + .milliseconds(120))
        thread.stop()
        #expect(thread.statistics.framesDropped == 3)
    }

    @Test("Frames count as dropped while the queue is full; then the newest one is encoded")
    func fullQueue() throws {
        let output = Output()
        let thread = try start(output)
        thread.queueDidFill(true)
        for index in 0..<4 { source.receive(frame(index, seed: UInt64(index + 1))) }
        thread.requestKeyFrame()
        #expect(thread.statistics.framesDropped == 3 && thread.statistics.framesReceived == 4)
        #expect(output.frames.isEmpty)
        thread.queueDidFill(false)
        let first = output.waitForFrames(1)[0]
        thread.stop()
        #expect(first.timestamp == begin + .milliseconds(120) && first.isKeyFrame)
        #expect(thread.statistics.framesDropped == 3)
        let picture = try #require(try VP8Decoder().decode(first.data))
        let newest = try StructuralSimilarity.luma(picture, TextPicture(size: size, seed: 4).i420)
        let older = try StructuralSimilarity.luma(picture, TextPicture(size: size, seed: 3).i420)
        #expect(newest > older + 0.2)
    }

    @Test("After a change of the source, no frame of the previous one is encoded, and its sink is removed")
    func otherSource() throws {
        let output = Output()
        let thread = try start(output)
        output.hold(true)
        source.receive(frame(0))
        output.waitUntilInside()
        // One waits while the callback has another.
        let sink = source.sink
        sink.receive(frame(1))
        sink.sourceDidEnd(error: nil)
        #expect(thread.hasPicture)
        let other = DirectSource()
        thread.show(other)
        sink.receive(frame(2))
        sink.sourceDidEnd(error: nil)
        #expect(sink.demand == .nothing && !thread.hasPicture)
        thread.requestKeyFrame()
        output.hold(false)
        let next = VideoFrame(
            buffer: TextPicture(size: PixelSize(width: 64, height: 48), seed: 3).i420, timestamp: .zero)
        other.receive(next)
        let frames = output.waitForFrames(2)
        #expect(frames[1].size == next.size && frames[1].isKeyFrame)
        #expect(!source.hasSink && other.hasSink)
        thread.stop()
        #expect(output.endings == 0 && output.failures.isEmpty)
        #expect(output.frames.dropFirst().allSatisfy { $0.size == next.size })
        #expect(thread.statistics.framesReceived == 3 && thread.statistics.framesDropped == 1)
        #expect(!other.hasSink)
        thread.show(source)
        #expect(!source.hasSink)
    }

    @Test("The first frame of a new source is encoded as a whole, whatever its change rectangles say")
    func damageOfOtherSource() throws {
        let output = Output()
        let thread = try start(output)
        source.receive(frame(0))
        _ = output.waitForFrames(1)
        let other = DirectSource()
        thread.show(other)
        thread.requestKeyFrame()
        let pictures = [1, 2].map { TextPicture(size: size, seed: $0).i420 }
        let corner = PixelRectangle(x: 0, y: 0, size: PixelSize(width: 16, height: 16))
        other.receive(VideoFrame(buffer: pictures[1], timestamp: .zero, damage: [corner]))
        while output.frames.count(where: \.isKeyFrame) < 2 { _ = output.waitForFrames(output.frames.count + 1) }
        thread.stop()
        let first = try #require(output.frames.last { $0.isKeyFrame })
        let picture = try #require(try VP8Decoder().decode(first.data))
        let similarities = try pictures.map { try StructuralSimilarity.luma(picture, $0) }
        #expect(similarities[1] > similarities[0] + 0.2)
    }

    /// A source that gives frames while a sink is added, as one with a memory does.
    private final class EagerSource: VideoSource {
        let contentHint = ContentHint.none
        let frames: [VideoFrame]

        init(_ frames: [VideoFrame]) { self.frames = frames }

        func add(_ sink: any VideoSink) { for frame in frames { sink.receive(frame) } }
        func remove(_ sink: any VideoSink) {}
    }

    @Test("An encoder does not deadlock when its source delivers frames on the encoder's thread")
    func eagerSource() throws {
        let output = Output()
        let thread = try start(output)
        thread.show(EagerSource([frame(0), frame(1), frame(2)]), patience: .seconds(3600))
        while thread.statistics.framesEncoded == 0 { sched_yield() }
        thread.stop()
        #expect(thread.statistics.framesReceived == 3 && thread.statistics.framesDropped == 2)
    }

    @Test("A source blocked by a full queue is released when another source is shown")
    func releasedSource() throws {
        let thread = try start(Output())
        thread.queueDidFill(true)
        let (held, other) = (DirectSource(), DirectSource())
        thread.show(held, patience: .seconds(3600))
        held.receive(frame(0))
        let hasReturned = DispatchSemaphore(value: 0)
        let sink = held.sink
        Thread.detachNewThread {
            sink.receive(frame(1))
            hasReturned.signal()
        }
        thread.show(other)
        hasReturned.wait()
        other.receive(frame(2))
        thread.stop()
        #expect(thread.statistics.framesReceived == 2)
    }
}

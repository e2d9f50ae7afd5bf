import Foundation
import RTCShareLocks
import RTCShareMedia
import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCSharePeerConnection
@testable import RTCShareStreams
@testable import RTCShareTransport

/// From encoded frames to decoded ones, with libvpx at both ends.
@Suite(.timeLimit(.minutes(1))) struct VideoReceiverTests {
    /// A key frame and as many frames that build on it, one on the other.
    private func encode(following count: Int) throws -> [AssembledFrame] {
        let size = PixelSize(width: 64, height: 64)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(1000)))
        let frames = try (0...count).compactMap { number -> AssembledFrame? in
            let picture = PixelBuffer(size: size, format: .i420) { planes, _ in
                for plane in planes { _ = plane.initializeMemory(as: UInt8.self, repeating: UInt8(60 + number)) }
            }
            let outcome = try encoder.encode(picture, timestamp: .milliseconds(number * 33))
            guard case .encoded(let frame) = outcome else { return nil }
            return assembled(
                frame.data,
                header: VideoFrameHeader(isKeyFrame: frame.isKeyFrame, width: size.width, height: size.height))
        }
        try #require(frames.count == count + 1)
        return frames
    }

    private func assembled(_ data: [UInt8], header: VideoFrameHeader) -> AssembledFrame {
        AssembledFrame(
            data: data, format: .vp8, header: header, timestamp: RTPTimestamp(0), pictureID: nil, packetCount: 1,
            firstArrival: Instant(nanoseconds: 0), completion: Instant(nanoseconds: 0))
    }

    @Test("After a frame that can't be decoded one key frame is requested, and nothing is shown before it")
    func undecodableFrame() async throws {
        let frames = try encode(following: 3)
        let view = try View(frames[0])
        view.give([assembled([0x11], header: frames[1].header)])
        view.resume()
        await waitUntil { view.receiver.framesDropped == 1 }
        view.give(frames[1...] + [frames[0]])
        await view.receiver.finish()
        view.give([frames[0]])
        await view.receiver.finish()
        #expect(view.requests == 1)
        #expect(view.sink.log == ["picture", "picture", "end"])
        let statistics = try #require(view.receiver.statistics)
        #expect(statistics.framesDecoded == 2 && statistics.keyFramesDecoded == 2 && view.receiver.framesDropped == 4)
        #expect(statistics.frameWidth == 64 && statistics.frameHeight == 64)
    }

    @Test("A decoder that falls far behind continues at a key frame, which is requested")
    func decoderFallsBehind() async throws {
        let frames = try encode(following: 1)
        let view = try View(frames[0])
        view.give([AssembledFrame](repeating: frames[1], count: 61))
        #expect(view.requests == 1)
        view.give([frames[0]])
        view.resume()
        await view.receiver.finish()
        #expect(view.receiver.statistics?.framesDecoded == 2 && view.receiver.framesDropped == 61)
    }

    @Test("A decoder that falls behind by a few large frames continues at a key frame, too")
    func largeFrames() async throws {
        let frames = try encode(following: 1)
        let large = assembled(frames[1].data + [UInt8](repeating: 0, count: 6 << 20), header: frames[1].header)
        let view = try View(frames[0])
        for number in 1...5 {
            view.give([large])
            // 16 MB hold two of them.
            #expect(view.requests == (number < 3 ? 0 : 1))
        }
        view.give([frames[0]])
        view.resume()
        await view.receiver.finish()
        #expect(view.receiver.statistics?.framesDecoded == 2 && view.receiver.framesDropped == 5)
    }

    @Test("A second sink requests no key frame, and a recorder does once the video has begun")
    func secondSink() async throws {
        let frames = try encode(following: 2)
        let view = try View(frames[0])
        let recorded = Locked<[Bool]>([])
        try view.receiver.add(Sink())
        #expect(view.requests == 0)
        view.receiver.record { frame in recorded.withLock { $0.append(frame.isKeyFrame) } }
        #expect(view.requests == 1)
        view.give([frames[1], frames[0], frames[1]])
        #expect(recorded.withLock { $0 } == [true, false])
        view.resume()
        await view.receiver.finish()
    }

    @Test(
        "The first sink of a video that has begun requests one key frame, and so does the first after a pause without")
    func firstSink() async throws {
        let frames = try encode(following: 1)
        let requests = Locked(0)
        let receiver = VideoReceiver(index: 0) { requests.withLock { $0 += 1 } }
        #expect(receiver.receive(frames[0]) == PixelSize(width: 64, height: 64))
        receiver.announced()
        let sinks = (0..<3).map { _ in Sink() }
        for sink in sinks { try receiver.add(sink) }
        #expect(requests.withLock { $0 } == 1)
        for sink in sinks { receiver.remove(sink) }
        #expect(receiver.receive(frames[0]) == nil)
        try receiver.add(sinks[0])
        #expect(requests.withLock { $0 } == 2)
        #expect(receiver.receive(frames[0]) == nil)
        await receiver.finish()
        #expect(sinks.map(\.log) == [["picture", "end"], [], []])
        try receiver.add(sinks[1])
        #expect(sinks[1].log == ["end"], "nothing follows")
    }

    @Test("A sink that is added while the others are removed gets the following frames")
    func addedDuringRemoval() async throws {
        let frames = try encode(following: 0)
        let receiver = VideoReceiver(index: 0) {}
        let late = Sink()
        let sink = Sink(onEnd: { #expect(throws: Never.self) { try receiver.add(late) } })
        _ = receiver.receive(frames[0])
        try receiver.add(sink)
        receiver.removeSinks()
        #expect(sink.log == ["end"] && late.log.isEmpty)
        receiver.announced()
        await receiver.finish()
        #expect(sink.log == ["end"] && late.log == ["picture", "end"])
    }

    @Test("A sink that is added while the receiver finishes gets one end")
    func addedDuringFinish() async throws {
        let frames = try encode(following: 0)
        let receiver = VideoReceiver(index: 0) {}
        _ = receiver.receive(frames[0])
        // A sink gets the source's hint when it is in the list, before the decoder knows of it.
        let sink = Sink(onHint: {
            let hasFinished = DispatchSemaphore(value: 0)
            Task {
                await receiver.finish()
                hasFinished.signal()
            }
            hasFinished.wait()
        })
        try await WorkerThread.run(named: "adding") { try receiver.add(sink) }
        #expect(sink.log == ["end"])
        await receiver.finish()
        #expect(sink.log == ["end"])
    }
}

/// Logs the calls of a sink.
private final class Sink: VideoSink {
    private let entries = Locked<[String]>([])
    private let onPicture, onHint, onEnd: @Sendable () -> Void

    init(
        onPicture: @escaping @Sendable () -> Void = {}, onHint: @escaping @Sendable () -> Void = {},
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        (self.onPicture, self.onHint, self.onEnd) = (onPicture, onHint, onEnd)
    }

    var log: [String] { entries.withLock { $0 } }

    func receive(_ frame: VideoFrame) {
        entries.withLock { $0.append("picture") }
        onPicture()
    }

    func contentHintDidChange(_ hint: ContentHint) { onHint() }

    func sourceDidEnd(error: (any Error)?) {
        entries.withLock { $0.append("end") }
        onEnd()
    }
}

/// A receiver whose decoder is blocked by a sink after its first frame, until ``resume()``.
private final class View: Sendable {
    let receiver: VideoReceiver
    let sink: Sink
    private let count: Count
    private let isResumed = DispatchSemaphore(value: 0)

    private final class Count: Sendable {
        let value = Locked(0)
    }

    /// The number of requests for key frames.
    var requests: Int { count.value.withLock { $0 } }

    init(_ first: AssembledFrame) throws {
        let (count, isShowing, isResumed) = (Count(), DispatchSemaphore(value: 0), isResumed)
        self.count = count
        sink = Sink {
            isShowing.signal()
            isResumed.wait()
        }
        receiver = VideoReceiver(index: 0) { count.value.withLock { $0 += 1 } }
        _ = receiver.receive(first)
        try receiver.add(sink)
        receiver.announced()
        isShowing.wait()
    }

    func give(_ frames: some Sequence<AssembledFrame>) {
        for frame in frames { _ = receiver.receive(frame) }
    }

    func resume() {
        for _ in 0..<100 { isResumed.signal() }
    }
}

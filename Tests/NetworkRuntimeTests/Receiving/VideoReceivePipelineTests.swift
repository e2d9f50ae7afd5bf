import Foundation
import RTCShareLocks
import RTCShareMedia
import RTCShareNetworkRuntime
import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection

/// From frames to pictures, with libvpx at both ends.
@Suite(.timeLimit(.minutes(1))) struct VideoReceivePipelineTests {
    /// A key frame and as many frames that build on it, one on the other.
    private func encode(following count: Int) throws -> [AssembledFrame] {
        let size = PixelSize(width: 64, height: 64)
        let encoder = try VP8Encoder(configuration: .init(size: size, bitrate: .kilobitsPerSecond(1000)))
        return try (0...count).compactMap { number in
            let picture = PixelBuffer(size: size, format: .i420) { planes, _ in
                for plane in planes { _ = plane.initializeMemory(as: UInt8.self, repeating: UInt8(60 + number)) }
            }
            let outcome = try encoder.encode(picture, timestamp: .milliseconds(number * 33))
            guard case .encoded(let frame) = outcome else { return nil }
            return try assembled(frame.data, header: VP8FrameHeader(parsing: frame.data.span.bytes))
        }
    }

    private func assembled(_ data: [UInt8], header: VP8FrameHeader) -> AssembledFrame {
        AssembledFrame(
            data: data, header: header, timestamp: RTPTimestamp(0), pictureID: nil, temporalLayer: nil, packetCount: 1,
            firstArrival: Instant(nanoseconds: 0), completion: Instant(nanoseconds: 0))
    }

    @Test("After a frame that can't be decoded one key frame is asked for, and nothing is shown before it")
    func undecodableFrame() async throws {
        let frames = try encode(following: 3)
        try #require(frames.count == 4)
        let requests = Locked(0)
        let pictures = Locked(0)
        let pipeline = try VideoReceivePipeline(
            picture: { _, _ in pictures.withLock { $0 += 1 } }, undecodable: { requests.withLock { $0 += 1 } })
        pipeline.decode(frames[0])
        pipeline.decode(assembled([0x11], header: frames[1].header))
        for frame in frames[1...] { pipeline.decode(frame) }
        pipeline.decode(frames[0])
        let picturesAtEnd = Locked(0)
        pipeline.end { picturesAtEnd.withLock { $0 = pictures.withLock { $0 } } }
        pipeline.decode(frames[0])
        await pipeline.finish()
        #expect(picturesAtEnd.withLock { $0 } == 2)
        #expect(requests.withLock { $0 } == 1)
        #expect(pictures.withLock { $0 } == 2)
        #expect(pipeline.statistics.framesDecoded == 2)
        #expect(pipeline.statistics.keyFramesDecoded == 2)
        #expect(pipeline.statistics.framesDropped == 4)
        #expect(pipeline.statistics.size == PixelSize(width: 64, height: 64))
    }

    @Test("A decoder that falls far behind begins anew at a key frame, which is asked for")
    func decoderFallsBehind() async throws {
        let frames = try encode(following: 1)
        try #require(frames.count == 2)
        let slow = try SlowViewer(frames[0])
        for _ in 0..<61 { slow.pipeline.decode(frames[1]) }
        #expect(slow.requests == 1)
        await slow.end(with: frames[0])
        #expect(slow.pipeline.statistics.framesDecoded == 2)
        #expect(slow.pipeline.statistics.framesDropped == 61)
    }

    @Test("A decoder that falls behind by a few large frames begins anew, too")
    func largeFrames() async throws {
        let frames = try encode(following: 1)
        try #require(frames.count == 2)
        let large = assembled(frames[1].data + [UInt8](repeating: 0, count: 6 << 20), header: frames[1].header)
        let slow = try SlowViewer(frames[0])
        for number in 1...5 {
            slow.pipeline.decode(large)
            // 16 MB hold two of them.
            #expect(slow.requests == (number - 1) / 2)
        }
        await slow.end(with: frames[0])
        #expect(slow.pipeline.statistics.framesDecoded == 2)
        #expect(slow.pipeline.statistics.framesDropped == 5)
    }
}

/// A pipeline that is held up by what it shows its first picture to.
private final class SlowViewer: Sendable {
    let pipeline: VideoReceivePipeline
    private let count: Count
    private let mayGoOn: DispatchSemaphore

    private final class Count: Sendable {
        let value = Locked(0)
    }

    /// How often a key frame was asked for.
    var requests: Int { count.value.withLock { $0 } }

    /// Shows `first`, and stands still.
    init(_ first: AssembledFrame) throws {
        let (count, isShowing, mayGoOn) = (Count(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        pipeline = try VideoReceivePipeline(
            picture: { _, _ in
                isShowing.signal()
                mayGoOn.wait()
            },
            undecodable: { count.value.withLock { $0 += 1 } })
        self.count = count
        self.mayGoOn = mayGoOn
        pipeline.decode(first)
        isShowing.wait()
    }

    /// Goes on, with `last` as what it is given last.
    func end(with last: AssembledFrame) async {
        for _ in 0..<100 { mayGoOn.signal() }
        pipeline.decode(last)
        pipeline.end()
        await pipeline.finish()
    }
}

import Foundation
import RTCShare
import Synchronization

// A source, a processor and a sink of one's own, as the Amazon Chime SDK's guide has them: a source draws bars, a
// processor turns their brightness around, and a sink at the viewer measures what arrives.

/// Draws a grey bar that wanders over black, 30 times a second, as a camera that lies on its side: viewers turn the pictures.
struct Bar {
    private let size = PixelSize(width: 640, height: 360)

    func push(to source: PushVideoSource) async throws {
        let clock = ContinuousClock()
        for number in 0..<90 {
            let left = number * 7 % (size.width - 64)
            let buffer = PixelBuffer(size: size, format: .i420) { planes, strides in
                planes[0].initializeMemory(as: UInt8.self, repeating: 16)
                for plane in planes[1...] { plane.initializeMemory(as: UInt8.self, repeating: 128) }
                for row in 0..<size.height {
                    let start = row * strides[0] + left
                    UnsafeMutableRawBufferPointer(rebasing: planes[0][start..<start + 64])
                        .initializeMemory(as: UInt8.self, repeating: 180)
                }
            }
            source.capture(VideoFrame(buffer: buffer, rotation: .quarter))
            try await clock.sleep(for: .milliseconds(33))
        }
        source.end()
    }
}

/// Takes frames, turns their brightness around and gives them on.
final class NegativeProcessor: BroadcastingVideoSource, VideoSink {
    let broadcaster = VideoBroadcaster()

    func receive(_ frame: VideoFrame) {
        let turned = frame.buffer.withPlanes { source in
            PixelBuffer(size: frame.size, format: .i420) { planes, strides in
                for plane in planes.indices {
                    let extent = PixelFormat.i420.planeExtent(plane, of: frame.size)
                    for row in 0..<extent.rows {
                        for column in 0..<extent.rowBytes {
                            let value = source.planes[plane][row * source.strides[plane] + column]
                            planes[plane][row * strides[plane] + column] = plane == 0 ? 251 - min(value, 235) : value
                        }
                    }
                }
            }
        }
        broadcaster.send(VideoFrame(buffer: turned, timestamp: frame.timestamp, rotation: frame.rotation))
    }

    func sourceDidEnd(error: (any Error)?) { broadcaster.end(error: error) }
    // What is downstream should treat the pictures as what they are upstream.
    func contentHintDidChange(_ hint: ContentHint) { broadcaster.contentHint = hint }
}

/// Measures how bright the received pictures are, and which way they are turned.
final class BrightnessSink: VideoSink {
    private let seen = Mutex((pictures: 0, brightness: 0, rotation: VideoRotation.upright))

    var result: (pictures: Int, brightness: Int, rotation: VideoRotation) { seen.withLock { $0 } }

    func receive(_ frame: VideoFrame) {
        let luma = frame.buffer.withPlanes { set in set.planes[0].reduce(0) { $0 + Int($1) } / set.planes[0].count }
        seen.withLock { $0 = ($0.pictures + 1, luma, frame.rotation) }
    }
}

do {
    let alice = try await AttendeeSession.offering(as: AttendeeID("alice"))
    let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"))
    let sink = BrightnessSink()
    await bob.tiles.bind(sink, to: .content)
    try await alice.connect(to: bob)

    // source ──▶ processor ──▶ share
    let source = PushVideoSource(isScreencast: false)
    let processor = NegativeProcessor()
    source.add(processor)
    try await alice.contentShare.start(source: processor)
    try await Bar().push(to: source)
    await alice.leave()
    await bob.leave()

    let (pictures, brightness, rotation) = sink.result
    print("bob saw \(pictures) pictures of mean brightness \(brightness): the black was turned to white")
    print("they are to be turned by \(rotation.rawValue) degrees clockwise")
    guard pictures > 0, brightness > 128, rotation == .quarter else { exit(1) }
} catch {
    print("CustomVideo: \(error)")
    exit(1)
}

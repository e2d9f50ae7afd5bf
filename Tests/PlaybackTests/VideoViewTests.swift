import Glibc
import RTCShareCapture
import RTCShareLocks
import RTCShareMedia
import Testing

@testable import RTCSharePlayback

@Suite("A view")
struct VideoViewTests {
    private func picture(_ size: PixelSize = PixelSize(width: 32, height: 16), at time: Duration) -> VideoFrame {
        VideoFrame(buffer: PixelBuffer(size: size, format: .i420) { _, _ in }, timestamp: time)
    }

    @Test("A view shows the newest frame, counts shown and skipped frames, and reports new ones")
    func newest() {
        let view = VideoView()
        let changes = Locked(0)
        view.onChange { changes.withLock { $0 += 1 } }
        let start = monotonicNow()
        for _ in 0..<3 { view.receive(picture(at: start)) }
        #expect(changes.withLock { $0 } == 3)
        let appearance = view.appearance(at: monotonicNow())
        #expect(appearance.frameNumber == 1 && appearance.frame != nil && appearance.nextChange == nil)
        view.didShow(picture(at: start), at: start + .milliseconds(12))
        let again = view.appearance(at: monotonicNow())
        #expect(again.frameNumber == 1 && again.changes == appearance.changes, "nothing changed: nothing is drawn")
        let statistics = view.statistics
        #expect(statistics.framesRendered == 1 && statistics.framesDropped == 2)
        #expect(statistics.totalRenderDelay == .milliseconds(12) && statistics.renderDelay == .milliseconds(12))
    }

    @Test("The frame of a muted source is dimmed, and that of an ended source is removed")
    func states() {
        let view = VideoView()
        let source = VideoBroadcaster()
        source.add(view)
        source.send(picture(at: .seconds(1)))
        let live = view.appearance(at: monotonicNow())
        #expect(!live.isPaused)
        source.isMuted = true
        let paused = view.appearance(at: monotonicNow())
        #expect(paused.isPaused && paused.frameNumber == live.frameNumber && paused.changes != live.changes)
        source.isMuted = false
        #expect(!view.appearance(at: monotonicNow()).isPaused)
        source.end(error: nil)
        #expect(view.appearance(at: monotonicNow()).frame == nil && view.frame == nil)
    }

    @Test("A frame whose planes are shorter than declared is not shown")
    func broken() throws {
        final class Liar: VideoFrameBuffer {
            let size = PixelSize(width: 64, height: 64)
            let format = PixelFormat.i420
            func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
                try body(PlaneSet(planes: [UnsafeRawBufferPointer(start: nil, count: 0)], strides: [64]))
            }
        }
        let view = VideoView()
        view.receive(VideoFrame(buffer: Liar(), timestamp: .zero))
        #expect(view.appearance(at: monotonicNow()).frame == nil)
    }
}

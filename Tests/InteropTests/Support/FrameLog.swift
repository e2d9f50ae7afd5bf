import RTCShareLocks
import RTCShareMedia

/// Keeps what a source gives and tells.
final class FrameLog: VideoSink, CaptureSourceObserver {
    struct State {
        var newest: VideoFrame?
        var count = 0
        var isMuted = false
        var interruptions: [CaptureInterruption] = []
        var interruption: CaptureInterruption?
        var sizes: [PixelSize] = []
        var failure: CaptureSourceError?
        var hasStopped = false
    }

    private let state = Locked(State())
    var now: State { state.withLock { $0 } }

    init(_ source: any CaptureSource) {
        source.add(self)
        source.add(observer: self)
    }

    func receive(_ frame: VideoFrame) {
        state.withLock { state in
            state.newest = frame
            state.count += 1
        }
    }

    func muteDidChange(_ isMuted: Bool) { state.withLock { $0.isMuted = isMuted } }
    func captureDidStop() { state.withLock { $0.hasStopped = true } }
    func captureDidFail(error: CaptureSourceError) { state.withLock { $0.failure = error } }
    func captureSizeDidChange(to size: PixelSize) { state.withLock { $0.sizes.append(size) } }

    func captureWasInterrupted(by interruption: CaptureInterruption) {
        state.withLock { state in
            state.interruptions.append(interruption)
            state.interruption = interruption
        }
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        state.withLock { $0.interruption = nil }
    }

    /// The newest frame's pixels, 0xRRGGBB, row by row; of four bytes a pixel, blue first.
    var rows: [[UInt32]] {
        guard let frame = now.newest, frame.buffer.format == .bgra else { return [] }
        return frame.buffer.withPlanes { planes in
            (0..<frame.size.height).map { y in
                (0..<frame.size.width).map { x in
                    planes.planes[0].loadUnaligned(fromByteOffset: y * planes.strides[0] + x * 4, as: UInt32.self)
                        & 0xFF_FFFF
                }
            }
        }
    }
}

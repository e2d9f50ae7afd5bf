internal import Foundation
internal import RTCShareLocks
package import RTCShareMedia

/// A sink that keeps its frames, for a test to wait for.
package final class Collector: VideoSink {
    private struct State {
        package var frames: [VideoFrame] = []
        package var ends: [(any Error)?] = []
    }

    private let state = Locked(State())
    private let changed = DispatchSemaphore(value: 0)
    private let limit: Int

    /// Keeps the newest `limit` frames.
    package init(keeping limit: Int = .max) {
        self.limit = limit
    }

    package var frames: [VideoFrame] { state.withLock { $0.frames } }
    package var ends: [(any Error)?] { state.withLock { $0.ends } }

    package func forgetFrames() { state.withLock { $0.frames = [] } }

    package func receive(_ frame: VideoFrame) {
        state.withLock { state in
            state.frames.append(frame)
            if state.frames.count > limit { state.frames.removeFirst() }
        }
        changed.signal()
    }

    package func sourceDidEnd(error: (any Error)?) {
        state.withLock { $0.ends.append(error) }
        changed.signal()
    }

    /// Waits until `condition` holds, which is checked with each frame. Returns false if it does not hold within ten
    /// seconds.
    package func wait(until condition: (Collector) -> Bool) -> Bool {
        let deadline = DispatchTime.now() + 10
        while !condition(self) {
            guard changed.wait(timeout: deadline) == .success else { return condition(self) }
        }
        return true
    }
}

extension VideoFrameBuffer {
    /// The samples of each plane, without the rows' padding.
    package var samples: [[UInt8]] {
        withPlanes { planes in
            (0..<format.planeCount).map { plane in
                let extent = format.planeExtent(plane, of: size)
                return (0..<extent.rows).flatMap { row in
                    let start = row * planes.strides[plane]
                    return planes.planes[plane][start..<start + extent.rowBytes].map { $0 }
                }
            }
        }
    }

    /// Returns the color of a pixel of a BGRA frame as 0xRRGGBB.
    package func colour(_ x: Int, _ y: Int) -> UInt32 {
        withPlanes { planes in
            let start = y * planes.strides[0] + 4 * x
            let plane = planes.planes[0]
            return UInt32(plane[start + 2]) << 16 | UInt32(plane[start + 1]) << 8 | UInt32(plane[start])
        }
    }
}

internal import Foundation
internal import RTCShareLocks
package import RTCShareMedia

/// A sink that keeps its audio, for a test to wait for.
package final class SoundCollector: AudioSink {
    private struct State {
        var frames: [AudioFrame] = []
        var arrivals: [Duration] = []
        var ends: [(any Error)?] = []
    }

    private let state = Locked(State())
    private let changed = DispatchSemaphore(value: 0)
    private let now: @Sendable () -> Duration

    /// Creates a sink. `now` returns the arrival time of each block.
    package init(now: @escaping @Sendable () -> Duration = { .zero }) {
        self.now = now
    }

    package var frames: [AudioFrame] { state.withLock { $0.frames } }
    package var arrivals: [Duration] { state.withLock { $0.arrivals } }
    package var ends: [(any Error)?] { state.withLock { $0.ends } }

    /// The number of samples of each channel.
    package var sampleCount: Int { frames.reduce(0) { $0 + $1.sampleCount } }

    /// The first channel of all blocks.
    package var samples: [Float] { Self.samples(of: frames) }

    package static func samples(of frames: [AudioFrame]) -> [Float] {
        frames.flatMap { frame in stride(from: 0, to: frame.samples.count, by: frame.channels).map { frame.samples[$0] }
        }
    }

    package func receive(_ frame: AudioFrame) {
        let arrival = now()
        state.withLock {
            $0.frames.append(frame)
            $0.arrivals.append(arrival)
        }
        changed.signal()
    }

    package func sourceDidEnd(error: (any Error)?) {
        state.withLock { $0.ends.append(error) }
        changed.signal()
    }

    /// Waits until `condition` holds, which is checked with each block. Returns false if it does not hold within ten
    /// seconds.
    package func wait(until condition: (SoundCollector) -> Bool) -> Bool {
        let deadline = DispatchTime.now() + 10
        while !condition(self) {
            guard changed.wait(timeout: deadline) == .success else { return condition(self) }
        }
        return true
    }

    /// Returns the loudest frequency in Hz, by the number of rising zero crossings; nil if there is none.
    package static func frequency(of samples: [Float], sampleRate: Int) -> Double? {
        var crossings: [Double] = []
        for (index, pair) in zip(samples, samples.dropFirst()).enumerated() where pair.0 < 0 && pair.1 >= 0 {
            crossings.append(Double(index) + Double(-pair.0 / (pair.1 - pair.0)))
        }
        guard let first = crossings.first, let last = crossings.last, crossings.count > 2 else { return nil }
        return Double(crossings.count - 1) * Double(sampleRate) / (last - first)
    }
}

/// Records the events of capture.
package final class CaptureObserver: CaptureSourceObserver {
    package enum Event: Hashable {
        case started
        case stopped
        case failed(CaptureSourceError.Kind)
        case interrupted(CaptureInterruption)
        case interruptionEnded(CaptureInterruption)
        case resized(PixelSize)
    }

    private let state = Locked<[Event]>([])
    private let changed = DispatchSemaphore(value: 0)

    package init() {}

    package var events: [Event] { state.withLock { $0 } }

    package func captureDidStart() { note(.started) }
    package func captureDidStop() { note(.stopped) }
    package func captureDidFail(error: CaptureSourceError) { note(.failed(error.kind)) }

    package func captureWasInterrupted(by interruption: CaptureInterruption) { note(.interrupted(interruption)) }
    package func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        note(.interruptionEnded(interruption))
    }
    package func captureSizeDidChange(to size: PixelSize) { note(.resized(size)) }

    private func note(_ event: Event) {
        state.withLock { $0.append(event) }
        changed.signal()
    }

    /// Waits for `count` events. Returns false if they do not occur within ten seconds.
    package func wait(for count: Int) -> Bool { wait { $0.count >= count } }

    /// Waits until `condition` holds for the events. Returns false if it does not within ten seconds.
    package func wait(until condition: ([Event]) -> Bool) -> Bool {
        let deadline = DispatchTime.now() + 10
        while !condition(events) {
            guard changed.wait(timeout: deadline) == .success else { return condition(events) }
        }
        return true
    }
}

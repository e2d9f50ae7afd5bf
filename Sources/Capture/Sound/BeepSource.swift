internal import Glibc
public import RTCShareMedia

/// A beep of 1 kHz and 50 ms at each whole second of the monotonic clock, and silence between, in stereo at 48 kHz.
///
/// The test pattern flashes at the same times: the difference for a viewer is the error of lip sync.
public final class BeepSource: AudioCaptureSource, BroadcastingAudioSource {
    /// Stereo at 48 kHz.
    public let audioFormat = AudioFormat(sampleRate: SoundGenerator.sampleRate, channels: SoundGenerator.channels)
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let thread = CaptureThread()

    static let frequency = 1000.0
    static let amplitude = 0.5
    /// The length of the beep, 50 ms.
    static let length = 2400
    /// The length of the fades, 2 ms at each end of the beep: a sudden edge would click.
    static let ramp = 96

    /// Creates a source without sinks.
    public init() {}

    /// Starts with the next block.
    public func start() throws {
        let broadcaster = broadcaster
        try thread.start { signal in
            let start = Self.start(at: monotonicNow())
            SoundGenerator.run(from: start.time, signal: signal, to: broadcaster) { number in
                Self.sample(number + start.sample)
            }
        }
    }

    /// Stops the source and notifies the sinks.
    public func stop() { thread.stop() }

    /// Returns the first boundary of a block at or after `now`, and the sample of its second at that time. A second has
    /// a whole number of blocks, so that each begins with one.
    static func start(at now: Duration) -> (time: Duration, sample: Int) {
        let (seconds, attoseconds) = now.components
        let blocksPerSecond = Int64(SoundGenerator.sampleRate / SoundGenerator.blockSize)
        let span = 1_000_000_000_000_000_000 / blocksPerSecond
        let block = (attoseconds + span - 1) / span
        return (
            .seconds(seconds) + .nanoseconds(block * span / 1_000_000_000),
            Int(block) * SoundGenerator.blockSize % SoundGenerator.sampleRate
        )
    }

    /// Returns the sample with this number since a whole second.
    static func sample(_ number: Int) -> Float {
        let number = number % SoundGenerator.sampleRate
        guard number < length else { return 0 }
        let edge = Double(min(number, length - 1 - number)) / Double(ramp)
        let envelope = edge < 1 ? 0.5 - 0.5 * cos(.pi * edge) : 1
        return Float(
            amplitude * envelope * sin(2 * .pi * frequency * Double(number) / Double(SoundGenerator.sampleRate)))
    }
}

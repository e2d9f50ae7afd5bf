internal import Glibc
public import RTCShareMedia

/// A beep of 1 kHz and 50 ms at each whole second of the monotonic clock, and silence between, in stereo at 48 kHz.
///
/// The test pattern flashes at the same instants: how far apart a viewer hears and sees them is how far sound and
/// picture are out of step.
public final class BeepSource: AudioCaptureSource, BroadcastingAudioSource {
    /// Stereo at 48 kHz.
    public let audioFormat = AudioFormat(sampleRate: SoundGenerator.sampleRate, channels: SoundGenerator.channels)
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let thread = CaptureThread()

    static let frequency = 1000.0
    static let amplitude = 0.5
    /// 50 ms.
    static let length = 2400
    /// 2 ms at each end, in which the beep swells and fades: a sudden edge would click.
    static let ramp = 96

    /// A source without sinks.
    public init() {}

    /// Begins with the block that comes next.
    public func start() throws {
        let broadcaster = broadcaster
        try thread.start { signal in
            let start = Self.start(at: monotonicNow())
            SoundGenerator.run(from: start.time, signal: signal, to: broadcaster) { number in
                Self.sample(number + start.sample)
            }
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }

    /// The first boundary of a block at or after `now`, and which sample of its second lies there. A second has a whole
    /// number of blocks, so that each begins with one.
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

    /// Sample `number` since a whole second.
    static func sample(_ number: Int) -> Float {
        let number = number % SoundGenerator.sampleRate
        guard number < length else { return 0 }
        let edge = Double(min(number, length - 1 - number)) / Double(ramp)
        let envelope = edge < 1 ? 0.5 - 0.5 * cos(.pi * edge) : 1
        return Float(
            amplitude * envelope * sin(2 * .pi * frequency * Double(number) / Double(SoundGenerator.sampleRate)))
    }
}

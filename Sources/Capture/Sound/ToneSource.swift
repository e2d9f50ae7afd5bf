internal import Glibc
public import RTCShareMedia

/// A steady tone in stereo at 48 kHz, in blocks of 20 ms, at -12 dB of full scale.
public final class ToneSource: AudioCaptureSource, BroadcastingAudioSource {
    /// Stereo at 48 kHz.
    public let audioFormat = AudioFormat(sampleRate: SoundGenerator.sampleRate, channels: SoundGenerator.channels)
    /// In Hz.
    public let frequency: Double
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let thread = CaptureThread()

    static let amplitude = 0.25
    /// The frequencies that a tone can have, in Hz.
    public static let frequencies: ClosedRange<Double> = 20...20000

    /// A tone of `frequency` Hz, which must be one of ``frequencies``.
    public init(frequency: Double = 440) throws(CaptureError) {
        guard Self.frequencies.contains(frequency) else { throw .inaudibleFrequency(frequency) }
        self.frequency = frequency
    }

    /// Begins at phase 0.
    public func start() throws {
        let (broadcaster, frequency) = (broadcaster, frequency)
        try thread.start { signal in
            SoundGenerator.run(from: monotonicNow(), signal: signal, to: broadcaster) { number in
                Self.sample(number, frequency: frequency)
            }
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }

    /// Sample `number` of the tone: by its number alone, so that the phase goes on from block to block.
    static func sample(_ number: Int, frequency: Double) -> Float {
        let rate = Double(SoundGenerator.sampleRate)
        // Whole periods are left out first: the sine of a large angle is not exact.
        let phase = (frequency * Double(number)).truncatingRemainder(dividingBy: rate) / rate
        return Float(amplitude * sin(2 * .pi * phase))
    }
}

internal import Glibc
public import RTCShareMedia

/// A steady tone in stereo at 48 kHz, in blocks of 20 ms, at -12 dB of full scale.
public final class ToneSource: AudioCaptureSource, BroadcastingAudioSource {
    /// Stereo at 48 kHz.
    public let audioFormat = AudioFormat(sampleRate: SoundGenerator.sampleRate, channels: SoundGenerator.channels)
    /// The frequency in Hz.
    public let frequency: Double
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let thread = CaptureThread()

    static let amplitude = 0.25
    /// The frequencies that a tone can have, in Hz.
    public static let frequencies: ClosedRange<Double> = 20...20000

    /// Creates a tone of `frequency` Hz, which must be one of ``frequencies``.
    public init(frequency: Double = 440) throws(CaptureError) {
        guard Self.frequencies.contains(frequency) else { throw .inaudibleFrequency(frequency) }
        self.frequency = frequency
    }

    /// Starts at phase 0.
    public func start() throws {
        let (broadcaster, frequency) = (broadcaster, frequency)
        try thread.start { signal in
            SoundGenerator.run(from: monotonicNow(), signal: signal, to: broadcaster) { number in
                Self.sample(number, frequency: frequency)
            }
        }
    }

    /// Stops the source and notifies the sinks.
    public func stop() { thread.stop() }

    /// Returns the sample of the tone with this number. It depends only on that, so that the phase continues from block
    /// to block.
    static func sample(_ number: Int, frequency: Double) -> Float {
        let rate = Double(SoundGenerator.sampleRate)
        // Whole periods are removed first: the sine of a large angle is not exact.
        let phase = (frequency * Double(number)).truncatingRemainder(dividingBy: rate) / rate
        return Float(amplitude * sin(2 * .pi * phase))
    }
}

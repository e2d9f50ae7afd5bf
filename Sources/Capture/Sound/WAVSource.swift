internal import Glibc
internal import RTCShareAudioCoding
public import RTCShareMedia
import Synchronization

/// Plays the audio of a WAVE file with the file's rate and channels, in blocks of 20 ms, and ends with its last sample.
/// While it has no sinks it pauses.
public final class WAVSource: AudioCaptureSource, BroadcastingAudioSource {
    /// The file's rate and channels.
    public let audioFormat: AudioFormat
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let thread = CaptureThread()
    private let path: String
    private let loop: Bool

    /// Opens a file, which is played once or, with `loop`, repeatedly. Each start begins with its first sample.
    public init(path: String, loop: Bool = false) throws(CaptureError) {
        // A missing file is the same error as for a video file.
        guard access(path, R_OK) == 0 else { throw .fileUnavailable(path: path, errorNumber: errno) }
        do throws(AudioFileError) {
            let reader = try WAVReader(path: path)
            audioFormat = AudioFormat(sampleRate: reader.sampleRate, channels: reader.channels)
        } catch {
            throw CaptureError(error)
        }
        self.path = path
        self.loop = loop
    }

    /// Starts with the file's first sample.
    public func start() throws {
        let (path, loop, broadcaster) = (path, loop, broadcaster)
        try thread.start { signal in
            broadcaster.start()
            broadcaster.whenWanted { [weak signal] in signal?.wake() }
            var failure: CaptureError?
            do throws(AudioFileError) {
                try Self.pace(try WAVReader(path: path), loop: loop, signal: signal, to: broadcaster)
            } catch {
                failure = CaptureError(error)
            }
            signal.finish()
            broadcaster.end(error: failure)
        }
    }

    /// Stops the source and notifies the sinks.
    public func stop() { thread.stop() }

    private static func pace(
        _ reader: WAVReader, loop: Bool, signal: StopSignal, to broadcaster: AudioBroadcaster
    ) throws(AudioFileError) {
        let (rate, channels) = (reader.sampleRate, reader.channels)
        let blockSize = max(1, rate / 50)
        var clock = SoundClock(start: monotonicNow(), sampleRate: rate)
        var isFirstOfRound = true
        while !signal.isRaised {
            if !broadcaster.hasSinks {
                signal.rest { !broadcaster.hasSinks }
                clock.restart(at: monotonicNow())
                continue
            }
            let samples = try reader.read(frames: blockSize)
            guard !samples.isEmpty else {
                // A file without any sample would otherwise be rewound forever.
                guard loop, !isFirstOfRound else { return }
                try reader.rewind()
                isFirstOfRound = true
                continue
            }
            isFirstOfRound = false
            let now = monotonicNow()
            if clock.isLost(at: now) { clock.restart(at: now) }
            let count = samples.count / channels
            guard signal.wait(until: clock.deadline(of: count)) else { return }
            broadcaster.send(
                AudioFrame(samples: samples, channels: channels, sampleRate: rate, timestamp: clock.timestamp))
            clock.advance(count)
        }
    }
}

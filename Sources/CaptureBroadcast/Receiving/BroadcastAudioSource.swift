public import RTCShareMedia
import Synchronization

/// The audio of a ``BroadcastSource``, which is sent while it is started.
public final class BroadcastAudioSource: AudioCaptureSource, BroadcastingAudioSource {
    /// The usual format of capturing processes. Each block has its own.
    public let audioFormat: AudioFormat
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()
    private let isStarted = Atomic(false)

    init(_ format: AudioFormat) {
        audioFormat = format
    }

    /// Starts the delivery of blocks.
    public func start() throws {
        if !isStarted.exchange(true, ordering: .relaxed) { broadcaster.start() }
    }

    /// Stops the delivery of blocks.
    public func stop() { end(error: nil) }

    func receive(_ frame: AudioFrame) {
        guard isStarted.load(ordering: .relaxed) else { return }
        broadcaster.isMuted = false
        broadcaster.send(frame)
    }

    /// Mutes the audio, because none arrives for now.
    func pause() { broadcaster.isMuted = true }

    func end(error: (any Error)?) {
        if isStarted.exchange(false, ordering: .relaxed) { broadcaster.end(error: error) }
    }
}

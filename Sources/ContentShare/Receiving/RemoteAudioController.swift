internal import RTCShareLocks
public import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareWireFormat

/// An audio stream that a peer sends.
public struct RemoteAudio: Sendable, Hashable {
    /// The number of the audio stream in its session. It is never reused.
    public let audioID: Int
    /// The attendee whose audio it is.
    public let attendeeID: AttendeeID

    /// Whether it is audio of shared content, and not the attendee's microphone.
    public var isContent: Bool { attendeeID.modality == .content }
}

/// The audio streams that a peer sends, from attendees and from shared content. Audio without a sink is not decoded.
@SharingActor public final class RemoteAudioController {
    /// The attendee of each receiver of audio. Nil for other receivers, and for audio that is no longer sent.
    private var attendees: [AttendeeID?] = []
    /// The audio streams that have started, by the index of their receiver.
    private var present: [Int: (state: RemoteAudio, receiver: AudioReceiver)] = [:]
    /// The recorders of all audio.
    private var recordings: [RecordingSource] = []
    private var nextID = 1
    private var hasEnded = false
    /// The readers of ``updates``.
    private let readers = ObserverList<PendingEvents<Newest<[RemoteAudio]>>>()
    private nonisolated let observers = ObserverList<any RemoteAudioObserver>()

    nonisolated init() {}

    deinit { readers.forEach { $0.finish() } }

    /// Notifies `observer` of audio from now on.
    public nonisolated func add(observer: any RemoteAudioObserver) { observers.add(observer) }

    /// Stops notifying `observer`.
    public nonisolated func remove(observer: any RemoteAudioObserver) { observers.remove(observer) }

    /// The audio streams that have started, oldest first.
    public var streams: [RemoteAudio] { present.values.map(\.state).sorted { $0.audioID < $1.audioID } }

    /// The current audio streams, and the streams after each change, until the session ends. Each call returns a new
    /// sequence, for one reader. A slow reader gets only the newest streams.
    public var updates: some AsyncSequence<[RemoteAudio], Never> & Sendable {
        let reader = PendingEvents<Newest<[RemoteAudio]>>()
        reader.append(Newest(value: streams))
        if hasEnded { reader.finish() } else { readers.add(reader) }
        return reader.stream.map(\.value)
    }

    private func reportChange() {
        let newest = Newest(value: streams)
        readers.forEach { $0.append(newest) }
    }

    private func receiver(ofAudio id: Int) -> AudioReceiver? {
        present.values.first { $0.state.audioID == id }?.receiver
    }

    /// Passes an audio stream to `sink`, with 48 kHz, in blocks of 20 ms at the time of playout, with concealment of
    /// lost packets.
    public func bind(_ sink: any AudioSink, toAudio id: Int) throws(RemoteAudioError) {
        guard let receiver = receiver(ofAudio: id) else { throw .unknownAudio(id) }
        do {
            try receiver.add(sink)
        } catch let error as WorkerThreadError {
            throw .decoder("no thread to decode on: \(systemMessage(error.errorNumber))")
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Records all audio streams that the peer sends or announces, as they arrive.
    func record(to source: RecordingSource) {
        recordings = recordings.filter(\.recorder.isOpen) + [source]
        // Each track is silent until its audio starts.
        for attendee in attendees.compactMap({ $0 }) { _ = source.sound(of: attendee) }
        for sound in present.values { record(sound.receiver, of: sound.state.attendeeID, to: source) }
    }

    private func record(_ receiver: AudioReceiver, of attendee: AttendeeID, to source: RecordingSource) {
        let take = source.sound(of: attendee)
        let end = receiver.record { packet in
            take(
                packet.payload,
                MediaTimes(
                    media: .seconds(1) * packet.timestamp / EncodedAudioFrame.clockRate, capture: packet.captureTime,
                    arrival: .nanoseconds(packet.arrival.nanoseconds)))
        }
        source.recorder.onEnd(end)
    }

    /// Stops passing audio to `sink`.
    public func unbind(_ sink: any AudioSink) {
        for sound in present.values { sound.receiver.remove(sink) }
    }

    /// Delays an audio stream by at least `target`, at most one second, for video that takes longer than its audio.
    /// Playout is slowed down or sped up slightly until the delay is reached. Zero, the initial value, adds no delay to
    /// that of the route (W3C webrtc-extensions, `jitterBufferTarget`).
    public func setJitterBufferTarget(_ target: Duration, ofAudio id: Int) {
        receiver(ofAudio: id)?.setJitterBufferTarget(target)
    }

    /// Returns the index of an audio stream's receiver. Nil if there is no such stream.
    package func receiverIndex(ofAudio id: Int) -> Int? { receiver(ofAudio: id)?.index }

    // MARK: Events of the connection

    func handle(_ event: MediaEvent) async {
        switch event {
        case .remoteMediaChanged(let media): await update(media)
        case .soundBegan(let receiver): await begin(receiver)
        case .activityChanged(.ended, let receiver): await remove { $0 == receiver }
        case .activityChanged, .frameSizeChanged: break
        }
    }

    private func update(_ media: [RemoteMedia]) async {
        let known = attendees
        attendees = media.enumerated().map { index, media -> AttendeeID? in
            guard !media.isVideo, media.isActive else { return nil }
            return AttendeeID(ofStream: media.streamID, isContent: media.isContent, receiver: index)
        }
        await remove { !attendees.indices.contains($0) || attendees[$0] == nil }
        for (index, attendee) in attendees.enumerated() where index >= known.count || attendee != known[index] {
            guard let attendee else { continue }
            for source in recordings where source.recorder.isOpen { _ = source.sound(of: attendee) }
        }
    }

    private func begin(_ receiver: AudioReceiver) async {
        let index = receiver.index
        await remove { $0 == index }
        if attendees.indices.contains(index), let attendee = attendees[index] {
            let sound = RemoteAudio(audioID: nextID, attendeeID: attendee)
            nextID += 1
            present[index] = (sound, receiver)
            for source in recordings where source.recorder.isOpen { record(receiver, of: attendee, to: source) }
            observers.forEach { $0.remoteAudioDidAdd(sound) }
            reportChange()
        }
        receiver.announced()
    }

    func end() async {
        hasEnded = true
        attendees = []
        recordings = []
        await remove { _ in true }
        readers.forEach { $0.finish() }
    }

    /// Removes the audio streams of the receivers with these indices, after their sinks got their end.
    private func remove(_ isRemoved: (Int) -> Bool) async {
        let indices = present.keys.filter(isRemoved).sorted()
        for sound in indices.compactMap({ present.removeValue(forKey: $0) }) {
            await sound.receiver.finish()
            observers.forEach { $0.remoteAudioDidRemove(sound.state) }
            reportChange()
        }
    }
}

extension RecordingSource {
    /// Adds a track for an attendee's audio, and returns the closure that writes to it.
    fileprivate func sound(of attendee: AttendeeID) -> @Sendable ([UInt8], MediaTimes) -> Void {
        sound(name: attendee.label, isMain: attendee.modality == .content)
    }
}

/// An observer of the audio that a peer sends, with one call at a time on ``SharingActor``.
public protocol RemoteAudioObserver: AnyObject, Sendable {
    /// Called when an audio stream starts. A sink that is bound in this call gets all of it.
    @SharingActor func remoteAudioDidAdd(_ sound: RemoteAudio)
    /// Called when an audio stream has ended. Its sinks get no more audio. If it starts again, it is a new stream, to
    /// which sinks must be bound again.
    @SharingActor func remoteAudioDidRemove(_ sound: RemoteAudio)
}

extension RemoteAudioObserver {
    /// Does nothing.
    public func remoteAudioDidAdd(_ sound: RemoteAudio) {}
    /// Does nothing.
    public func remoteAudioDidRemove(_ sound: RemoteAudio) {}
}

/// The reason why a sink can't be bound to an audio stream.
public enum RemoteAudioError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no audio stream with this number, or it has ended.
    case unknownAudio(Int)
    /// The decoder can't be created.
    case decoder(String)

    /// The problem with its remedy.
    public var description: String {
        switch self {
        case .unknownAudio(let id):
            "there is no audio \(id): bind it in remoteAudioDidAdd, before it is removed"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}

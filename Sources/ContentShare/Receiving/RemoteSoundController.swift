internal import RTCShareLocks
public import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A sound that a peer sends.
public struct RemoteSound: Sendable, Hashable {
    /// The sound's number in its session; a number is used once.
    public let soundID: Int
    /// Whose sound it is.
    public let attendeeID: AttendeeID

    /// Whether it is that of what an attendee shares, and not the attendee's own voice.
    public var isContent: Bool { attendeeID.modality == .content }
}

/// The audio that a peer sends: each attendee's, and that of shared content. Audio without a sink is not decoded.
@SharingActor public final class RemoteSoundController {
    /// The attendee of each receiver of audio; nil for other receivers, and for audio that is not sent any more.
    private var attendees: [AttendeeID?] = []
    /// The audio that has begun, by the index of its receiver.
    private var present: [Int: (state: RemoteSound, receiver: AudioReceiver)] = [:]
    /// The recorders of all audio.
    private var recordings: [RecordingSource] = []
    private var nextID = 1
    private var hasEnded = false
    /// The readers of ``updates``.
    private let readers = ObserverList<ConnectionEvents<Newest<[RemoteSound]>>>()
    private nonisolated let observers = ObserverList<any RemoteSoundObserver>()

    nonisolated init() {}

    deinit { readers.forEach { $0.finish() } }

    /// Notifies `observer` of audio from now on.
    public nonisolated func add(observer: any RemoteSoundObserver) { observers.add(observer) }

    /// Notifies `observer` no more.
    public nonisolated func remove(observer: any RemoteSoundObserver) { observers.remove(observer) }

    /// The audio that has begun, oldest first.
    public var sounds: [RemoteSound] { present.values.map(\.state).sorted { $0.soundID < $1.soundID } }

    /// The present audio, and the audio after each change of it, until the session is over. Each call gives a sequence of its
    /// own, for one reader. A slow reader gets only the newest.
    public var updates: some AsyncSequence<[RemoteSound], Never> & Sendable {
        let reader = ConnectionEvents<Newest<[RemoteSound]>>()
        reader.append(Newest(value: sounds))
        if hasEnded { reader.finish() } else { readers.add(reader) }
        return reader.stream.map(\.value)
    }

    private func reportChange() {
        let newest = Newest(value: sounds)
        readers.forEach { $0.append(newest) }
    }

    private func receiver(ofSound id: Int) -> AudioReceiver? {
        present.values.first { $0.state.soundID == id }?.receiver
    }

    /// Gives `sink` a sound: 48 kHz, in blocks of 20 ms as they are due, with what was lost concealed.
    public func bind(_ sink: any AudioSink, toSound id: Int) throws(RemoteSoundError) {
        guard let receiver = receiver(ofSound: id) else { throw .unknownSound(id) }
        do {
            try receiver.add(sink)
        } catch let error as WorkerThreadError {
            throw .decoder("no thread to decode on: \(systemMessage(error.errorNumber))")
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Records all audio that the peer sends, or announces, as it arrives.
    func record(to source: RecordingSource) {
        recordings = recordings.filter(\.recorder.isOpen) + [source]
        // Each is silent until it begins.
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

    /// Gives `sink` nothing more.
    public func unbind(_ sink: any AudioSink) {
        for sound in present.values { sound.receiver.remove(sink) }
    }

    /// Delays a sound by at least `target` before its sinks get it, for video that takes longer than its audio. The delay is
    /// reached gently, by playing a little slower or faster. Zero, the initial value, asks for no more than the path needs; at
    /// most a second counts (W3C webrtc-extensions, `jitterBufferTarget`).
    public func setJitterBufferTarget(_ target: Duration, ofSound id: Int) {
        receiver(ofSound: id)?.setJitterBufferTarget(target)
    }

    /// The index of the receiver of a sound; nil if there is no such sound.
    package func receiverIndex(ofSound id: Int) -> Int? { receiver(ofSound: id)?.index }

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
            let sound = RemoteSound(soundID: nextID, attendeeID: attendee)
            nextID += 1
            present[index] = (sound, receiver)
            for source in recordings where source.recorder.isOpen { record(receiver, of: attendee, to: source) }
            observers.forEach { $0.remoteSoundDidAdd(sound) }
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

    /// Removes the sounds of the receivers with these indices, once their sinks have their end.
    private func remove(_ isRemoved: (Int) -> Bool) async {
        let indices = present.keys.filter(isRemoved).sorted()
        for sound in indices.compactMap({ present.removeValue(forKey: $0) }) {
            await sound.receiver.finish()
            observers.forEach { $0.remoteSoundDidRemove(sound.state) }
            reportChange()
        }
    }
}

extension RecordingSource {
    /// The track of an attendee's sound.
    fileprivate func sound(of attendee: AttendeeID) -> @Sendable ([UInt8], MediaTimes) -> Void {
        sound(name: attendee.label, isMain: attendee.modality == .content)
    }
}

/// Observes the audio that a peer sends, one call after the other, on ``SharingActor``.
public protocol RemoteSoundObserver: AnyObject, Sendable {
    /// A sound is heard for the first time. Bound from here, a sink gets all of it.
    @SharingActor func remoteSoundDidAdd(_ sound: RemoteSound)
    /// The sound is gone; its sinks get nothing more. What comes back is told, and is to be bound, anew.
    @SharingActor func remoteSoundDidRemove(_ sound: RemoteSound)
}

extension RemoteSoundObserver {
    /// Does nothing.
    public func remoteSoundDidAdd(_ sound: RemoteSound) {}
    /// Does nothing.
    public func remoteSoundDidRemove(_ sound: RemoteSound) {}
}

/// Why a sink can't be bound.
public enum RemoteSoundError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no sound with this number, or no more.
    case unknownSound(Int)
    /// The decoder can't be made.
    case decoder(String)

    /// The problem and its remedy.
    public var description: String {
        switch self {
        case .unknownSound(let id):
            "there is no audio \(id): bind it in remoteSoundDidAdd, before it is removed"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}

internal import RTCShareLocks
public import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareStreams
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

/// The sound that a peer sends: each attendee's, and that of what is shared. What nobody listens to is not decoded.
public final class RemoteSoundController: Sendable {
    private struct State {
        /// Whose sound a receiver's is; nil for what is no sound, or not sent any more.
        var attendees: [AttendeeID?] = []
        /// What is heard, by the index of its receiver.
        var sounds: [Int: (state: RemoteSound, receiver: AudioReceiver)] = [:]
        /// What records whatever is sent.
        var recordings: [RecordingSource] = []
        var nextID = 1

        func receiver(ofSound id: Int) -> AudioReceiver? {
            sounds.values.first { $0.state.soundID == id }?.receiver
        }
    }

    private let state = Locked(State())
    private let observers = ObserverList<any RemoteSoundObserver>()

    init() {}

    /// Tells `observer` of sounds from now on.
    public func add(observer: any RemoteSoundObserver) { observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any RemoteSoundObserver) { observers.remove(observer) }

    /// What is heard, oldest first.
    public var sounds: [RemoteSound] {
        state.withLock { $0.sounds.values.map(\.state) }.sorted { $0.soundID < $1.soundID }
    }

    /// Gives `sink` a sound: 48 kHz, in blocks of 20 ms as they are due, with what was lost concealed.
    public func bind(_ sink: any AudioSink, toSound id: Int) throws(RemoteSoundError) {
        guard let receiver = state.withLock({ $0.receiver(ofSound: id) }) else { throw .unknownSound(id) }
        do {
            try receiver.add(sink)
        } catch let error as WorkerThreadError {
            throw .decoder("no thread to decode on: \(systemMessage(error.errorNumber))")
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Records each sound that the peer sends, or says that it will, as it arrives.
    func record(to source: RecordingSource) {
        let (attendees, sounds, before) = state.withLock { state in
            let before = state.recordings
            state.recordings = before.filter(\.recorder.isOpen) + [source]
            return (state.attendees, Array(state.sounds.values), before)
        }
        // A recorder that nobody else has is freed after the lock is.
        withExtendedLifetime(before) {}
        // Each is silent until something is heard.
        for attendee in attendees.compactMap({ $0 }) { _ = source.sound(of: attendee) }
        for sound in sounds { record(sound.receiver, of: sound.state.attendeeID, to: source) }
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
        for sound in state.withLock({ $0.sounds.values }) { sound.receiver.remove(sink) }
    }

    /// Has a sound wait for `target` at least before its sinks get it, where its pictures take longer than it does: what is
    /// due is brought there gently, a little slower or faster than it was spoken. Zero, as it is at first, asks for no more
    /// than the path needs; at most a second counts (W3C webrtc-extensions, `jitterBufferTarget`).
    public func setJitterBufferTarget(_ target: Duration, ofSound id: Int) {
        state.withLock { $0.receiver(ofSound: id) }?.setJitterBufferTarget(target)
    }

    /// The index of the receiver of a sound; nil if there is no such sound.
    package func receiverIndex(ofSound id: Int) -> Int? { state.withLock { $0.receiver(ofSound: id) }?.index }

    // MARK: What the connection tells

    func handle(_ event: MediaEvent) async {
        switch event {
        case .remoteMediaChanged(let media): await update(media)
        case .soundBegan(let receiver): await begin(receiver)
        case .activityChanged(.ended, let receiver): await remove { $0 == receiver }
        case .activityChanged, .frameSizeChanged: break
        }
    }

    private func update(_ media: [RemoteMedia]) async {
        let attendees = media.enumerated().map { index, media -> AttendeeID? in
            guard !media.isVideo, media.isActive else { return nil }
            return AttendeeID(ofStream: media.streamID, isContent: media.isContent, receiver: index)
        }
        let (known, recordings) = state.withLock { state in
            defer { state.attendees = attendees }
            return (state.attendees, state.recordings)
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
        let (sound, recordings) = state.withLock { state -> (RemoteSound?, [RecordingSource]) in
            guard state.attendees.indices.contains(index), let attendee = state.attendees[index] else {
                return (nil, [])
            }
            let sound = RemoteSound(soundID: state.nextID, attendeeID: attendee)
            state.nextID += 1
            state.sounds[index] = (sound, receiver)
            return (sound, state.recordings)
        }
        if let sound {
            for source in recordings where source.recorder.isOpen {
                record(receiver, of: sound.attendeeID, to: source)
            }
            observers.forEach { $0.remoteSoundDidAdd(sound) }
        }
        receiver.announced()
    }

    func end() async {
        _ = state.withLock { state in
            defer { (state.attendees, state.recordings) = ([], []) }
            return state.recordings
        }
        await remove { _ in true }
    }

    /// Removes the sounds of the receivers with these indices, once their sinks have their end.
    private func remove(_ isRemoved: (Int) -> Bool) async {
        let removed = state.withLock { state in
            let gone = state.sounds.keys.filter(isRemoved).sorted()
            return gone.compactMap { state.sounds.removeValue(forKey: $0) }
        }
        for sound in removed {
            await sound.receiver.finish()
            observers.forEach { $0.remoteSoundDidRemove(sound.state) }
        }
    }
}

extension RecordingSource {
    /// The track of an attendee's sound.
    fileprivate func sound(of attendee: AttendeeID) -> @Sendable ([UInt8], MediaTimes) -> Void {
        sound(name: attendee.label, isMain: attendee.modality == .content)
    }
}

/// Hears of the sound that a peer sends, one call after the other.
public protocol RemoteSoundObserver: AnyObject, Sendable {
    /// A sound is heard for the first time. Bound from here, a sink gets all of it.
    func remoteSoundDidAdd(_ sound: RemoteSound)
    /// The sound is gone; its sinks get nothing more. What comes back is told, and is to be bound, anew.
    func remoteSoundDidRemove(_ sound: RemoteSound)
}

extension RemoteSoundObserver {
    /// Nothing is done.
    public func remoteSoundDidAdd(_ sound: RemoteSound) {}
    /// Nothing is done.
    public func remoteSoundDidRemove(_ sound: RemoteSound) {}
}

/// Why a sink can't be bound.
public enum RemoteSoundError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no sound with this number, or no more.
    case unknownSound(Int)
    /// The decoder can't be made.
    case decoder(String)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .unknownSound(let id):
            "there is no audio \(id): bind it in remoteSoundDidAdd, before it is removed"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}

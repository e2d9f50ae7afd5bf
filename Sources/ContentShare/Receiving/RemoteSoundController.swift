internal import RTCShareLocks
public import RTCShareMedia
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection

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
        /// What is heard, by receiver.
        var sounds: [Int: RemoteSound] = [:]
        var pipelines: [Int: AudioReceivePipeline] = [:]
        /// What records whatever is sent.
        var recordings: [SoundRecording] = []
        var nextID = 1

        /// Lets go of what a receiver was heard through, and says what sound it was, if it was heard.
        mutating func remove(receiver: Int) -> Removal {
            Removal(sound: sounds.removeValue(forKey: receiver), pipeline: pipelines.removeValue(forKey: receiver))
        }
    }

    private struct Removal {
        let sound: RemoteSound?
        let pipeline: AudioReceivePipeline?
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
        state.withLock { $0.sounds.values.sorted { $0.soundID < $1.soundID } }
    }

    /// Gives `sink` a sound: 48 kHz, in blocks of 20 ms as they are due, with what was lost concealed.
    public func bind(_ sink: any AudioSink, toSound id: Int) throws(RemoteSoundError) {
        do {
            let made = try AudioReceivePipeline()
            let pipeline = state.withLock { state -> AudioReceivePipeline? in
                guard let receiver = state.sounds.first(where: { $0.value.soundID == id })?.key else { return nil }
                let pipeline = state.pipelines[receiver] ?? made
                state.pipelines[receiver] = pipeline
                return pipeline
            }
            guard let pipeline else { throw RemoteSoundError.unknownSound(id) }
            pipeline.add(sink)
        } catch let error as RemoteSoundError {
            throw error
        } catch let error as WorkerThreadError {
            throw .decoder("no thread to decode on: \(systemMessage(error.errorNumber))")
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Records each sound that the peer sends, or says that it will, as it arrives.
    func record(to source: RecordingSource) {
        let recording = SoundRecording(to: source)
        let attendees = state.withLock { state in
            state.recordings.append(recording)
            return state.attendees
        }
        recording.announce(attendees)
    }

    /// Gives `sink` nothing more.
    public func unbind(_ sink: any AudioSink) {
        for pipeline in state.withLock({ $0.pipelines.values }) { pipeline.remove(sink) }
    }

    /// Has a sound wait for `target` at least before its sinks get it, where its pictures take longer than it does: what is
    /// due is brought there gently, a little slower or faster than it was spoken. Zero, as it is at first, asks for no more
    /// than the path needs; at most a second counts (W3C webrtc-extensions, `jitterBufferTarget`).
    public func setJitterBufferTarget(_ target: Duration, ofSound id: Int) {
        let pipeline = state.withLock { state in
            state.sounds.first { $0.value.soundID == id }.flatMap { state.pipelines[$0.key] }
        }
        pipeline?.setJitterBufferTarget(target)
    }

    /// The id of the object of a report that is about a sound; nil where there is no such sound.
    package func statisticsID(ofSound id: Int) -> String? {
        state.withLock { $0.sounds.first { $0.value.soundID == id }?.key }
            .map { StatisticsObject.inboundID(receiver: $0) }
    }

    /// Completes a connection's report with what was played.
    func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        state.withLock { $0.pipelines }.reduce(report) { $1.value.complete($0, receiver: $1.key) }
    }

    // MARK: What the connection tells

    func handle(_ event: MediaEvent) async {
        switch event {
        case .remoteMediaChanged(let media): await update(media)
        case .sound(let packet, let receiver): receive(packet, receiver: receiver)
        case .activityChanged(let activity, let receiver): await activityChanged(activity, receiver: receiver)
        case .frameSizeChanged: break
        }
    }

    func update(_ media: [RemoteMedia]) async {
        let attendees = media.enumerated().map { index, media -> AttendeeID? in
            guard !media.isVideo, media.isActive else { return nil }
            return AttendeeID(ofStream: media.streamID, isContent: media.isContent, receiver: index)
        }
        let (removed, recordings) = state.withLock { state in
            let gone = state.attendees.indices.filter { !attendees.indices.contains($0) || attendees[$0] == nil }
            let removed = gone.map { state.remove(receiver: $0) }
            state.attendees = attendees
            state.recordings.removeAll { !$0.isOpen }
            return (removed, state.recordings)
        }
        await tell(removed)
        for recording in recordings { recording.announce(attendees) }
    }

    func activityChanged(_ activity: ReceiverActivity, receiver: Int) async {
        guard activity == .ended else { return }
        let (removed, recordings) = state.withLock { ($0.remove(receiver: receiver), $0.recordings) }
        await tell([removed])
        for recording in recordings { recording.end(receiver: receiver) }
    }

    func receive(_ packet: ReceivedAudioPacket, receiver: Int) {
        let added = state.withLock { state -> RemoteSound? in
            guard state.sounds[receiver] == nil, state.attendees.indices.contains(receiver),
                let attendee = state.attendees[receiver]
            else { return nil }
            let sound = RemoteSound(soundID: state.nextID, attendeeID: attendee)
            state.nextID += 1
            state.sounds[receiver] = sound
            return sound
        }
        if let added { observers.forEach { $0.remoteSoundDidAdd(added) } }
        let (pipeline, attendee, recordings) = state.withLock { state in
            let attendee = state.attendees.indices.contains(receiver) ? state.attendees[receiver] : nil
            return (state.pipelines[receiver], attendee, state.recordings)
        }
        if let attendee { for recording in recordings { recording.receive(packet, of: attendee, receiver: receiver) } }
        pipeline?.decode(packet)
    }

    func end() async {
        let removed = state.withLock { state in
            defer {
                state.attendees = []
                state.recordings = []
            }
            return state.attendees.indices.map { state.remove(receiver: $0) }
        }
        await tell(removed)
    }

    private func tell(_ removed: [Removal]) async {
        for removal in removed {
            removal.pipeline?.end()
            await removal.pipeline?.finish()
            removal.pipeline?.broadcaster.end(error: nil)
            if let sound = removal.sound { observers.forEach { $0.remoteSoundDidRemove(sound) } }
        }
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
            "there is no sound \(id); bind when remoteSoundDidAdd tells of it, before it is removed"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}

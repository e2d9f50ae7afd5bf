public import Media
internal import NetworkRuntime
internal import PeerConnection
internal import Synchronization

/// The sound that a peer sends: each attendee's, and that of what is shared. What nobody listens to is not decoded.
public final class RemoteSoundController: Sendable {
    private struct State {
        /// By receiver; nil for what is no sound, or not sent any more.
        var attendees: [AttendeeID?] = []
        var heard: Set<Int> = []
        var pipelines: [Int: AudioReceivePipeline] = [:]

        /// Lets go of what a receiver was heard through, and says whose it was, if it was heard.
        mutating func remove(receiver: Int) -> Removal {
            let wasHeard = heard.remove(receiver) != nil
            return Removal(
                attendee: wasHeard && attendees.indices.contains(receiver) ? attendees[receiver] : nil,
                pipeline: pipelines.removeValue(forKey: receiver))
        }
    }

    private struct Removal {
        let attendee: AttendeeID?
        let pipeline: AudioReceivePipeline?
    }

    private let state = Mutex(State())
    private let observers = ObserverList<any RemoteSoundObserver>()

    init() {}

    /// Tells `observer` of sounds from now on.
    public func add(observer: any RemoteSoundObserver) { observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any RemoteSoundObserver) { observers.remove(observer) }

    /// Those whose sound was heard.
    public var attendees: [AttendeeID] {
        state.withLock { state in state.heard.sorted().compactMap { state.attendees[$0] } }
    }

    /// Gives `sink` the sound of an attendee: 48 kHz, in blocks of 20 ms as they are due, with what was lost concealed.
    public func bind(_ sink: any AudioSink, to attendee: AttendeeID) throws(RemoteSoundError) {
        guard let receiver = state.withLock({ $0.attendees.firstIndex(of: attendee) }) else {
            throw .unknownAttendee(attendee)
        }
        do {
            let made = try AudioReceivePipeline()
            let pipeline = state.withLock { state in
                let pipeline = state.pipelines[receiver] ?? made
                state.pipelines[receiver] = pipeline
                return pipeline
            }
            pipeline.add(sink)
        } catch {
            throw .decoder("\(error)")
        }
    }

    /// Gives `sink` nothing more.
    public func unbind(_ sink: any AudioSink) {
        for pipeline in state.withLock({ $0.pipelines.values }) { pipeline.remove(sink) }
    }

    /// Completes a connection's report with what was played.
    func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        state.withLock { $0.pipelines }.reduce(report) { $1.value.complete($0, receiver: $1.key) }
    }

    // MARK: What the connection tells

    func update(_ media: [RemoteMedia]) {
        let removed = state.withLock { state -> [Removal] in
            let attendees = media.enumerated().map { index, media -> AttendeeID? in
                guard !media.isVideo, media.isActive else { return nil }
                return AttendeeID(ofStream: media.streamID, isContent: media.isContent, receiver: index)
            }
            let gone = state.attendees.indices.filter { !attendees.indices.contains($0) || attendees[$0] == nil }
            let removed = gone.map { state.remove(receiver: $0) }
            state.attendees = attendees
            return removed
        }
        tell(removed)
    }

    func activityChanged(_ activity: ReceiverActivity, receiver: Int) {
        guard activity == .ended else { return }
        tell([state.withLock { $0.remove(receiver: receiver) }])
    }

    func receive(_ packet: ReceivedAudioPacket, receiver: Int) {
        let added = state.withLock { state -> AttendeeID? in
            guard state.attendees.indices.contains(receiver), let attendee = state.attendees[receiver] else {
                return nil
            }
            return state.heard.insert(receiver).inserted ? attendee : nil
        }
        if let added { observers.forEach { $0.remoteSoundDidAdd(added) } }
        state.withLock { $0.pipelines[receiver] }?.decode(packet)
    }

    func end() {
        let removed = state.withLock { state in
            defer { state = State() }
            return state.attendees.indices.map { state.remove(receiver: $0) }
        }
        tell(removed)
    }

    private func tell(_ removed: [Removal]) {
        for removal in removed {
            removal.pipeline?.stop()
            removal.pipeline?.broadcaster.end(error: nil)
            if let attendee = removal.attendee { observers.forEach { $0.remoteSoundDidRemove(attendee) } }
        }
    }
}

/// Hears of the sound that a peer sends, one call after the other.
public protocol RemoteSoundObserver: AnyObject, Sendable {
    /// An attendee, or what is shared, is heard for the first time. Bound from here, a sink gets all of it.
    func remoteSoundDidAdd(_ attendee: AttendeeID)
    /// The sound is gone; its sinks get nothing more. What comes back is told, and is to be bound, anew.
    func remoteSoundDidRemove(_ attendee: AttendeeID)
}

extension RemoteSoundObserver {
    /// Nothing is done.
    public func remoteSoundDidAdd(_ attendee: AttendeeID) {}
    /// Nothing is done.
    public func remoteSoundDidRemove(_ attendee: AttendeeID) {}
}

/// Why a sink can't be bound.
public enum RemoteSoundError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Nothing is heard of this attendee.
    case unknownAttendee(AttendeeID)
    /// The decoder can't be made.
    case decoder(String)

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .unknownAttendee(let attendee):
            "no sound of \(attendee) is received; bind when remoteSoundDidAdd tells of it"
        case .decoder(let reason): "the decoder can't be made: \(reason)"
        }
    }
}

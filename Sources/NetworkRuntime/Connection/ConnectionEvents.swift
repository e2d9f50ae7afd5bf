internal import RTCShareICE
internal import RTCShareLocks
internal import RTCSharePeerConnection

/// Events of a connection on their way from its event loop to their reader, of whom there is one.
final class ConnectionEvents: Sendable {
    private typealias Reader = CheckedContinuation<PeerConnection.Event?, Never>

    private struct State {
        var queue = EventQueue()
        var isFinished = false
        var reader: Reader?

        /// The reader that waits, and what it waits for, or that nothing will come any more.
        mutating func takeReader() -> (reader: Reader, event: PeerConnection.Event?)? {
            guard let reader, isFinished || queue.count > 0 else { return nil }
            self.reader = nil
            return (reader, queue.takeFirst())
        }
    }

    private let state = Locked(State())

    /// What happened, in order, until the connection is closed: that of which `convert` makes something.
    func stream<Event>(_ convert: @escaping @Sendable (PeerConnection.Event) -> Event?) -> AsyncStream<Event> {
        AsyncStream { [self] in
            while let event = await next() {
                if let converted = convert(event) { return converted }
            }
            return nil
        } onCancel: { [self] in
            finish()
        }
    }

    /// Takes an event; returns the receivers of which a key frame is to be asked for, where frames were let go of.
    func append(_ event: PeerConnection.Event) -> Set<Int> {
        let (lost, waiting) = state.withLock { state in
            guard !state.isFinished else { return (Set<Int>(), state.takeReader()) }
            return (state.queue.append(event), state.takeReader())
        }
        waiting?.reader.resume(returning: waiting?.event)
        return lost
    }

    /// Ends the stream once what waits has been read.
    func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            return state.takeReader()
        }
        waiting?.reader.resume(returning: waiting?.event)
    }

    /// What was let go of, because it was not read, of the receiver of this index.
    func dropped(receiver: Int) -> EventQueue.Drops { state.withLock { $0.queue.drops(ofReceiver: receiver) } }

    private func next() async -> PeerConnection.Event? {
        await withCheckedContinuation { continuation in
            let waiting: (reader: Reader, event: PeerConnection.Event?)? = state.withLock { state in
                // A second reader is told of the end.
                guard state.reader == nil else { return (continuation, nil) }
                state.reader = continuation
                return state.takeReader()
            }
            waiting?.reader.resume(returning: waiting?.event)
        }
    }
}

/// The events that wait for their reader, who may be slow or never come. A peer causes them, so that what they take is
/// bounded: of what is a state the newest stays, of frames and sound those of the last seconds. What happens once, and local
/// candidates, are kept: a peer can't cause more of them.
struct EventQueue {
    /// What of one receiver was let go of.
    struct Drops {
        var frames = 0
        var soundPackets = 0
    }

    /// Something that waits, and its place among all that does.
    private struct Waiting<Item> {
        let place: UInt64
        let item: Item
    }

    /// What waits of one receiver.
    private struct Receiver {
        var frames: [Waiting<AssembledFrame>] = []
        var frameBytes = 0
        var sounds: [Waiting<ReceivedAudioPacket>] = []
        /// Whether the next frame can't be decoded unless it is a key frame.
        var isAwaitingKeyFrame = false
        var drops = Drops()

        /// The place of what is first; the largest where there is nothing.
        var firstPlace: UInt64 { min(frames.first?.place ?? .max, sounds.first?.place ?? .max) }

        mutating func takeFirst(as index: Int) -> PeerConnection.Event? {
            if let frame = frames.first, frame.place == firstPlace {
                frames.removeFirst()
                frameBytes -= frame.item.data.count
                return .frame(frame.item, receiver: index)
            }
            return sounds.isEmpty ? nil : .sound(sounds.removeFirst().item, receiver: index)
        }

        mutating func letGoOfFrames() {
            drops.frames += frames.count
            frames.removeAll()
            frameBytes = 0
            isAwaitingKeyFrame = true
        }
    }

    /// Frames of one receiver that wait, some twenty seconds. Where there are more, those that wait are let go of, and a
    /// key frame begins anew.
    static let maximumFrames = 600
    /// The bytes of the frames of all receivers. Where there are more, those of the receiver who has most are let go of.
    static let maximumFrameBytes = 16 << 20
    /// Packets of sound of one receiver that wait, five seconds of 20 ms each; of more the oldest goes.
    static let maximumSoundPackets = 250

    private var receivers: [Int: Receiver] = [:]
    /// What is neither a frame nor sound.
    private var others: [Waiting<PeerConnection.Event>] = []
    private var nextPlace: UInt64 = 0

    var count: Int { receivers.values.reduce(others.count) { $0 + $1.frames.count + $1.sounds.count } }

    /// What of the receiver of this index was let go of.
    func drops(ofReceiver index: Int) -> Drops { receivers[index]?.drops ?? Drops() }

    mutating func takeFirst() -> PeerConnection.Event? {
        let index = receivers.min { $0.value.firstPlace < $1.value.firstPlace }?.key
        let place = index.flatMap { receivers[$0]?.firstPlace } ?? .max
        if let other = others.first, other.place < place { return others.removeFirst().item }
        return index.flatMap { receivers[$0]?.takeFirst(as: $0) }
    }

    /// Takes an event; returns the receivers of which a key frame is to be asked for, where frames were let go of.
    mutating func append(_ event: PeerConnection.Event) -> Set<Int> {
        nextPlace += 1
        switch event {
        case .frame(let frame, let receiver): return append(frame, of: receiver)
        case .sound(let packet, let receiver): append(packet, of: receiver)
        case .remoteMediaChanged:
            // Told before what comes of those media; the reader looks at all of them once it gets there.
            if others.contains(where: { if case .remoteMediaChanged = $0.item { true } else { false } }) { break }
            others.append(Waiting(place: nextPlace, item: event))
        default:
            others.removeAll { Self.isOutdated($0.item, by: event) }
            others.append(Waiting(place: nextPlace, item: event))
        }
        return []
    }

    private mutating func append(_ frame: AssembledFrame, of index: Int) -> Set<Int> {
        var lost: Set<Int> = []
        if isDecodable(frame, of: index) { lost = makeRoom(for: frame.data.count, of: index) }
        guard isDecodable(frame, of: index) else {
            receivers[index]?.drops.frames += 1
            return lost
        }
        receivers[index, default: Receiver()].isAwaitingKeyFrame = false
        receivers[index]?.frames.append(Waiting(place: nextPlace, item: frame))
        receivers[index]?.frameBytes += frame.data.count
        // It begins anew with this one.
        lost.remove(index)
        return lost
    }

    private func isDecodable(_ frame: AssembledFrame, of index: Int) -> Bool {
        frame.isKeyFrame || receivers[index]?.isAwaitingKeyFrame != true
    }

    /// Lets go of what waits until there is room for one more frame of this receiver; returns whose frames went.
    private mutating func makeRoom(for byteCount: Int, of index: Int) -> Set<Int> {
        var lost: Set<Int> = []
        if receivers[index]?.frames.count ?? 0 >= Self.maximumFrames {
            receivers[index]?.letGoOfFrames()
            lost.insert(index)
        }
        var room = Self.maximumFrameBytes - receivers.values.reduce(0) { $0 + $1.frameBytes }
        while room < byteCount, let most = receivers.max(by: { $0.value.frameBytes < $1.value.frameBytes }),
            most.value.frameBytes > 0
        {
            room += most.value.frameBytes
            receivers[most.key]?.letGoOfFrames()
            lost.insert(most.key)
        }
        return lost
    }

    private mutating func append(_ packet: ReceivedAudioPacket, of index: Int) {
        if receivers[index]?.sounds.count ?? 0 >= Self.maximumSoundPackets {
            receivers[index]?.sounds.removeFirst()
            receivers[index]?.drops.soundPackets += 1
        }
        receivers[index, default: Receiver()].sounds.append(Waiting(place: nextPlace, item: packet))
    }

    /// Whether nobody who reads `new` has use for `old`.
    private static func isOutdated(_ old: PeerConnection.Event, by new: PeerConnection.Event) -> Bool {
        switch (old, new) {
        case (.activityChanged(_, let receiver), .activityChanged(_, let other)):
            receiver == other
        case (.disconnected, .reconnected), (.reconnected, .disconnected), (.disconnected, .disconnected),
            (.reconnected, .reconnected), (.restartNeeded, .restartNeeded),
            (.gatheringComplete, .gatheringComplete), (.localCandidatesEnded, .localCandidatesEnded):
            true
        case (.serverFailed(let failure), .serverFailed(let other)):
            failure.server == other.server && failure.base == other.base
        case (.localCandidate(_, _, let fragment), .localCandidate(_, _, let other)):
            fragment != other
        default:
            false
        }
    }
}

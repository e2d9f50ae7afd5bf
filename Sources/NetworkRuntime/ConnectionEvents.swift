internal import ICE
internal import Locks
internal import PeerConnection

/// The events of a connection on their way from its event loop to their reader, of whom there is one.
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

    /// What happened, in order, until the connection is closed.
    var stream: AsyncStream<PeerConnection.Event> {
        AsyncStream { [self] in
            await next()
        } onCancel: { [self] in
            finish()
        }
    }

    /// Takes an event; returns the receiver of which a key frame is to be asked for, where its frames were let go of.
    func append(_ event: PeerConnection.Event) -> Int? {
        let (lost, waiting) = state.withLock { state in
            guard !state.isFinished else { return (Int?.none, state.takeReader()) }
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
    func dropped(receiver: Int) -> EventQueue.Drops { state.withLock { $0.queue.drops[receiver, default: .init()] } }

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
/// bounded: of what is a state the newest stays, of frames and sound those of the last seconds, and the rest is told once
/// or as often as this side does something.
struct EventQueue {
    /// What of one receiver was let go of.
    struct Drops {
        var frames = 0
        var soundPackets = 0
    }

    /// Frames of one receiver that wait, some twenty seconds. Where there are more, those that wait are let go of, and a
    /// key frame begins anew.
    static let maximumFrames = 600
    /// The bytes of those frames.
    static let maximumFrameBytes = 16 << 20
    /// Packets of sound of one receiver that wait, five seconds of 20 ms each; of more the oldest goes.
    static let maximumSoundPackets = 250

    private(set) var drops: [Int: Drops] = [:]
    private var events: [PeerConnection.Event] = []
    /// The receivers whose next frame can't be decoded unless it is a key frame.
    private var awaitingKeyFrame: Set<Int> = []

    var count: Int { events.count }

    mutating func takeFirst() -> PeerConnection.Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Takes an event; returns the receiver of which a key frame is to be asked for, where its frames were let go of.
    mutating func append(_ event: PeerConnection.Event) -> Int? {
        switch event {
        case .frame(let frame, let receiver):
            guard makeRoom(for: frame, of: receiver) else {
                drops[receiver, default: Drops()].frames += 1
                return awaitingKeyFrame.insert(receiver).inserted ? receiver : nil
            }
        case .sound(_, let receiver): makeRoomForSound(of: receiver)
        case .remoteMediaChanged:
            // Told before what comes of those media; the reader looks at all of them once it gets there.
            if events.contains(where: { if case .remoteMediaChanged = $0 { true } else { false } }) { return nil }
        default: events.removeAll { Self.isOutdated($0, by: event) }
        }
        events.append(event)
        return nil
    }

    /// Whether there is room for a frame, and it can be decoded.
    private mutating func makeRoom(for frame: AssembledFrame, of receiver: Int) -> Bool {
        if frame.isKeyFrame {
            awaitingKeyFrame.remove(receiver)
        } else if awaitingKeyFrame.contains(receiver) {
            return false
        }
        var (count, bytes) = (0, frame.data.count)
        for case .frame(let waiting, receiver) in events {
            count += 1
            bytes += waiting.data.count
        }
        guard count >= Self.maximumFrames || bytes > Self.maximumFrameBytes else { return true }
        events.removeAll { if case .frame(_, receiver) = $0 { true } else { false } }
        drops[receiver, default: Drops()].frames += count
        return frame.isKeyFrame
    }

    private mutating func makeRoomForSound(of receiver: Int) {
        let waiting = events.indices.filter { if case .sound(_, receiver) = events[$0] { true } else { false } }
        guard waiting.count >= Self.maximumSoundPackets, let oldest = waiting.first else { return }
        events.remove(at: oldest)
        drops[receiver, default: Drops()].soundPackets += 1
    }

    /// Whether nobody who reads `new` has use for `old`.
    private static func isOutdated(_ old: PeerConnection.Event, by new: PeerConnection.Event) -> Bool {
        switch (old, new) {
        case (.lossReported(_, let media), .lossReported(_, let other)),
            (.targetBitrateChanged(_, let media), .targetBitrateChanged(_, let other)),
            (.keyFrameRequested(let media), .keyFrameRequested(let other)),
            (.activityChanged(_, let media), .activityChanged(_, let other)):
            media == other
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

public import FoundationEssentials
internal import Glibc
public import RTCShareContentShare
internal import RTCSharePeerConnection
public import RTCShareWireFormat

/// A room's share at a server, as long as it is wanted there: it is restarted after failures, with increasing pauses.
///
///     start ──▶ connecting ──connected──▶ published ⇄ disconnected ──stop──▶ ended
///                 ▲    │                      │         │
///                 │    └───────failed─────────┴─────────┴──▶ waiting, or failed if a retry is useless
///                 └───────────────the pause is over─────────────┘
///
/// If the share was never published, a rejection by the server is final. If it was, the publication is retried whatever
/// the reason, because a server that was just restarted may not know its own streams yet. Only a publisher that was
/// removed intentionally is not published again.
@SharingActor public final class Publication {
    /// The state.
    public enum State: String, Sendable, Codable {
        /// A session is being requested, or a route to the server is being searched.
        case connecting
        /// The share is available at the server.
        case published
        /// The server does not answer; it may return.
        case disconnected
        /// The publication failed, and waits for a retry.
        case waiting
        /// The publication failed permanently.
        case failed
        /// It was stopped.
        case ended
    }

    /// An event.
    public enum Event: Sendable {
        /// The share is available at the server, which is this viewer of the room. `count` is the number of times that
        /// this has happened.
        case published(RoomViewer, count: Int)
        /// The server does not answer; it may return, and another route to it is being searched.
        case disconnected
        /// The server answers again.
        case reconnected
        /// The server reports so many lost packets, more than it tolerates.
        case losses(Int)
        /// The server accepts at most this bitrate.
        case limited(DataRate)
        /// The publication failed, and is retried after `pause`, or not at all if that is nil.
        case failed(any Error, retryPolicy: RetryPolicy, pause: Duration?)
    }

    /// The status of a publication.
    public struct Status: Sendable {
        /// The state.
        public internal(set) var state = State.connecting
        /// The time since which it has the state.
        public internal(set) var since = Date()
        /// The number of times that it was published.
        public internal(set) var count = 0
        /// The reason for the last failure; nil after it was published again.
        public internal(set) var failure: (any Error)?
        /// The time of the next retry.
        public internal(set) var nextAttempt: Date?
        /// The server as a viewer of the room, while there is a session.
        public internal(set) var viewer: RoomViewer?
    }

    /// The server's endpoint.
    public nonisolated let endpoint: any PublishingEndpoint
    /// The events in order, for one reader.
    public nonisolated let events: AsyncStream<Event>
    /// The current status.
    public private(set) var status = Status()
    private let continuation: AsyncStream<Event>.Continuation
    private let room: SharingRoom
    private let clock: any Clock<Duration>
    /// Returns a random number from 0 to 1.
    private let draw: @Sendable () -> Double
    private(set) var pauses = RetryPauses()
    private var running: Task<Void, Never>?
    private var session: (any PublishingSession)?

    /// The time after which a published share counts as stable, so that the next failure is a new one.
    private static let settledTime = Duration.seconds(30)

    /// Creates a publication of a share at a server, which ``start()`` starts.
    public nonisolated convenience init(of room: SharingRoom, at endpoint: some PublishingEndpoint) {
        self.init(of: room, at: endpoint, clock: ContinuousClock()) { .random(in: 0...1) }
    }

    /// Creates a publication with a given clock and source of random numbers.
    nonisolated init(
        of room: SharingRoom, at endpoint: some PublishingEndpoint, clock: any Clock<Duration>,
        drawing draw: @escaping @Sendable () -> Double
    ) {
        self.room = room
        self.endpoint = endpoint
        self.clock = clock
        self.draw = draw
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1024))
    }

    /// Starts to publish, once. ``events`` reports everything that follows.
    public func start() {
        guard running == nil, status.state != .ended else { return }
        running = Task { [weak self] in
            while let goesOn = await self?.attempt(), goesOn {}
        }
    }

    /// Ends the publication, and notifies the server, if it can be reached.
    public func stop() async {
        change(to: .ended)
        running?.cancel()
        await session?.leave()
        await running?.value
        running = nil
        continuation.finish()
    }

    // MARK: Attempts

    /// Publishes until that fails, and waits for the time of the next retry. Returns false if there is none.
    private func attempt() async -> Bool {
        guard status.state != .ended else { return false }
        status.nextAttempt = nil
        change(to: .connecting)
        let failure = await publish()
        status.viewer = nil
        guard status.state != .ended else { return false }
        let retryPolicy = endpoint.retryPolicy(after: failure)
        let pause = pause(after: retryPolicy)
        status.failure = failure
        status.nextAttempt = pause.map { Date() + $0 / .seconds(1) }
        change(to: pause == nil ? .failed : .waiting)
        continuation.yield(.failed(failure, retryPolicy: retryPolicy, pause: pause))
        guard let pause else { return false }
        return (try? await clock.sleep(for: pause)) != nil
    }

    private func pause(after retryPolicy: RetryPolicy) -> Duration? {
        var requested: Duration?
        switch retryPolicy {
        case .removedByServer: return nil
        case .permanent where status.count == 0: return nil
        case .permanent, .transient: break
        case .retry(let time): requested = time
        }
        return pauses.next(atLeast: requested, chance: draw())
    }

    /// Publishes, and returns the reason for the end.
    private func publish() async -> any Error {
        let session: any PublishingSession
        do {
            session = try await endpoint.publish(room)
        } catch {
            return error
        }
        self.session = session
        status.viewer = session.viewer
        let failure = await end(of: session)
        // A session that the server still has would block the next one.
        await session.leave()
        self.session = nil
        return failure
    }

    private func end(of session: any PublishingSession) async -> any Error {
        // Ended during the start.
        if status.state == .ended { return CancellationError() }
        var settling: Task<Void, Never>?
        defer { settling?.cancel() }
        for await event in session.events where status.state != .ended {
            switch event {
            case .state(.connected) where settling == nil:
                status.count += 1
                status.failure = nil
                change(to: .published)
                continuation.yield(.published(session.viewer, count: status.count))
                settling = Task { [weak self, clock] in
                    guard (try? await clock.sleep(for: Self.settledTime)) != nil else { return }
                    self?.pauses.reset()
                }
            case .state(.connected) where status.state == .disconnected:
                change(to: .published)
                continuation.yield(.reconnected)
            case .state(.disconnected):
                change(to: .disconnected)
                continuation.yield(.disconnected)
            case .state: continue
            case .losses(let count): continuation.yield(.losses(count))
            case .limited(let rate): continuation.yield(.limited(rate))
            case .ended(let error): return error ?? PublicationEnded()
            }
        }
        return CancellationError()
    }

    private func change(to state: State) {
        guard status.state != .ended, status.state != state else { return }
        status.state = state
        status.since = Date()
    }
}

/// The error of a server that ended the session without a reason.
public struct PublicationEnded: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the event.
    public var description: String { "the server ended the session" }
}

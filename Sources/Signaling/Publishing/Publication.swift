public import FoundationEssentials
internal import Glibc
public import RTCShareContentShare
internal import RTCSharePeerConnection
public import RTCShareWireFormat

/// A room's share at a server, for as long as it is wanted there: what fails is begun anew, after pauses that grow.
///
///     start ──▶ connecting ──connected──▶ published ⇄ disconnected ──stop──▶ ended
///                 ▲    │                      │         │
///                 │    └───────failed─────────┴─────────┴──▶ waiting, or given up where that is hopeless
///                 └───────────────the pause is over─────────────┘
///
/// What never was published is given up where the server refuses what it was asked for. What was is tried again whatever
/// the server says: one that was just started again may not know its own streams yet. Only who is sent away on purpose
/// stays away.
@SharingActor public final class Publication {
    /// The state.
    public enum State: String, Sendable, Codable {
        /// A session is asked for, or a way to the server looked for.
        case connecting
        /// The share is there.
        case published
        /// The server does not answer; it may come back.
        case disconnected
        /// It failed; the next try is waited for.
        case waiting
        /// It failed, and will fail each time: nothing is tried any more.
        case failed
        /// It was stopped.
        case ended
    }

    /// An event.
    public enum Event: Sendable {
        /// The share is there; the server has this place in the room. `count` says how often that came about so far.
        case published(RoomViewer, count: Int)
        /// The server does not answer; it may come back, and another path to it is looked for.
        case disconnected
        /// The server answers again.
        case reconnected
        /// The server misses so many packets: more than it likes.
        case losses(Int)
        /// The server takes no more than this.
        case limited(DataRate)
        /// It failed, and is tried again after `pause`; or, where that is nil, is given up.
        case failed(any Error, retryPolicy: RetryPolicy, pause: Duration?)
    }

    /// Where it stands now.
    public struct Status: Sendable {
        /// The state.
        public internal(set) var state = State.connecting
        /// Since when.
        public internal(set) var since = Date()
        /// How often it was published.
        public internal(set) var count = 0
        /// Why it failed last; nil once it is published again.
        public internal(set) var failure: (any Error)?
        /// When it is tried again.
        public internal(set) var nextAttempt: Date?
        /// The server's place in the room, while there is a session.
        public internal(set) var viewer: RoomViewer?
    }

    /// Where it is published.
    public nonisolated let endpoint: any PublishingEndpoint
    /// What happens, in order; one reader.
    public nonisolated let events: AsyncStream<Event>
    /// Where it stands now.
    public private(set) var status = Status()
    private let continuation: AsyncStream<Event>.Continuation
    private let room: SharingRoom
    private let clock: any Clock<Duration>
    /// Draws a number from 0 to 1.
    private let draw: @Sendable () -> Double
    private(set) var pauses = RetryPauses()
    private var running: Task<Void, Never>?
    private var session: (any PublishingSession)?

    /// For how long it has to be published for what comes then to be a trouble of its own.
    private static let settledTime = Duration.seconds(30)

    /// A share that ``start()`` has published at a server.
    public nonisolated convenience init(of room: SharingRoom, at endpoint: some PublishingEndpoint) {
        self.init(of: room, at: endpoint, clock: ContinuousClock()) { .random(in: 0...1) }
    }

    /// The same with a clock and a source of chance that are given.
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

    /// Begins to publish. Once; what becomes of it, ``events`` tells.
    public func start() {
        guard running == nil, status.state != .ended else { return }
        running = Task { [weak self] in
            while let goesOn = await self?.attempt(), goesOn {}
        }
    }

    /// Ends it, and tells the server so, as far as that can be reached.
    public func stop() async {
        change(to: .ended)
        running?.cancel()
        await session?.leave()
        await running?.value
        running = nil
        continuation.finish()
    }

    // MARK: One try after the other

    /// Publishes until that fails, and waits for the time of the next try; false where there is none.
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

    /// Publishes; returns why that is over.
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
        // A session that the server still has would be in the way of the next.
        await session.leave()
        self.session = nil
        return failure
    }

    private func end(of session: any PublishingSession) async -> any Error {
        // Ended while it began.
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

/// A server took its leave, without a reason.
public struct PublicationEnded: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened.
    public var description: String { "the server ended the session" }
}

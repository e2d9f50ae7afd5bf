/// What a share is in the middle of: a rule book without a clock.
///
/// A source that holds its pictures back (a window that is minimised) is not silent: its time begins when it gives them.
/// That it is silent ends nothing: observers are told.
///
///              start                  first picture sent
///     idle ────────────▶ starting ─────────────────────────▶ sharing
///      ▲                  │  ▲ │ start: .replaced              │  │
///      │  stop, refused   │  └─┘                               │  │
///      ├──────────────────┘  ▲              start              │  │
///      │                     └─────────────────────────────────┘  │
///      └──────────────────────────────────────────────────────────┘
///                     stop, or the connection's end
struct SharePhase {
    /// How long a source that is not muted may take to its first picture, from when there is a viewer, before it counts as
    /// silent.
    static let patience = Duration.seconds(5)

    /// The same for a source of so many pictures a second: two of its intervals where that is longer.
    static func patience(framesPerSecond: Double) -> Duration {
        guard framesPerSecond > 0 else { return patience }
        return max(patience, .seconds(min(2 / framesPerSecond, 3600)))
    }

    /// What observers are to be told.
    enum Event: Hashable {
        case didStart
        case didStop(ContentShareStatus)
        case sourceIsSilent(Duration)
    }

    private enum State: Hashable {
        case idle
        /// Nothing was sent yet; there is a deadline while there is a viewer and the source is not muted.
        case starting(deadline: Duration?)
        case sharing
        /// The connection is over, and nothing can start any more.
        case ended
    }

    private var state = State.idle
    private var isConnected = false
    private var isMuted = false
    /// What the source has; nil once it was found silent.
    private var patience: Duration?

    /// Whether something is shared, or about to be.
    var isActive: Bool {
        switch state {
        case .starting, .sharing: true
        case .idle, .ended: false
        }
    }

    /// Whether the first picture was sent.
    var hasBegun: Bool { state == .sharing }

    /// Whether the connection is over.
    var hasEnded: Bool { state == .ended }

    /// When ``handleTimeout(now:)`` is worth calling.
    var deadline: Duration? {
        if case .starting(let deadline) = state { deadline } else { nil }
    }

    mutating func start(
        now: Duration, patience: Duration = Self.patience
    ) throws(ContentShareError) -> Event? {
        // Whether the new source is muted is told after this.
        isMuted = false
        self.patience = patience
        let next = State.starting(deadline: deadline(from: now))
        switch state {
        case .ended: throw .ended
        case .starting:
            state = next
            return .didStop(.replaced)
        case .idle, .sharing:
            state = next
            return nil
        }
    }

    /// When the source is silent whose time begins now; nil where none runs.
    private func deadline(from now: Duration) -> Duration? {
        guard isConnected, !isMuted, let patience else { return nil }
        return now + patience
    }

    mutating func connected(now: Duration) {
        isConnected = true
        if case .starting(nil) = state { state = .starting(deadline: deadline(from: now)) }
    }

    /// What is shared holds its pictures back, or gives them again.
    mutating func muteDidChange(_ isMuted: Bool, now: Duration) {
        guard isMuted != self.isMuted else { return }
        self.isMuted = isMuted
        if case .starting = state {
            state = .starting(deadline: deadline(from: now))
        }
    }

    /// The descriptions have no place for the picture any more: what starts waits for the next.
    mutating func disconnected() {
        isConnected = false
        if case .starting = state { state = .starting(deadline: nil) }
    }

    /// The viewer's description declines the picture. A viewer who saw it may want it again.
    mutating func refused() -> Event? {
        disconnected()
        guard case .starting = state else { return nil }
        state = .idle
        return .didStop(.refusedByPeer)
    }

    mutating func firstPictureSent() -> Event? {
        guard case .starting = state else { return nil }
        state = .sharing
        return .didStart
    }

    mutating func stop() throws(ContentShareError) -> Event {
        switch state {
        case .ended: throw .ended
        case .idle: throw .notSharing
        case .starting, .sharing:
            state = .idle
            return .didStop(.ok)
        }
    }

    /// `hasPicture` says that the source has given one. It is not silent then: no path has room for it yet.
    mutating func handleTimeout(now: Duration, hasPicture: Bool = false) -> Event? {
        guard case .starting(let deadline?) = state, now >= deadline, let patience else { return nil }
        if !hasPicture { self.patience = nil }
        state = .starting(deadline: self.deadline(from: now))
        return hasPicture ? nil : .sourceIsSilent(patience)
    }

    mutating func connectionEnded(_ status: ContentShareStatus) -> Event? {
        defer { state = .ended }
        return isActive ? .didStop(status) : nil
    }
}

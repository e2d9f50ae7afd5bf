/// What a share is in the middle of: a rule book without a clock.
///
/// A source that holds its pictures back (a window that is minimised) is not silent: its time begins when it gives them.
///
///              start                  first picture sent
///     idle ────────────▶ starting ─────────────────────────▶ sharing
///      ▲                  │  ▲ │ start: .replaced              │  │
///      │  stop, refused,  │  └─┘                               │  │
///      │  silent,         │                                    │  │
///      ├──────────────────┘  ▲              start              │  │
///      │                     └─────────────────────────────────┘  │
///      └──────────────────────────────────────────────────────────┘
///                     stop, refused, or the connection's end
struct SharePhase {
    /// How long a source that is not muted may take to its first picture, from when there is a viewer.
    static let patience = Duration.seconds(5)

    /// What observers are to be told.
    enum Event: Hashable {
        case didStart
        case didStop(ContentShareStatus)
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

    /// Whether something is shared, or about to be.
    var isActive: Bool {
        switch state {
        case .starting, .sharing: true
        case .idle, .ended: false
        }
    }

    /// Whether the connection is over.
    var hasEnded: Bool { state == .ended }

    /// When ``handleTimeout(now:)`` is worth calling.
    var deadline: Duration? {
        if case .starting(let deadline) = state { deadline } else { nil }
    }

    mutating func start(now: Duration) throws(ContentShareError) -> Event? {
        // Whether the new source is muted is told after this.
        isMuted = false
        let next = State.starting(deadline: isConnected ? now + Self.patience : nil)
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

    mutating func connected(now: Duration) {
        isConnected = true
        if case .starting(nil) = state, !isMuted { state = .starting(deadline: now + Self.patience) }
    }

    /// What is shared holds its pictures back, or gives them again.
    mutating func muteDidChange(_ isMuted: Bool, now: Duration) {
        guard isMuted != self.isMuted else { return }
        self.isMuted = isMuted
        if case .starting = state {
            state = .starting(deadline: isConnected && !isMuted ? now + Self.patience : nil)
        }
    }

    /// The descriptions have no place for the picture any more: what starts waits for the next.
    mutating func disconnected() {
        isConnected = false
        if case .starting = state { state = .starting(deadline: nil) }
    }

    /// The viewer's answer declines the picture.
    mutating func refused() -> Event? {
        disconnected()
        guard isActive else { return nil }
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
        guard case .starting(let deadline?) = state, now >= deadline else { return nil }
        guard !hasPicture else {
            state = .starting(deadline: now + Self.patience)
            return nil
        }
        state = .idle
        return .didStop(.sourceSilent(Self.patience))
    }

    mutating func connectionEnded(_ status: ContentShareStatus) -> Event? {
        defer { state = .ended }
        return isActive ? .didStop(status) : nil
    }
}

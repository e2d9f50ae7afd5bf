/// The phase of a share, as a state machine without a clock.
///
/// A source that is muted (a minimized window) is not silent. Its timeout starts when it is unmuted. A silent source
/// does not end the share. Observers are notified.
///
///              start                  first frame sent
///     idle ────────────▶ starting ─────────────────────────▶ sharing
///      ▲                  │  ▲ │ start: .replaced              │  │
///      │  stop, refused   │  └─┘                               │  │
///      ├──────────────────┘  ▲              start              │  │
///      │                     └─────────────────────────────────┘  │
///      └──────────────────────────────────────────────────────────┘
///                     stop, or the end of the connection
struct SharePhase {
    /// The timeout for the first frame of a source that is not muted, from the time at which there is a viewer. After
    /// it, the source is silent.
    static let patience = Duration.seconds(5)

    /// Returns the timeout for a source with a frame rate: two of its intervals if that is longer than ``patience``.
    static func patience(framesPerSecond: Double) -> Duration {
        guard framesPerSecond > 0 else { return patience }
        return max(patience, .seconds(min(2 / framesPerSecond, 3600)))
    }

    /// An event for the observers.
    enum Event: Hashable {
        case didStart
        case didStop(ContentShareStatus)
        case sourceIsSilent(Duration)
    }

    private enum State: Hashable {
        case idle
        /// The first frame was not sent. There is a deadline while there is a viewer and the source is not muted.
        case starting(deadline: Duration?)
        case sharing
        /// The connection ended, so nothing can start.
        case ended
    }

    private var state = State.idle
    private var isConnected = false
    private var isMuted = false
    /// The timeout of the source. Nil after it was found silent.
    private var patience: Duration?

    /// Whether content is shared, or about to be.
    var isActive: Bool {
        switch state {
        case .starting, .sharing: true
        case .idle, .ended: false
        }
    }

    var hasBegun: Bool { state == .sharing }

    var hasEnded: Bool { state == .ended }

    /// The time at which to call ``handleTimeout(now:hasPicture:)``.
    var deadline: Duration? {
        if case .starting(let deadline) = state { deadline } else { nil }
    }

    mutating func start(
        now: Duration, patience: Duration = Self.patience
    ) throws(ContentShareError) -> Event? {
        // The mute state of the new source is reported after this.
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

    /// Returns the time at which the source is silent if its timeout starts now. Nil if the timeout does not run.
    private func deadline(from now: Duration) -> Duration? {
        guard isConnected, !isMuted, let patience else { return nil }
        return now + patience
    }

    mutating func connected(now: Duration) {
        isConnected = true
        if case .starting(nil) = state { state = .starting(deadline: deadline(from: now)) }
    }

    mutating func muteDidChange(_ isMuted: Bool, now: Duration) {
        guard isMuted != self.isMuted else { return }
        self.isMuted = isMuted
        if case .starting = state {
            state = .starting(deadline: deadline(from: now))
        }
    }

    /// Ends the presence of viewers, because no description accepts the video. A share that is starting waits for the
    /// next one.
    mutating func disconnected() {
        isConnected = false
        if case .starting = state { state = .starting(deadline: nil) }
    }

    /// Ends a start whose video the viewer's description declines. A viewer who has seen frames can accept the video
    /// again.
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

    /// Finds the source silent if the deadline has passed. If `hasPicture`, it has delivered a frame that no route has
    /// room for, and gets the timeout again.
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

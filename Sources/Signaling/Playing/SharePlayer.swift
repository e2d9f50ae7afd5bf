package import RTCShareContentShare
internal import RTCShareTransport

/// Plays a share of a server, over a session that can be restarted at the same URL.
package protocol SharePlayer: Sendable {
    /// The received video and audio.
    nonisolated var session: AttendeeSession { get }
    /// Whether the viewer waits until the presenter admits it.
    var isWaiting: Bool { get async }
    /// Starts the session. If this throws, the session has ended.
    func start() async throws
    /// Notifies the server of the end, and leaves.
    func leave() async
    /// Returns the reason for the end of a session whose connection ended with `error`; nil if the sender ended it.
    func reason(after error: (any Error)?) async -> (any Error)?
}

/// Returns whether a session that failed with this error may succeed later at the same URL: a restarting server rejects
/// requests and forgets sessions.
package func mayPass(_ error: any Error) -> Bool {
    switch error {
    case .sessionGone as WHEPError, .lost as WHEPError, is ConnectionError: true
    // Servers know a stream only while somebody publishes it.
    case .refused(let refusal) as WHEPError: [404, 409, 425, 429].contains(refusal.status) || refusal.status >= 500
    case .noJanus(let status?, _) as JanusError: status >= 500
    case let error as JanusError: error.isPassing
    // A tunnel or a proxy accepts connections for a server that does not run.
    case .unreachable as HTTPClientError, .noTLS as HTTPClientError: true
    default: false
    }
}

/// Returns the time before the next attempt that the server asks for, at most a minute; zero for none.
package func requestedPause(after error: any Error) -> Duration {
    guard case .refused(let refusal) as WHEPError = error else { return .zero }
    return min(refusal.retryAfter ?? .zero, .seconds(60))
}

extension JanusError {
    fileprivate var isPassing: Bool {
        switch self {
        case .sessionGone, .connectionClosed, .lost, .noPublisher: true
        default: false
        }
    }
}

package import RTCShareContentShare
internal import RTCShareTransport

/// Watches what a server shows, over a session that can be begun again at the same place.
package protocol SharePlayer: Sendable {
    /// The pictures and sounds that come.
    nonisolated var session: AttendeeSession { get }
    /// Whether the viewer waits until the presenter admits it.
    var isWaiting: Bool { get async }
    /// Begins the session. Where this throws, it has ended.
    func start() async throws
    /// Tells the server the end, and leaves.
    func leave() async
    /// Why the session ended, which the connection says ended with `error`; nil where the sender ended it.
    func reason(after error: (any Error)?) async -> (any Error)?
}

/// Whether a session that failed like this may succeed later at the same place: a server that restarts refuses and forgets.
package func mayPass(_ error: any Error) -> Bool {
    switch error {
    case .sessionGone as WHEPError, .lost as WHEPError, is ConnectionError: true
    // Servers know a stream only while somebody publishes it.
    case .refused(let refusal) as WHEPError: [404, 409, 425, 429].contains(refusal.status) || refusal.status >= 500
    case .noJanus(let status?, _) as JanusError: status >= 500
    case let error as JanusError: error.isPassing
    case .unreachable as HTTPClientError: true
    default: false
    }
}

extension JanusError {
    fileprivate var isPassing: Bool {
        switch self {
        case .sessionGone, .connectionClosed, .lost, .noPublisher: true
        default: false
        }
    }
}

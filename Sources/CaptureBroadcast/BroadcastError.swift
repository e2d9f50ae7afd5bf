public import RTCShareMedia
package import RTCShareWireFormat

/// The reason why a connection between the two processes fails or ends.
public enum BroadcastError: Error, Sendable, Hashable {
    /// The sharing process can't listen at its endpoint.
    case listen(String, remedy: String? = nil)
    /// A process does not know the other's token.
    case auth(String, remedy: String? = nil)
    /// The other process can't be reached, or sent something that is not valid in this protocol.
    case network(String, remedy: String? = nil)
    /// The operating system rejected a call that this process needs.
    case `internal`(String)
}

extension BroadcastError {
    /// The reason, without the operation that failed.
    package var reason: String {
        switch self {
        case .listen(let reason, _), .auth(let reason, _), .network(let reason, _), .internal(let reason): reason
        }
    }
}

extension BroadcastError: CustomStringConvertible {
    /// The failure, its reason and a remedy, without the tokens.
    public var description: String { explanation.text }
}

extension BroadcastError: ExplainedError {
    /// The failure and its reason and, separately, a remedy.
    package var explanation: Explanation {
        switch self {
        case .listen(let reason, let remedy):
            Explanation("can't wait for the capturing process: \(reason)", remedy: remedy)
        case .auth(let reason, let remedy): Explanation("wrong token: \(reason)", remedy: remedy)
        case .network(let reason, let remedy): Explanation("the capture failed: \(reason)", remedy: remedy)
        case .internal(let reason): Explanation("the capture failed: the system refused \(reason)")
        }
    }
}

extension BroadcastError: CaptureFailure {
    /// The kind of failure for the source's observers.
    public var kind: CaptureSourceError.Kind {
        switch self {
        case .auth: .configurationFailure
        case .listen, .network, .internal: .systemFailure
        }
    }
}

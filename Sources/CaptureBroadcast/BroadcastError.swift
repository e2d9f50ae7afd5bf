public import RTCShareMedia
package import RTCShareWireFormat

/// Why a broadcast does not come about, or ends.
public enum BroadcastError: Error, Sendable, Hashable {
    /// The app can't wait for extensions where it was told to.
    case listen(String, remedy: String? = nil)
    /// A side does not know the other's token.
    case auth(String, remedy: String? = nil)
    /// The other side can't be reached, or said something that is no broadcast.
    case network(String, remedy: String? = nil)
    /// The operating system refused something that this side needs.
    case `internal`(String)
}

extension BroadcastError {
    /// The reason, without what failed.
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
    /// The failure with its reason, and a remedy.
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
    /// What observers of the source are told that it is.
    public var kind: CaptureSourceError.Kind {
        switch self {
        case .auth: .configurationFailure
        case .listen, .network, .internal: .systemFailure
        }
    }
}

public import RTCShareMedia

/// Why a broadcast does not come about, or ends.
public enum BroadcastError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The app can't wait for extensions where it was told to.
    case listen(String)
    /// A side does not know the other's token.
    case auth(String)
    /// The other side can't be reached, or said something that is no broadcast.
    case network(String)
    /// The operating system refused something that this side needs.
    case `internal`(String)

    /// What failed, and why; never a token.
    public var description: String {
        switch self {
        case .listen(let reason): "can't wait for a broadcast: \(reason)"
        case .auth(let reason): "the broadcast's tokens: \(reason)"
        case .network(let reason): "the broadcast failed: \(reason)"
        case .internal(let reason): "the broadcast failed: the system refused \(reason)"
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

public import RTCShareContentShare

/// A server to which a ``Publication`` publishes a room's share: ``WHIPEndpoint`` for WHIP, ``JanusEndpoint`` for
/// Janus.
public protocol PublishingEndpoint: Sendable {
    /// The protocol's name: `whip`, `janus`.
    var kind: String { get }
    /// The name for people, without secrets.
    var name: String { get }

    /// Starts a session, which is a viewer of `room`. The session exists when this returns; its events report whether
    /// it connects. If this throws, nothing of it is left.
    func publish(_ room: SharingRoom) async throws -> any PublishingSession

    /// Returns the policy after a session that failed, or did not start.
    func retryPolicy(after error: any Error) -> RetryPolicy
}

/// The decision whether a failed publication is retried.
public enum RetryPolicy: Hashable, Sendable {
    /// A retry fails as well, unless something is changed.
    case permanent
    /// A retry may succeed: the server could not be reached, or has a problem of its own.
    case transient
    /// The server requests a retry, after this time if it names one.
    case retry(after: Duration?)
    /// Somebody there removed it intentionally: it is never retried.
    case removedByServer
}

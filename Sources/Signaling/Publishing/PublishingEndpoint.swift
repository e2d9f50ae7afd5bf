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

internal import NIOCore
package import RTCSharePeerConnection
package import RTCShareTransport

/// Sends one media to any number of connections, each through a sender.
package protocol SendingStream: SenderOwner {
    /// Sends through this sender too, once its peer takes it; on the connection's event loop. `isActive` as in W3C's
    /// `RTCRtpEncodingParameters`: whether it is sent anything for now.
    func add(_ sender: Sender, isActive: Bool)

    /// Sends nothing more over a connection.
    func remove(_ connection: Connection)

    /// Sends to the peers at these connections and to no others, which it notifies that the media is gone. Without `adding`, it
    /// sends to no peer that it did not send to before.
    func setActive(_ connections: Set<ObjectIdentifier>, adding: Bool)

    /// Sends to the peer at one connection, or not, whatever the number of the others.
    func setActive(_ isActive: Bool, on connection: Connection)

    /// The sender on a connection.
    func sender(on connection: Connection) -> Sender?

    /// Records what is sent, or would be if a peer took it, until `source` ends: in a track of this name, which players show
    /// first if it is a main one. A later recording replaces an earlier one.
    func record(to source: RecordingSource, name: String, isMain: Bool)
}

extension SendingStream {
    /// Sends one kind of media over a connection too, as far as its descriptions have a place for that; on the connection's event
    /// loop. `limit` and `isActive` as in ``Connection/sender(of:for:atMost:)`` and ``add(_:isActive:)``.
    package func open(
        _ kind: LocalIdentity.MediaKind, atMost limit: Int, isActive: Bool, on connection: isolated Connection
    ) throws(SenderError) {
        let sender = try connection.sender(of: kind, for: self, atMost: limit)
        guard self.sender(on: connection) !== sender else { return }
        add(sender, isActive: isActive)
        // The stream has taken the sender by then.
        connection.eventLoop.execute { sender.connection.assumeIsolated { $0.report(to: sender) } }
    }
}

internal import NIOCore
package import RTCSharePeerConnection
package import RTCShareTransport

/// A stream that sends one media to any number of connections, each through a sender.
package protocol SendingStream: SenderOwner {
    /// Adds a sender, which sends after its peer has agreed. Call it on the connection's event loop. `isActive` is that
    /// of W3C's `RTCRtpEncodingParameters`: whether it sends for now.
    func add(_ sender: Sender, isActive: Bool)

    /// Removes the sender on a connection.
    func remove(_ connection: Connection)

    /// Sends only to the peers at these connections, and notifies all others that the media has ended. Without
    /// `adding`, it adds no peer.
    func setActive(_ connections: Set<ObjectIdentifier>, adding: Bool)

    /// Sends to the peer at one connection, or not, whatever the number of the others.
    func setActive(_ isActive: Bool, on connection: Connection)

    /// Returns the sender on a connection.
    func sender(on connection: Connection) -> Sender?

    /// Records the media, even without receivers, until `source` ends, in a track of this name, which players show
    /// first if `isMain`. A later recording replaces an earlier one.
    func record(to source: RecordingSource, name: String, isMain: Bool)
}

extension SendingStream {
    /// Opens a sender for one kind of media on a connection, if its descriptions have a section for that. Call it on
    /// the connection's event loop. `limit` and `isActive` are those of ``Connection/sender(of:for:atMost:)`` and
    /// ``add(_:isActive:)``.
    package func open(
        _ kind: LocalIdentity.MediaKind, atMost limit: Int, isActive: Bool, on connection: isolated Connection
    ) throws(SenderError) {
        let sender = try connection.sender(of: kind, for: self, atMost: limit)
        guard self.sender(on: connection) !== sender else { return }
        add(sender, isActive: isActive)
        // By then, the stream has added the sender.
        connection.eventLoop.execute {
            sender.connection.assumeIsolated { for one in [sender] + sender.layers { $0.report(to: one) } }
        }
    }
}

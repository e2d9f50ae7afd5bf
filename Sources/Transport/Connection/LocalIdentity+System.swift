internal import Glibc
package import RTCSharePeerConnection
package import RTCShareSDP

extension LocalIdentity {
    /// Creates an identity with the system's random numbers, valid from now on.
    package init(
        media: [MediaKind], configuration: Connection.Configuration = Connection.Configuration()
    ) throws {
        var random = SystemRandomNumberGenerator()
        try self.init(media: media, configuration: configuration.peer, unixTime: Int64(time(nil)), random: &random)
    }

    /// Checks whether a peer's first offer can be answered with this identity's media: negotiates without a connection.
    package func checkAnswerable(_ offer: SessionDescription) throws {
        var peer = try PeerConnection(
            as: .answerer, identity: self, configuration: PeerConnection.Configuration(),
            random: SystemRandomNumberGenerator())
        _ = try peer.answer(offer: offer, now: MonotonicClock.now)
    }
}

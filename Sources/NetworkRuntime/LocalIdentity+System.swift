internal import Glibc
public import RTCSharePeerConnection

extension LocalIdentity {
    /// Draws an identity from the system's random numbers, valid from now on.
    public init(media: [MediaKind]) throws {
        var random = SystemRandomNumberGenerator()
        try self.init(media: media, unixTime: Int64(time(nil)), random: &random)
    }
}

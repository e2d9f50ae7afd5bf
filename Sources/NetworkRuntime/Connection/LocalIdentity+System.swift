internal import Glibc
package import RTCSharePeerConnection

extension LocalIdentity {
    /// Draws an identity from the system's random numbers, valid from now on.
    package init(media: [MediaKind]) throws {
        var random = SystemRandomNumberGenerator()
        try self.init(media: media, unixTime: Int64(time(nil)), random: &random)
    }
}

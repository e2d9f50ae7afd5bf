import RTCShareRTP
import RTCShareSecureTransport
import TestSupport
import Testing

@testable import RTCSharePeerConnection

extension SimulatedCall {
    /// The playout delays that the sender's first media tells from now on. The call is connected.
    func playoutDelays() throws -> Box<[PlayoutDelay]> {
        let keys = try #require(viewerKeys)
        let receiver = try SRTPReceiver(profile: keys.profile, masterKey: keys.remote)
        let map = viewer.receivers.media[0].extensions
        let delays = Box<[PlayoutDelay]>([])
        tap = { datagram, end in
            var bytes = datagram.bytes
            guard end == .left, DatagramKind(bytes.span.bytes) == .rtp, (try? receiver.unprotectRTP(&bytes)) != nil,
                let header = try? RTPHeader(parsing: bytes.span.bytes),
                let delay = HeaderExtensions(header, in: bytes.span.bytes, map: map).playoutDelay
            else { return }
            delays.value.append(delay)
        }
        return delays
    }
}

import Foundation
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite struct LocalIdentityTests {
    @Test("A stored identity is decoded unchanged and makes the same offer")
    func storedIdentity() throws {
        var random = SeededGenerator(seed: 701)
        let identity = try LocalIdentity(media: SoundCallTests.four, unixTime: 1_700_000_000, random: &random)
        let stored = try JSONDecoder().decode(LocalIdentity.self, from: JSONEncoder().encode(identity))
        #expect(stored.media == identity.media)
        #expect(stored.media.map(\.kind) == SoundCallTests.four)
        func offer(_ identity: LocalIdentity) throws -> SessionDescription {
            var peer = try PeerConnection(
                as: .offerer, identity: identity, configuration: PeerConnection.Configuration(),
                random: SeededGenerator(seed: 702))
            return try peer.makeOffer()
        }
        #expect(try offer(stored) == offer(identity))
        let numbers = identity.media.flatMap { [$0.source, $0.retransmissionSource] }
        #expect(Set(numbers).count == 8 && Set(identity.media.map(\.mid)).count == 4)
    }

    @Test("Media has its kind, its content flag and its stream ID")
    func mediaKinds() {
        #expect(SoundCallTests.four.map(\.isVideo) == [true, false, false, true])
        #expect(SoundCallTests.four.map(\.isContent) == [true, true, false, false])
        #expect(SoundCallTests.four.map(\.streamID) == ["alice#content", "alice#content", "alice", "alice"])
    }
}

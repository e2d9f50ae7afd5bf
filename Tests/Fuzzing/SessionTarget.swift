import Foundation
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport

/// What an offer leaves for the process that sends: who this end is, as JSON, in the hands of a connection.
struct SessionTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        let identity = try JSONDecoder().decode(LocalIdentity.self, from: Data(input))
        var peer = try PeerConnection(
            as: .offerer, identity: identity, configuration: PeerConnection.Configuration(),
            random: SeededGenerator(seed: 1))
        let now = Instant(nanoseconds: 1_000_000_000)
        peer.addLocalAddress(SimulatedCall.senderAddress, now: now)
        let offer = try peer.makeOffer()
        let read = try? SessionDescription.parse(offer.description)
        expect(read != nil, "what is offered can be read")
        let encoded = try JSONEncoder().encode(identity)
        let again = try? JSONDecoder().decode(LocalIdentity.self, from: encoded)
        expect(again?.media == identity.media, "who this end is stays the same once it was written and read")
    }

    func seeds() throws -> [String: [UInt8]] {
        var random = SeededGenerator(seed: 1)
        let identity = try LocalIdentity(
            media: [.video(streamID: "alice#content", isContent: true), .audio(streamID: "alice", isContent: false)],
            unixTime: 1_700_000_000, random: &random)
        return ["identity": Array(try JSONEncoder().encode(identity))]
    }
}

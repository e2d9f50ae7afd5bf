import Foundation
import RTCShareICE
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareSTUN
import RTCShareWireFormat
import TestSupport

@testable import RTCShareContentShare
@testable import RTCShareStreams
@testable import RTCShareTransport
@testable import rtcshare

/// The change of a share that a client asks for, or the state of a share that a command gets.
struct ControlTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        // All members of a change are optional, those of a state are not.
        if let share = try? ControlJSON.decode(ControlledShare.self, from: input) {
            let again = try ControlJSON.decode(ControlledShare.self, from: ControlJSON.encode(share))
            expect(again == share, "a state stays the same once it was written and read")
            return
        }
        let request = try ControlJSON.decode(ShareChange.self, from: input).request
        let again = try ControlJSON.decode(ShareChange.self, from: ControlJSON.encode(ShareChange(request))).request
        expect(again == request, "a request stays the same once it was written and read")
        switch request {
        case .destination(let name): _ = try Subgroup(name)
        default: break
        }
    }

    func seeds() throws -> [String: [UInt8]] {
        let requests: [String: ControlRequest] = [
            "pause": .pause(slate: true), "source": .source(try SourceSpecification("test:640x360@12")),
            "set": .set(
                VideoEncodingParameters(
                    kilobitsPerSecond: 800, maxFramerate: 12.5, width: 640, height: 360, hint: .text)),
            "mute": .mute(.microphone), "destination": .destination(name: "group"), "camera": .camera(.none),
        ]
        let viewer = ControlledShare.Viewer(id: 1, state: .connected, isWaiting: false, groups: ["main", "a"])
        let share = ControlledShare(
            name: "work", pid: 17, attendee: "alice", state: .sharing, source: "pattern", interruption: nil, width: 640,
            height: 360, framesPerSecond: 12.5, bitrate: 640, maxBitrate: 1500, maxFramerate: 30, hint: .text,
            isSlateShown: false, isAudioMuted: true, isMicrophoneMuted: false, destination: "main", subgroups: ["a"],
            viewers: [viewer], uptime: 2.5)
        return try requests.mapValues { try ControlJSON.encode(ShareChange($0)) }
            .merging(["share": ControlJSON.encode(share)]) { $1 }
    }
}

/// What `rtcshare offer` leaves in a file for `rtcshare send`.
struct StoredShareTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws {
        let stored = try SharingSession.decode(Data(input))
        let encoded = try stored.encoded()
        expect(try SharingSession.decode(encoded).encoded() == encoded, "a session stays the same")
        var configuration = Connection.Configuration()
        try StoredRelays(stored, in: SessionFile(path: "session.json"), now: Date(timeIntervalSince1970: 1_700_000_000))
            .apply(to: &configuration)
        _ = stored.session.addresses
        let offer = try SessionDescription.parse(stored.session.offer)
        if let answer = stored.session.answer {
            _ = try Negotiation.negotiate(offer: offer, answer: SessionDescription.parse(answer))
        }
        _ = try PeerConnection(
            as: .offerer, identity: stored.session.identity, configuration: configuration.peer,
            random: SeededGenerator(seed: 1))
    }

    func seeds() throws -> [String: [UInt8]] {
        var random = SeededGenerator(seed: 1)
        let identity = try LocalIdentity(
            media: [.video(streamID: "alice#content", isContent: true)], unixTime: 1_700_000_000, random: &random)
        var peer = try PeerConnection(
            as: .offerer, identity: identity, configuration: PeerConnection.Configuration(),
            random: SeededGenerator(seed: 1))
        peer.addLocalAddress(SimulatedCall.senderAddress, now: Instant(nanoseconds: 1_000_000_000))
        let offer = try peer.makeOffer().description
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        let server = try ICEServer(urls: "turn:10.0.0.1", username: "user", credential: "secret")
        guard let credentials = server.credentials else { throw ICEServerError.missingCredentials(url: "") }
        let address = TransportAddress(ip: .v4(0x0A00_0001), port: server.port)
        let relay = RelayState(
            server: ICEServerAddress(kind: .turn(credentials), address: address, url: server.description),
            base: SimulatedCall.senderAddress,
            allocation: AllocationState(
                relayed: TransportAddress(ip: .v4(0x0A00_0001), port: 50_000), reflexive: SimulatedCall.senderAddress,
                challenge: LongTermChallenge(realm: "example.org", nonce: [1, 2], passwordAlgorithms: [.sha256]),
                lifetime: .seconds(600)))
        let stored = SharingSession(
            createdAt: time, host: "here",
            session: StoredSession(
                attendee: try AttendeeID("alice"), identity: identity, addresses: [SimulatedCall.senderAddress],
                offer: offer.description),
            sources: SourceSelection(
                source: try SourceSpecification("test"), audio: [try AudioSpecification("tone")]),
            transportPolicy: "all",
            resolvesHostNames: true,
            acceptsTCP: true,
            servers: [server.source],
            relays: [StoredRelay(relay, now: time)])
        return ["share": Array(try stored.encoded())]
    }
}

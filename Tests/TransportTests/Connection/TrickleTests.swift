import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// Two connections that tell each other their addresses one by one.
@Suite(.timeLimit(.minutes(1))) struct TrickleTests {
    private func open(as part: PeerConnection.Part) async throws -> Connection {
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        configuration.usesTrickleICE = true
        return try await Connection(
            as: part, identity: Loopback.makeIdentity(sends: part == .offerer), configuration: configuration)
    }

    private func bare(_ description: SessionDescription) throws -> SessionDescription {
        let lines = description.description.split(separator: "\r\n").filter { !$0.hasPrefix("a=candidate") }
        return try SessionDescription.parse(lines.map { $0 + "\r\n" }.joined())
    }

    /// Passes the candidates of `connection` to `other` until it is connected.
    private func forward(_ connection: Connection, to other: Connection) async throws {
        for await signal in connection.signals {
            switch signal {
            case .localCandidate(let candidate, let mid, let ufrag):
                try await other.addICECandidate(candidate.description, sdpMid: mid, usernameFragment: ufrag)
            case .localCandidatesEnded: try await other.addICECandidate(nil)
            case .state(.connected): return
            default: continue
            }
        }
    }

    @Test("Without servers, candidates end after the time at which servers would be queried")
    func noServers() async throws {
        let sender = try await open(as: .offerer)
        _ = try await sender.makeOffer()
        try await sender.gather()
        var isToldAll = false
        await sender.close()
        for await case .localCandidatesEnded in sender.signals { isToldAll = true }
        #expect(isToldAll)
    }

    @Test("Two sides connect at addresses that no description has")
    func trickledAddresses() async throws {
        let sender = try await open(as: .offerer)
        let viewer = try await open(as: .answerer)
        let offer = try await sender.makeOffer()
        let answer = try await viewer.answer(offer: bare(offer))
        try await sender.accept(answer: bare(answer), to: offer)
        let (late, later) = (IPAddress.v4(0x7F00_0005), IPAddress.v4(0x7F00_0006))
        try await sender.addLocalAddress(late)
        try await viewer.addLocalAddress(later)
        await sender.gather(servers: [])
        await viewer.gather(servers: [])
        async let theirs: Void = forward(viewer, to: sender)
        try await forward(sender, to: viewer)
        try await theirs
        let pairs = await sender.pairReports()
        #expect(pairs.contains { $0.contains("127.0.0.6") }, "\(pairs)")
        await sender.close()
        await viewer.close()
    }
}

import NIOCore
import RTCShareICE
import RTCShareLocks
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// The names of servers, and name servers that do not answer.
@Suite(.timeLimit(.minutes(1))) struct ServerNamesTests {
    /// A name server that answers when a test makes it.
    private final class NameServer: Sendable {
        private struct State {
            var now = Instant(nanoseconds: 0)
            var questions: [String] = []
            var waiting: [CheckedContinuation<[IPAddress]?, Never>] = []
        }

        private let state = Locked(State())

        var questions: [String] { state.withLock { $0.questions } }

        func makeNames() -> ServerNames {
            ServerNames(
                asking: { name in
                    await withCheckedContinuation { continuation in
                        self.state.withLock {
                            $0.questions.append(name)
                            $0.waiting.append(continuation)
                        }
                    }
                }, now: { self.state.withLock { $0.now } })
        }

        func pass(_ time: Duration) { state.withLock { $0.now = $0.now.advanced(by: time) } }

        /// Answers the query as soon as it has arrived.
        func answer(_ addresses: [IPAddress]?) async {
            await waitUntil { state.withLock { !$0.waiting.isEmpty } }
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume(returning: addresses) }
        }
    }

    private static let (first, second) = (IPAddress.v4(0xC000_0201), IPAddress.v4(0xC000_0202))

    @Test("A name is resolved once at a time, and again when its answer is old, which is used until then")
    func lifetime() async {
        let server = NameServer()
        let names = server.makeNames()
        #expect(names.knownAddresses(of: "stun.example") == nil)
        async let one = names.addresses(of: "stun.example")
        async let other = names.addresses(of: "stun.example")
        await server.answer([Self.first])
        #expect(await one == [Self.first])
        #expect(await other == [Self.first])
        server.pass(ServerNames.lifetime - .seconds(1))
        #expect(names.knownAddresses(of: "stun.example") == [Self.first])
        #expect(server.questions.count == 1)
        server.pass(.seconds(1))
        #expect(names.knownAddresses(of: "stun.example") == [Self.first])
        await server.answer([Self.second])
        await waitUntil { names.knownAddresses(of: "stun.example") == [Self.second] }
        #expect(server.questions.count == 2)
        // The name server does not answer any more: the name keeps its addresses.
        server.pass(ServerNames.lifetime)
        #expect(names.knownAddresses(of: "stun.example") == [Self.second])
        await server.answer([])
        #expect(await names.addresses(of: "stun.example") == [Self.second])
    }

    @Test("A name without addresses is resolved again after some seconds, and not before")
    func namesWithoutAddresses() async {
        let server = NameServer()
        let names = server.makeNames()
        async let none = names.addresses(of: "stun.example")
        await server.answer([])
        #expect(await none.isEmpty)
        server.pass(ServerNames.emptyLifetime - .seconds(1))
        #expect(names.knownAddresses(of: "stun.example") == [])
        server.pass(.seconds(1))
        #expect(names.knownAddresses(of: "stun.example") == nil)
        await server.answer([Self.first])
        #expect(await names.addresses(of: "stun.example") == [Self.first])
    }

    @Test(
        "Without IPv4, the address of a server is the one that the network translates, if it does",
        arguments: [true, false])
    func translated(doesTranslate: Bool) async throws {
        let server = try #require(IPAddress("192.0.2.33"))
        let found = doesTranslate ? [try #require(IPAddress("64:ff9b::192.0.0.170"))] : []
        let expected = doesTranslate ? try #require(IPAddress("64:ff9b::192.0.2.33")) : server
        let names = ServerNames(asking: { $0 == "ipv4only.arpa" ? found : nil }, hasOnlyIPv6: { true })
        #expect(names.knownAddresses(of: "192.0.2.33") == nil)
        #expect(await names.addresses(of: "192.0.2.33") == [expected])
        #expect(names.knownAddresses(of: "192.0.2.33") == [expected])
        #expect(names.knownAddresses(of: "2001:db8::1") == [try #require(IPAddress("2001:db8::1"))])
        let both = ServerNames(asking: { _ in nil }, hasOnlyIPv6: { false })
        #expect(both.knownAddresses(of: "192.0.2.33") == [server])
    }

    @Test("The number of remembered names is limited")
    func bound() async {
        let names = ServerNames(asking: { _ in [Self.first] })
        for number in 0..<3 * ServerNames.limit { _ = await names.addresses(of: "stun\(number).example") }
        #expect(names.count <= ServerNames.limit)
    }

    @Test("A name server that does not answer delays neither the wait nor the other servers")
    func silentNameServer() async throws {
        let mapped = TransportAddress(ip: .v4(0xCB00_7105), port: 4242)
        let near = try await StunResponder(mapped: mapped)
        let far = try await StunResponder(mapped: TransportAddress(ip: .v4(0xCB00_7106), port: 4243))
        let server = NameServer()
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        configuration.serverNames = server.makeNames()
        configuration.usesTrickleICE = true
        configuration.iceServers = [
            try ICEServer(urls: "stun:stun.example:\(far.address.port)"), try ICEServer(urls: "stun:\(near.address)"),
        ]
        let connection = try await Connection(
            as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
        try await connection.gather(patience: .milliseconds(50))
        #expect(server.questions.count <= 1)
        await waitUntil { await connection.hasReflexiveCandidate }
        let offer = try await connection.makeOffer()
        #expect(!offer.description.contains("a=end-of-candidates"), "the name server may still answer")
        await server.answer([Loopback.v4])
        await connection.hears { if case .localCandidatesEnded = $0 { true } else { false } }
        #expect(await connection.serverReports().count == 2)
        await connection.close()
        try await near.close()
        try await far.close()
    }

    @Test("The connections of a room resolve the name of a TURN server once")
    func oneLookUpForAll() async throws {
        let server = NameServer()
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        configuration.serverNames = server.makeNames()
        configuration.iceServers = [try ICEServer(urls: "turn:turn.example:9", sharedSecret: "sesame")]
        var connections: [Connection] = []
        for _ in 0..<3 {
            let connection = try await Connection(
                as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
            await connection.askServers()
            connections.append(connection)
        }
        await server.answer([Loopback.v4])
        for connection in connections {
            await waitUntil { await !connection.serverReports().isEmpty }
            await connection.close()
        }
        let late = try await Connection(
            as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
        await late.askServers()
        #expect(await late.serverReports().count == 1)
        await late.close()
        #expect(server.questions == ["turn.example"])
    }

    @Test("A caller's timeout does not end another caller's wait")
    func patienceOfEachCaller() async throws {
        let server = NameServer()
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        configuration.serverNames = server.makeNames()
        configuration.iceServers = [try ICEServer(urls: "stun:stun.example")]
        let connection = try await Connection(
            as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
        let patient = Task { try await connection.gather() }
        await waitUntil { await connection.gatherWaiters.count == 1 }
        try await connection.gather(patience: .milliseconds(20))
        #expect(await connection.gatherWaiters.count == 1)
        await server.answer([])
        await #expect(throws: ICEServerError.unresolvable(host: "stun.example")) { try await patient.value }
        await connection.close()
    }

    @Test(
        "Gathering ends if no name has an address or DNS is silent, also for the next connection",
        arguments: [
            ([IPAddress](), ICEServerError.unresolvable(host: "stun.example")),
            (nil, ICEServerError.unanswered(host: "stun.example")),
        ])
    func noAddress(answer: [IPAddress]?, failure: ICEServerError) async throws {
        let server = NameServer()
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        configuration.serverNames = server.makeNames()
        configuration.iceServers = [try ICEServer(urls: "stun:stun.example")]
        for round in 1...2 {
            let connection = try await Connection(
                as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
            let gathering = Task { try await connection.gather() }
            if round == 1 { await server.answer(answer) }
            await #expect(throws: failure) { try await gathering.value }
            #expect(await connection.serverFailures().count == 1)
            await connection.close()
        }
        #expect(server.questions.count == 1)
    }
}

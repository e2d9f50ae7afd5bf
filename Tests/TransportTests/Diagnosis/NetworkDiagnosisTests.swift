import NIOPosix
import RTCShareSTUN
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// The evaluation of the servers' answers and the advice: from given facts.
@Suite struct NetworkDiagnosisTests {
    private typealias Observation = NATMapping.Observation

    private static func address(_ text: String, _ port: UInt16) throws -> TransportAddress {
        try #require(TransportAddress(text, port: port))
    }

    /// Returns the mapping from the addresses that servers saw of one socket at 10.0.1.2:5000.
    private static func mapping(_ seen: [(server: String, port: UInt16, mapped: String, to: UInt16)]) throws
        -> NATMapping
    {
        NATMapping(
            try seen.map {
                Observation(
                    base: try address("10.0.1.2", 5000), server: try address($0.server, $0.port),
                    mapped: try address($0.mapped, $0.to))
            })
    }

    @Test("A server to which the kernel can't send does not prevent requests to the next")
    func refusedServer() async throws {
        let server = try await StunResponder(mapped: try Self.address("203.0.113.5", 4242))
        // A firewall rejects datagrams although there is a route, as the kernel rejects those to a broadcast address.
        let socket = BindingSocket(
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(), routes: RouteProbe { _, _ in true })
        _ = try await socket.open(at: Loopback.v4)
        for (address, expected) in [(try Self.address("127.255.255.255", 9), false), (server.address, true)] {
            let isAnswered = if case .answered = await socket.ask(address) { true } else { false }
            #expect(isAnswered == expected)
        }
        await socket.close()
        try await server.close()
    }

    @Test("A mapping is determined by the addresses that different servers saw of one socket")
    func mappingKinds() throws {
        #expect(try Self.mapping([]) == .unknown)
        #expect(try Self.mapping([("203.0.113.10", 3478, "10.0.1.2", 5000)]) == .none)
        #expect(try Self.mapping([("203.0.113.10", 3478, "203.0.113.1", 5000)]) == .unknown, "one server can't tell")
        #expect(
            try Self.mapping([("203.0.113.10", 3478, "203.0.113.1", 5000), ("203.0.113.10", 3479, "203.0.113.1", 5000)])
                == .unknown, "two ports of one address can't tell either")
        #expect(
            try Self.mapping([("203.0.113.10", 3478, "203.0.113.1", 9), ("203.0.113.11", 3478, "203.0.113.1", 9)])
                == .endpointIndependent)
        #expect(
            try Self.mapping([("203.0.113.10", 3478, "203.0.113.1", 9), ("203.0.113.11", 3478, "203.0.113.1", 10)])
                == .addressDependent)
        #expect(
            try Self.mapping([("203.0.113.10", 3478, "203.0.113.1", 9), ("203.0.113.10", 3479, "203.0.113.1", 10)])
                == .addressAndPortDependent)
    }

    @Test("The worst of several sockets counts, and sockets are not compared with each other")
    func severalSockets() throws {
        let server = try Self.address("203.0.113.10", 3478)
        let first = try Self.address("10.0.1.2", 1)
        let second = try Self.address("10.0.2.2", 2)
        let observations = [
            Observation(base: first, server: server, mapped: first),
            Observation(base: second, server: server, mapped: try Self.address("203.0.113.1", 7)),
        ]
        #expect(NATMapping(observations) == .unknown)
        #expect(NATMapping([observations[0]]) == .none)
    }

    @Test("Filtering is determined by the answers that arrive from other addresses")
    func filtering() {
        #expect(NATFiltering(fromOtherAddress: true, fromOtherPort: nil) == .endpointIndependent)
        #expect(NATFiltering(fromOtherAddress: false, fromOtherPort: true) == .addressDependent)
        #expect(NATFiltering(fromOtherAddress: false, fromOtherPort: false) == .addressAndPortDependent)
        #expect(NATFiltering(fromOtherAddress: nil, fromOtherPort: nil) == .unknown)
    }

    @Test("The other address of a server is parsed at every length without a trap")
    func otherAddress() throws {
        var random = SystemRandomNumberGenerator()
        let v4: [UInt8] = [0, 1, 0x0D, 0x97, 203, 0, 113, 11]
        let v6: [UInt8] = [0, 2, 0x0D, 0x97, 0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [9]
        for (value, expected) in [(v4, "203.0.113.11"), (v6, "2001:db8::9")] {
            for count in 0...value.count {
                let message = STUNMessage(
                    .successResponse, transactionID: TransactionID(using: &random),
                    attributes: [.unknown(BehaviorDiscovery.otherAddress, Array(value.prefix(count)))])
                let read = BehaviorDiscovery.otherAddress(in: message)
                #expect(read == (count == value.count ? try Self.address(expected, 3479) : nil))
            }
        }
    }

    private static func diagnosis(
        _ mapping: NATMapping, _ servers: [NetworkDiagnosis.Server], address: String = "10.0.1.2"
    ) -> NetworkDiagnosis {
        var diagnosis = NetworkDiagnosis()
        diagnosis.interfaces = [NetworkDiagnosis.Interface(name: "eth0", address: address)]
        diagnosis.mapping = mapping
        diagnosis.servers = servers
        diagnosis.multicastWorks = true
        return diagnosis
    }

    private static let stun = NetworkDiagnosis.Server(url: "stun:s.example:3478", isRelay: false, transport: "udp")
    private static let relay = NetworkDiagnosis.Server(
        url: "turn:t.example:3478?transport=tcp", isRelay: true, transport: "tcp")
    private static var silent: NetworkDiagnosis.Server {
        var server = stun
        server.error = "no answer"
        server.isSilent = true
        return server
    }

    @Test("Advice follows the mapping, and names a relay if none was set")
    func adviceFollowsMapping() {
        #expect(Self.diagnosis(.none, [Self.stun]).advice[0].description.contains("There is no NAT"))
        #expect(Self.diagnosis(.endpointIndependent, [Self.stun]).advice[0].settings == [.relay])
        let symmetric = Self.diagnosis(.addressAndPortDependent, [Self.stun, Self.relay]).advice
        #expect(symmetric == [symmetric[0]] && symmetric[0].description.contains("symmetric"))
        #expect(symmetric[0].description.contains("the relay that was tested"))
        #expect(Self.diagnosis(.unknown, [Self.stun]).advice[0].description.contains("Test with two"))
    }

    @Test("Blocked UDP is distinguished from a server that rejects")
    func blockedUDP() {
        let blocked = Self.diagnosis(.unknown, [Self.silent])
        #expect(!blocked.hasWayOut && blocked.advice[0].settings == [.relayOverTCP])
        let relayed = Self.diagnosis(.unknown, [Self.silent, Self.relay])
        #expect(relayed.hasWayOut && relayed.advice[0].settings == [.iceServer("turn:t.example:3478?transport=tcp")])
        var refusing = Self.stun
        refusing.error = "refused"
        #expect(Self.diagnosis(.unknown, [refusing]).advice[0].description.contains("None of the servers"))
    }

    @Test("A missing network and missing multicast are reported")
    func withoutNetwork() {
        let loopback = Self.diagnosis(.unknown, [], address: "127.0.0.1")
        #expect(
            !loopback.hasWayOut
                && loopback.advice == ["No network interface has an address that others can reach. Bring a network up."]
        )
        var deaf = Self.diagnosis(.unknown, [])
        deaf.multicastWorks = false
        #expect(deaf.hasWayOut && deaf.advice.last?.description.contains(".local") == true)
    }
}

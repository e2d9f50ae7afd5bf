import RTCShareNetworkSimulation
import RTCShareWireFormat
import Testing

@testable import RTCShareTransport

/// A client of a router in virtual time.
private struct Exchange {
    var client = GatewayClient(local: .v4(0x0A00_0102), generator: SeededGenerator(seed: 1))
    var now = Instant(nanoseconds: 1_000_000_000)
    /// The datagrams to the router since the last look, with their times.
    private(set) var sent: [(time: Instant, bytes: [UInt8])] = []
    private(set) var events: [GatewayClient.Event] = []

    mutating func open(_ port: ForwardedPort) {
        client.open(port, now: now)
        drain()
    }

    mutating func release() {
        client.release(now: now)
        drain()
    }

    mutating func answer(_ bytes: [UInt8]) {
        client.receive(bytes.span.bytes, now: now)
        drain()
    }

    /// Advances time to each deadline up to `end`.
    mutating func run(for duration: Duration) {
        let end = now.advanced(by: duration)
        while let deadline = client.nextDeadline, deadline <= end {
            now = max(now, deadline)
            client.advance(now: now)
            drain()
        }
        now = end
    }

    /// Advances time to the next deadline.
    mutating func step() {
        guard let deadline = client.nextDeadline else { return }
        run(for: deadline - now)
    }

    mutating func takeSent() -> [[UInt8]] {
        defer { sent = [] }
        return sent.map(\.bytes)
    }

    mutating func takeEvents() -> [GatewayClient.Event] {
        defer { events = [] }
        return events
    }

    private mutating func drain() {
        while let bytes = client.pollTransmit() { sent.append((now, bytes)) }
        while let event = client.pollEvent() { events.append(event) }
    }
}

/// A router's answers.
private enum Router {
    static let outside = TransportAddress(ip: .v4(0xCB00_7101), port: 9001)

    /// Returns the answer of PCP to a request.
    static func pcp(
        to request: [UInt8], code: UInt8 = 0, lifetime: UInt32 = 600, epoch: UInt32 = 100,
        at outside: TransportAddress = outside
    ) -> [UInt8] {
        var bytes: [UInt8] = [2, request[1] | 0x80, 0, code]
        bytes.append(bigEndian: lifetime)
        bytes.append(bigEndian: epoch)
        bytes += [UInt8](repeating: 0, count: 12) + request[24..<42]
        bytes.append(bigEndian: outside.port)
        bytes += [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        if case .v4(let value) = outside.ip { bytes.append(bigEndian: value) }
        return bytes
    }

    static func unsupportedVersion(to request: [UInt8]) -> [UInt8] { [0, request[1] | 0x80, 0, 1, 0, 0, 0, 5] }

    static let address: [UInt8] = [0, 128, 0, 0, 0, 0, 0, 5, 203, 0, 113, 1]

    /// Returns the answer of NAT-PMP to a request for a mapping.
    static func natPMP(to request: [UInt8], code: UInt16 = 0, epoch: UInt32 = 5) -> [UInt8] {
        var bytes: [UInt8] = [0, request[1] | 0x80]
        bytes.append(bigEndian: code)
        bytes.append(bigEndian: epoch)
        return bytes + request[4..<6] + [0x23, 0x29] + request[8..<12]
    }
}

struct GatewayClientTests {
    private static let media = ForwardedPort(.udp, 8080)
    private static let page = ForwardedPort(.tcp, 8080)

    /// Returns a client for which the router forwards the ports by PCP.
    private static func opened(_ ports: ForwardedPort...) throws -> Exchange {
        var exchange = Exchange()
        for port in ports {
            exchange.open(port)
            let request = try #require(exchange.takeSent().first)
            exchange.answer(Router.pcp(to: request))
        }
        #expect(exchange.takeEvents() == ports.map { .opened($0, at: Router.outside) })
        return exchange
    }

    @Test("A request is repeated after 250, 500 and 1000 ms, and fails after 2 s")
    func retransmission() {
        var exchange = Exchange()
        exchange.open(Self.media)
        exchange.run(for: .seconds(3))
        let requests = exchange.sent.filter { $0.bytes.count == 60 }
        #expect(
            requests.map { ($0.time - Instant(nanoseconds: 1_000_000_000)).milliseconds } == [0, 250, 750, 1750])
        #expect(Set(requests.map(\.bytes)).count == 1, "each has the same nonce")
        #expect(exchange.takeEvents() == [.failed(Self.media, .silence)])
        #expect(exchange.client.nextDeadline == nil)
    }

    @Test("A port is renewed after half of its lifetime, with the same nonce and its outside address")
    func renewal() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        let first = try #require(exchange.takeSent().first)
        exchange.answer(Router.pcp(to: first, lifetime: 300))
        #expect(exchange.takeEvents() == [.opened(Self.media, at: Router.outside)])
        exchange.run(for: .seconds(149))
        #expect(exchange.takeSent().isEmpty)
        exchange.run(for: .seconds(1))
        let second = try #require(exchange.takeSent().first)
        #expect(second[24..<42] == first[24..<42], "nonce, protocol and port")
        #expect(Array(second[42..<44]) == [0x23, 0x29] && Array(second[56...]) == [203, 0, 113, 1])
        exchange.answer(Router.pcp(to: second, lifetime: 300, epoch: 250))
        #expect(exchange.takeEvents() == [.opened(Self.media, at: Router.outside)])
    }

    @Test("A longer lifetime than the requested one is renewed in 300 s, and a short one before its end")
    func unusualLifetimes() throws {
        for (lifetime, wait) in [(UInt32.max, 300), (3, 1.5), (1, 1)] {
            var exchange = Exchange()
            exchange.open(Self.media)
            exchange.answer(Router.pcp(to: try #require(exchange.takeSent().first), lifetime: lifetime))
            exchange.run(for: .seconds(wait) - .milliseconds(1))
            #expect(exchange.takeSent().isEmpty)
            exchange.run(for: .milliseconds(1))
            #expect(exchange.takeSent().count == 1)
        }
    }

    @Test("A lifetime of 0 is no mapping")
    func noLifetime() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        exchange.answer(Router.pcp(to: try #require(exchange.takeSent().first), lifetime: 0))
        #expect(exchange.takeEvents() == [.failed(Self.media, .refused(.pcp, .noResources))])
        #expect(exchange.client.nextDeadline == nil)
    }

    @Test("Lost answers to a renewal are reported only after the lifetime, and the renewal is repeated")
    func lostRenewal() throws {
        var exchange = try Self.opened(Self.media)
        exchange.run(for: .seconds(599))
        #expect(exchange.takeEvents().isEmpty)
        #expect(exchange.takeSent().filter { $0.count == 60 }.count >= 4 * 4, "four transmissions a time")
        let deadline = exchange.now.advanced(by: .seconds(65))
        while exchange.now < deadline, exchange.events.isEmpty { exchange.step() }
        #expect(exchange.takeEvents() == [.failed(Self.media, .silence)])
    }

    @Test("A failed renewal is repeated within a minute, also after the lifetime")
    func failedRenewal() throws {
        var exchange = try Self.opened(Self.media)
        exchange.run(for: .seconds(303))
        _ = exchange.takeSent()
        exchange.run(for: .seconds(900))
        let requests = exchange.takeSent().filter { $0.count == 60 }
        #expect(requests.count >= 4 * 13, "four transmissions each minute")
        while let deadline = exchange.client.nextDeadline, deadline < exchange.now.advanced(by: .seconds(30)) {
            exchange.step()
        }
        _ = exchange.takeSent()
        while exchange.sent.isEmpty { exchange.step() }
        let request = try #require(exchange.takeSent().first)
        _ = exchange.takeEvents()
        // The router has started again.
        exchange.answer(Router.pcp(to: request, epoch: 1))
        #expect(exchange.takeEvents() == [.opened(Self.media, at: Router.outside)])
    }

    @Test("A refused port is not requested again, and a refused renewal is")
    func refusal() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        exchange.answer(Router.pcp(to: try #require(exchange.takeSent().first), code: 2))
        #expect(exchange.takeEvents() == [.failed(Self.media, .refused(.pcp, .notAuthorized))])
        #expect(exchange.client.nextDeadline == nil)
        exchange = try Self.opened(Self.media)
        exchange.run(for: .seconds(300))
        exchange.answer(Router.pcp(to: try #require(exchange.takeSent().first), code: 8, epoch: 400))
        #expect(exchange.takeEvents() == [.failed(Self.media, .refused(.pcp, .noResources))])
        exchange.run(for: .seconds(60))
        #expect(!exchange.takeSent().isEmpty)
    }

    @Test("A port that is opened again is renewed at once")
    func openedAgain() throws {
        var exchange = try Self.opened(Self.media)
        exchange.open(Self.media)
        exchange.answer(Router.pcp(to: try #require(exchange.takeSent().first)))
        #expect(exchange.takeEvents() == [.opened(Self.media, at: Router.outside)])
    }

    @Test("A router that has answered by PCP is not taken for one with only NAT-PMP")
    func downgrade() throws {
        var exchange = try Self.opened(Self.media)
        exchange.open(Self.page)
        let request = try #require(exchange.takeSent().first)
        exchange.answer(Router.unsupportedVersion(to: request))
        exchange.answer(Router.address)
        #expect(exchange.takeSent().isEmpty && exchange.client.method == .pcp)
        exchange.answer(Router.pcp(to: request))
        #expect(exchange.takeEvents() == [.opened(Self.page, at: Router.outside)])
    }

    @Test("An epoch that jumps with each answer doesn't make the ports request each other without end")
    func jumpingEpoch() throws {
        var exchange = try Self.opened(Self.media, Self.page)
        exchange.run(for: .seconds(300))
        var requests = 0
        for epoch in 0..<100 {
            guard let request = exchange.takeSent().first else { break }
            requests += 1
            exchange.answer(Router.pcp(to: request, epoch: epoch.isMultiple(of: 2) ? 1 : 1_000_000))
        }
        #expect(requests <= 4)
    }

    @Test("A port without an answer yet is deleted at the end, because the router may have mapped it")
    func releasedWithoutAnswer() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        let request = try #require(exchange.takeSent().first)
        exchange.release()
        let deletion = try #require(exchange.takeSent().first)
        #expect(deletion[4..<8] == [0, 0, 0, 0] && deletion[24..<42] == request[24..<42])
    }

    @Test(
        "A router can't have an address of no network outside",
        arguments: ["0.0.0.1", "127.0.0.1", "198.18.0.1", "198.19.255.255", "224.0.0.1", "255.255.255.255", "::1"])
    func unusableOutside(text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(!address.canBeOutside)
        guard address.isV4 else { return }
        var exchange = Exchange()
        exchange.open(Self.media)
        let request = try #require(exchange.takeSent().first)
        exchange.answer(Router.pcp(to: request, at: TransportAddress(ip: address, port: 9001)))
        #expect(exchange.takeEvents() == [.failed(Self.media, .refused(.pcp, .noOutsideAddress))])
    }

    @Test(
        "An outside address has a reach",
        arguments: [
            ("100.64.0.1", OutsideReach.carrier), ("192.0.0.2", .carrier), ("192.0.1.2", .everywhere),
            ("192.168.1.1", .otherNetwork), ("198.20.0.1", .everywhere), ("1.2.3.4", .everywhere),
        ])
    func reach(text: String, reach: OutsideReach) throws {
        let address = try #require(IPAddress(text))
        #expect(OutsideReach(address) == reach && address.canBeOutside)
    }

    @Test("Answers to other requests are ignored")
    func foreignAnswers() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        let request = try #require(exchange.takeSent().first)
        for index in [24, 35, 36, 41] {
            var other = request
            other[index] ^= 1
            exchange.answer(Router.pcp(to: other))
        }
        exchange.answer(Router.address)
        exchange.answer([])
        #expect(exchange.takeEvents().isEmpty)
        _ = exchange.takeSent()
    }

    @Test("A router without an outside address has none for a port")
    func noOutsideAddress() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        let request = try #require(exchange.takeSent().first)
        exchange.answer(Router.pcp(to: request, at: TransportAddress(ip: .v4(0), port: 9001)))
        #expect(exchange.takeEvents() == [.failed(Self.media, .refused(.pcp, .noOutsideAddress))])
    }

    @Test("A router with only NAT-PMP is asked for its address and then for each port, and its mapping is deleted")
    func natPMP() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        exchange.answer(Router.unsupportedVersion(to: try #require(exchange.takeSent().first)))
        #expect(exchange.takeSent() == [[0, 0]])
        exchange.answer(Router.address)
        let request = try #require(exchange.takeSent().first)
        #expect(request == [0, 1, 0, 0, 0x1F, 0x90, 0x1F, 0x90, 0, 0, 2, 88])
        exchange.answer(Router.natPMP(to: request))
        #expect(exchange.takeEvents() == [.opened(Self.media, at: Router.outside)])
        #expect(exchange.client.method == .natPMP)
        exchange.open(Self.page)
        #expect(exchange.takeSent() == [[0, 0]], "without PCP")
        exchange.answer(Router.address)
        exchange.answer(Router.natPMP(to: try #require(exchange.takeSent().first), code: 4))
        #expect(exchange.takeEvents() == [.failed(Self.page, .refused(.natPMP, .noResources))])
        exchange.release()
        let deletion = try #require(exchange.takeSent().first)
        #expect(deletion == [0, 1, 0, 0, 0x1F, 0x90, 0, 0, 0, 0, 0, 0])
        exchange.answer(Router.natPMP(to: deletion))
        #expect(exchange.takeEvents() == [.released(Self.media)])
        #expect(exchange.client.nextDeadline == nil)
    }

    @Test("A router that ignores PCP is asked by NAT-PMP, too")
    func silentVersion() throws {
        var exchange = Exchange()
        exchange.open(Self.media)
        exchange.run(for: .milliseconds(250))
        #expect(exchange.takeSent().map(\.count) == [60, 60, 2])
        exchange.answer(Router.address)
        exchange.answer(Router.natPMP(to: try #require(exchange.takeSent().first)))
        #expect(exchange.takeEvents() == [.opened(Self.media, at: Router.outside)])
    }

    @Test("A router whose epoch went back has restarted, and all other ports are requested again")
    func restart() throws {
        var exchange = try Self.opened(Self.media, Self.page)
        exchange.run(for: .seconds(100))
        exchange.open(ForwardedPort(.tcp, 9))
        exchange.answer(Router.pcp(to: try #require(exchange.takeSent().first), epoch: 3))
        var requested: [[UInt8]] = []
        for _ in 0..<2 {
            let request = try #require(exchange.takeSent().first)
            requested.append(request)
            exchange.answer(Router.pcp(to: request, epoch: 3))
        }
        #expect(Set(requested.map { $0[36] }) == [6, 17], "the protocols of both")
        #expect(exchange.takeEvents().count == 3)
        exchange.run(for: .seconds(1))
        #expect(exchange.takeSent().isEmpty)
    }

    @Test("An epoch that advances like the clock means no restart", arguments: [194, 200, 206])
    func steadyEpoch(epoch: UInt32) throws {
        var exchange = try Self.opened(Self.media)
        exchange.run(for: .seconds(100))
        exchange.open(Self.page)
        exchange.answer(Router.pcp(to: try #require(exchange.takeSent().first), epoch: epoch))
        #expect(exchange.takeSent().isEmpty)
    }

    @Test("Released ports are deleted with a lifetime of 0, one after the other, and a silent router ends that")
    func release() throws {
        var exchange = try Self.opened(Self.media, Self.page)
        exchange.release()
        let deletion = try #require(exchange.takeSent().first)
        #expect(Array(deletion[4..<8]) == [0, 0, 0, 0])
        exchange.answer(Router.pcp(to: deletion, lifetime: 0))
        #expect(exchange.takeEvents() == [.released(Self.media)])
        exchange.run(for: .seconds(3))
        #expect(exchange.takeEvents() == [.released(Self.page)])
        #expect(exchange.client.nextDeadline == nil)
    }
}

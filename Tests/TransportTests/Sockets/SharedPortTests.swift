import Foundation
import NIOCore
import NIOPosix
import RTCShareICE
import RTCSharePeerConnection
import RTCShareRTP
import RTCShareSDP
import RTCShareSTUN
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// Several connections on one UDP port, over real sockets.
@Suite(.timeLimit(.minutes(1))) struct SharedPortTests {
    /// A sender on the shared port, and a viewer with a port of its own.
    private struct Share {
        let sender: Connection
        let viewer: Connection
        private let received: ReceivedLog
        private var number: UInt16 = 0

        init(
            on port: SharedPort, servers: [ICEServer] = [], policy: ICETransportPolicy = .all,
            offered: (String) -> String = { $0 }, answered: (String) -> String = { $0 }
        ) async throws {
            var configuration = Connection.Configuration()
            configuration.sharedPort = port
            configuration.iceServers = servers
            configuration.iceTransportPolicy = policy
            sender = try await Connection(
                as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
            viewer = try await Loopback.open(as: .answerer)
            received = ReceivedLog(viewer)
            try await sender.gather()
            let offer = try await sender.makeOffer()
            let told = try SessionDescription.parse(offered(offer.description))
            let answer = try await viewer.answer(offer: told).description
            try await sender.accept(answer: SessionDescription.parse(answered(answer)), to: offer)
        }

        func connected() async {
            for await signal in sender.signals {
                if case .state(.connected) = signal { break }
            }
        }

        /// Sends a frame, and waits until the viewer has it whole.
        mutating func passFrame(_ comment: Comment) async {
            number += 1
            sender.send(Loopback.frame(isKeyFrame: true, number: number), media: 0)
            for await (frame, _) in received.frames {
                #expect(frame.pictureID?.value == number && frame.data.count == 5010, comment)
                return
            }
            Issue.record("the viewer's connection ended: \(comment)")
        }

        func close() async {
            await sender.close()
            await viewer.close()
        }

        /// The description without candidates of a type.
        static func without(_ type: String, _ description: String) -> String {
            description.split(separator: "\r\n", omittingEmptySubsequences: false)
                .filter { !($0.hasPrefix("a=candidate:") && $0.contains(" typ \(type)")) }
                .joined(separator: "\r\n")
        }
    }

    @Test("Connections of one port share at the same time, and the end of one does not affect the others")
    func simultaneousShares() async throws {
        let port = try await SharedPort(addresses: [Loopback.v4])
        var shares: [Share] = []
        for _ in 0..<3 { shares.append(try await Share(on: port)) }
        for share in shares { await share.connected() }
        let address = try #require(await port.localAddresses.first)
        for share in shares { #expect(await share.sender.localAddresses == [address]) }
        for index in shares.indices { await shares[index].passFrame("all three share") }
        await shares[0].close()
        for index in 1...2 { await shares[index].passFrame("the first has ended") }
        // A new one joins while the others continue.
        shares[0] = try await Share(on: port)
        await shares[0].connected()
        for index in shares.indices { await shares[index].passFrame("another has begun") }
        for share in shares { await share.close() }
        #expect(await port.localAddresses == [address], "the port is its owner's to close")
        await port.close()
    }

    @Test("A port and its connections follow a change of the machine's addresses")
    func addressesComeAndGo() async throws {
        let addresses = [InterfaceTests.first, InterfaceTests.second]
        let port = try await SharedPort(addresses: addresses)
        var share = try await Share(on: port)
        await share.connected()
        await share.sender.waitUntilNominated()
        await share.passFrame("at both addresses")
        let used = try #require(await share.sender.usedAddress)
        let other = try #require(addresses.first { $0 != used })
        let places = await port.localAddresses
        await port.interfacesDidChange(present: [other], usable: [other])
        #expect(await port.localAddresses.map(\.ip) == [other])
        await waitUntil { await share.sender.usedAddress == other }
        await share.passFrame("the address in use has gone")
        // It comes back, at the same port, and the other one goes.
        await port.interfacesDidChange(present: Set(addresses), usable: addresses)
        await waitUntil { await port.localAddresses == places }
        #expect(await share.sender.localAddresses.count == 2)
        await port.interfacesDidChange(present: [used], usable: [used])
        await waitUntil { await share.sender.usedAddress == used }
        await share.passFrame("the address is back")
        await share.close()
        await port.close()
        await port.interfacesDidChange(present: Set(addresses), usable: addresses)
        #expect(await port.localAddresses.isEmpty, "one that is closed stays closed")
    }

    @Test("An unusable address does not affect the others")
    func unusableAddress() async throws {
        let missing = try #require(IPAddress("192.0.2.1"))
        let port = try await SharedPort(addresses: [missing, Loopback.v4])
        #expect(await port.localAddresses.map(\.ip) == [Loopback.v4])
        await #expect(throws: ConnectionError.self) { try await SharedPort(addresses: [missing]) }
        let number = try #require(await port.localAddresses.first).port
        await #expect(throws: ConnectionError.portTaken(TransportAddress(ip: Loopback.v4, port: number))) {
            try await SharedPort(addresses: [InterfaceTests.first, Loopback.v4], port: number)
        }
        await port.close()
    }

    @Test("A socket of the port that an error closes is opened again")
    func closedSocket() async throws {
        let port = try await SharedPort(addresses: [Loopback.v4])
        let places = await port.localAddresses
        var share = try await Share(on: port)
        await share.connected()
        await share.passFrame("before")
        await port.closeSocket(at: try #require(places.first))
        #expect(await port.localAddresses.isEmpty)
        await waitUntil { await port.localAddresses == places }
        let other = try await Share(on: port)
        await other.connected()
        await share.close()
        await other.close()
        await port.close()
        #expect(await port.localAddresses.isEmpty)
    }

    @Test("Packets of unknown senders change only counters")
    func strangers() async throws {
        let port = try await SharedPort(addresses: [Loopback.v4])
        var shares = [try await Share(on: port), try await Share(on: port)]
        for share in shares { await share.connected() }
        for index in shares.indices { await shares[index].passFrame("undisturbed") }
        let before = await port.statistics
        let address = try #require(await port.localAddresses.first)
        let fragments = try await shares.asyncMap { try await $0.sender.makeOffer().fragment }
        let stranger = try await Stranger()
        let rounds = 50
        for _ in 0..<rounds {
            for bytes in try Stranger.messages(to: fragments) { stranger.send(bytes, to: address) }
        }
        try await stranger.flush(to: address)
        // Until the last of the packets has been processed.
        await waitUntil { await port.statistics.unknownSources - before.unknownSources >= 7 * rounds + 1 }
        for index in shares.indices { for _ in 0..<5 { await shares[index].passFrame("beside a stranger") } }
        let after = await port.statistics
        #expect(after.unknownFragments - before.unknownFragments == rounds, "\(after)")
        #expect(after.unknownTransactions - before.unknownTransactions == 2 * rounds, "\(after)")
        #expect(after.malformed - before.malformed == rounds, "\(after)")
        #expect(after.contested == before.contested, "a stranger gets hold of no address")
        for share in shares { #expect(await share.sender.pairReports().count == 1, "nor becomes a peer") }
        await stranger.close()
        for share in shares { await share.close() }
        await port.close()
    }

    @Test("A server-reflexive address of the port leads to the connection that offered it")
    func reflexiveAddress() async throws {
        let port = try await SharedPort(addresses: [Loopback.v4])
        let address = try #require(await port.localAddresses.first)
        let router = try await Forwarder(to: address)
        let server = try await StunResponder(mapped: router.address)
        // The peer only knows the router's address, and this side only knows the peer's from received packets.
        var outside = try await Share(
            on: port, servers: [try ICEServer(urls: "stun:\(server.address)")],
            offered: { Share.without("host", $0) }, answered: { Share.without("host", $0) })
        var inside = try await Share(on: port)
        #expect(await outside.sender.hasReflexiveCandidate)
        for share in [outside, inside] { await share.connected() }
        for _ in 0..<3 {
            await outside.passFrame("through the router")
            await inside.passFrame("beside it")
        }
        let pairs = await outside.sender.connectivityFacts.pairs
        #expect(pairs.map(\.remote.address) == [router.address], "\(pairs)")
        for share in [outside, inside] { await share.close() }
        try await server.close()
        await router.close()
        await port.close()
    }

    @Test(
        "The address of the socket that requests a relay is not a server-reflexive candidate of the port",
        .enabled(if: Relay.isInstalled, "coturn is not installed"), arguments: [["turn"], ["turn", "stun"]])
    func reflexiveAddressByRelay(order: [String]) async throws {
        let relay = try await Relay()
        defer { relay.stop() }
        let port = try await SharedPort(addresses: [Loopback.v4])
        let address = try #require(await port.localAddresses.first)
        var configuration = Connection.Configuration()
        configuration.sharedPort = port
        configuration.iceServers = try order.map { kind in
            kind == "turn"
                ? try ICEServer(urls: relay.url, username: "alice", credential: "sesame")
                : try ICEServer(urls: relay.url.replacing("turn:", with: "stun:"))
        }
        let connection = try await Connection(
            as: .offerer, identity: Loopback.makeIdentity(sends: true), configuration: configuration)
        try await connection.gather()
        #expect(await connection.hasRelayedCandidate)
        // There is no NAT, so the reflexive address equals that of the port.
        #expect(await !connection.hasReflexiveCandidate)
        let seen = await connection.serverReports().filter { $0.relayedAddress == nil }.compactMap(\.mappedAddress)
        #expect(seen == (order.contains("stun") ? [address] : []))
        await connection.close()
        await port.close()
    }

    @Test(
        "Connections of one port have separate relays at the same server",
        .enabled(if: Relay.isInstalled, "coturn is not installed"))
    func ownRelays() async throws {
        let relay = try await Relay()
        defer { relay.stop() }
        let port = try await SharedPort(addresses: [Loopback.v4])
        var shares: [Share] = []
        for _ in 0..<2 {
            shares.append(
                try await Share(
                    on: port, servers: [try ICEServer(urls: relay.url, username: "alice", credential: "sesame")],
                    policy: .relay))
        }
        shares.append(try await Share(on: port))
        for share in shares.prefix(2) { #expect(await share.sender.hasRelayedCandidate) }
        for share in shares { await share.connected() }
        for index in shares.indices { await shares[index].passFrame("two through the relay, one without") }
        await shares[0].close()
        for index in 1...2 { await shares[index].passFrame("one relay is given back") }
        for share in shares { await share.close() }
        await port.close()
    }
}

extension SharedPort {
    /// Closes a socket as SwiftNIO does after an error.
    fileprivate func closeSocket(at address: TransportAddress) {
        let lease = lease(receive: { _, _, _ in }, take: { $0.close() }, change: { _ in })
        lease.socket(at: address)?.channel.close(promise: nil)
    }
}

extension SessionDescription {
    fileprivate var fragment: String {
        get throws {
            let first = try #require(media.first)
            return try #require(try iceAttributes(of: first)).usernameFragment
        }
    }
}

extension Array {
    fileprivate func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}

/// A stranger that knows the port and the user name fragments, but no password.
private struct Stranger {
    private let channel: any Channel

    init() async throws {
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func send(_ bytes: [UInt8], to address: TransportAddress) {
        guard let remote = try? address.socketAddress else { return }
        channel.write(AddressedEnvelope(remoteAddress: remote, data: ByteBuffer(bytes: bytes)), promise: nil)
    }

    /// Sends the written packets, and a last one of an unknown sender.
    func flush(to address: TransportAddress) async throws {
        let last = AddressedEnvelope(remoteAddress: try address.socketAddress, data: ByteBuffer(bytes: [0xFF]))
        try await channel.writeAndFlush(last).get()
    }

    func close() async { try? await channel.close() }

    static func messages(to fragments: [String]) throws -> [[UInt8]] {
        var random = SystemRandomNumberGenerator()
        func message(_ kind: MessageClass, _ attributes: [Attribute]) throws -> [UInt8] {
            try STUNMessage(kind, transactionID: TransactionID(using: &random), attributes: attributes).encoded()
        }
        var messages = [
            try message(.request, [.username("nobody:stranger")]),
            try message(.successResponse, [.xorMappedAddress(TransportAddress(ip: Loopback.v4, port: 9))]),
            try message(.errorResponse, []), try message(.indication, []),
            // RTP, RTCP and DTLS by their first bytes (RFC 7983), and something that is none of them.
            [0x80, 96] + [UInt8](repeating: 1, count: 100), [0x80, 203, 0, 1, 0, 0, 0, 1],
            [22, 254, 253] + [UInt8](repeating: 0, count: 50), [21, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0],
            [0xFF], [],
        ]
        for fragment in fragments {
            messages.append(try message(.request, [.username("\(fragment):stranger"), .useCandidate]))
        }
        // The length in its header exceeds the packet.
        var cut = try message(.request, [.username("nobody:stranger")])
        cut.removeLast(4)
        messages.append(cut)
        return messages
    }
}

/// A router that forwards a port to an inner address, and the answers to the last sender.
private final class Forwarder: Sendable {
    let address: TransportAddress
    private let channel: any Channel

    init(to inside: TransportAddress) async throws {
        let remote = try inside.socketAddress
        channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(inside: remote))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        address = TransportAddress(ip: Loopback.v4, port: UInt16(channel.localAddress?.port ?? 0))
    }

    func close() async { try? await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>
        private let inside: SocketAddress
        private var outside: SocketAddress?

        init(inside: SocketAddress) {
            self.inside = inside
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            let isFromInside = envelope.remoteAddress == inside
            if !isFromInside { outside = envelope.remoteAddress }
            guard let target = isFromInside ? outside : inside else { return }
            context.writeAndFlush(
                wrapOutboundOut(AddressedEnvelope(remoteAddress: target, data: envelope.data)), promise: nil)
        }
    }
}

/// A coturn on this machine's loopback.
private final class Relay {
    private static let program = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/turnserver" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    static var isInstalled: Bool { program != nil }

    let url: String
    private let process = Process()
    private let folder: URL

    init() async throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rtcshare-relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // Free a moment ago, over TCP and UDP: coturn takes no 0 for a port.
        let probe = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(probe.localAddress?.port)
        try await probe.close()
        url = "turn:127.0.0.1:\(port)"
        process.executableURL = URL(fileURLWithPath: try #require(Self.program))
        process.currentDirectoryURL = folder
        process.arguments = [
            "-n", "--no-cli", "--listening-ip", "127.0.0.1", "--relay-ip", "127.0.0.1", "--allow-loopback-peers",
            "--listening-port", "\(port)", "--no-tls", "--no-dtls", "--lt-cred-mech", "--user", "alice:sesame",
            "--realm", "test.example", "--log-file", "stdout", "--simple-log", "--pidfile", "turn.pid", "--userdb",
            "turn.db",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.runAlone()
        // Which of the two it opens first is chance on a busy machine.
        while process.isRunning {
            if Self.isOpen(port, in: "udp"), Self.isOpen(port, in: "tcp") { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("coturn ended with status \(process.terminationStatus)")
    }

    /// Whether a socket of this machine has a port, by the kernel's table.
    private static func isOpen(_ port: Int, in table: String) -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let place = ":" + String(repeating: "0", count: 4 - digits.count) + digits + " "
        let text = try? kernelTable("/proc/net/\(table)")
        return text?.split(separator: "\n").contains { line in
            // The local address is the first of two; a connection that is over has one as well.
            line.split(separator: ":", maxSplits: 1).last?.prefix(20).contains(place) == true
                && (table == "udp" || line.contains(" 0A "))
        } ?? false
    }

    func stop() {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }
}

import RTCShareWireFormat
import Testing

@testable import RTCShareTransport
@testable import rtcshare

/// The addresses in links.
@Suite struct LinkHostsTests {
    private static func address(
        _ text: String, on interface: UInt32, _ kind: InterfaceAddress.Kind = .network, isRunning: Bool = true,
        state: InterfaceAddress.State = []
    ) -> InterfaceAddress? {
        IPAddress(text).map { ip in
            InterfaceAddress(
                ip: ip, interface: interface, kind: kind, isRunning: isRunning, prefixLength: ip.isV4 ? 24 : 64,
                state: state)
        }
    }

    private static let loopback = address("127.0.0.1", on: 1)
    private static let ethernet = address("192.0.2.10", on: 2)
    private static let ethernetV6 = address("2001:db8::10", on: 2)
    private static let wireless = address("198.51.100.4", on: 3)
    private static let docker = address("172.17.0.1", on: 4, .bridge)
    private static let tunnel = address("10.8.0.2", on: 5, .tunnel)

    private static func hosts(
        _ addresses: [InterfaceAddress?], routed: [String] = [], listening: [String] = [], given: [String] = [],
        all: Bool = false
    ) -> LinkHosts {
        LinkHosts(
            given: given, listening: listening.compactMap { IPAddress($0) }, all: all,
            interfaces: [loopback].compactMap(\.self) + addresses.compactMap(\.self),
            routed: routed.compactMap { IPAddress($0) })
    }

    @Test("The address of the default route comes first, whatever its family, and the others are listed")
    func defaultRoute() {
        let both = Self.hosts([Self.ethernet, Self.ethernetV6, Self.wireless, Self.docker], routed: ["192.0.2.10"])
        #expect(both.hosts == ["192.0.2.10", "localhost"])
        #expect(both.leftOut == ["198.51.100.4"], "others at a bridge are on this machine")
        let newer = Self.hosts([Self.docker, Self.ethernetV6], routed: ["2001:db8::10"])
        #expect(newer.hosts == ["2001:db8::10", "localhost"] && newer.leftOut.isEmpty)
        let bridge = Self.hosts([Self.docker, Self.wireless], routed: ["172.17.0.1"])
        #expect(bridge.hosts == ["172.17.0.1", "localhost"], "a bridge with the default route has a network")
    }

    @Test(
        "Without a default route, or with that of a tunnel, all networks have a link, and bridges only without others")
    func withoutRoute() {
        #expect(
            Self.hosts([Self.docker, Self.ethernet, Self.wireless]).hosts.dropLast() == ["192.0.2.10", "198.51.100.4"])
        #expect(Self.hosts([Self.docker, Self.ethernetV6]).hosts == ["2001:db8::10", "localhost"])
        #expect(Self.hosts([Self.docker]).hosts == ["172.17.0.1", "localhost"])
        #expect(Self.hosts([Self.docker, Self.tunnel]).hosts == ["10.8.0.2", "localhost"])
        #expect(
            Self.hosts([Self.tunnel, Self.ethernet], routed: ["10.8.0.2"]).hosts
                == ["192.0.2.10", "10.8.0.2", "localhost"])
        let unplugged = Self.address("192.0.2.77", on: 6, isRunning: false)
        #expect(Self.hosts([unplugged, Self.wireless]).hosts == ["198.51.100.4", "localhost"])
        #expect(Self.hosts([]).hosts == ["localhost"])
    }

    @Test(
        "The unspecified address stands for those of its family",
        arguments: [
            (["0.0.0.0"], ["192.0.2.10", "localhost"]), (["::"], ["192.0.2.10", "localhost"]),
            (["127.0.0.1"], ["localhost"]), (["::1"], ["localhost"]), (["192.0.2.10"], ["192.0.2.10"]),
            ([], ["192.0.2.10", "localhost"]),
        ])
    func unspecified(listening: [String], expected: [String]) {
        let addresses = [Self.ethernet, Self.ethernetV6]
        #expect(Self.hosts(addresses, routed: ["192.0.2.10"], listening: listening).hosts == expected)
        #expect(Self.hosts([Self.ethernetV6], routed: ["2001:db8::10"], listening: ["0.0.0.0"]).hosts == ["localhost"])
    }

    @Test("A link has a lasting address if the network has one, and a named address comes first")
    func lastingAddress() {
        let temporary = Self.address("2001:db8::abcd", on: 2, state: .temporary)
        #expect(
            Self.hosts([temporary, Self.ethernetV6], routed: ["2001:db8::abcd"]).hosts == ["2001:db8::10", "localhost"])
        #expect(
            Self.hosts([temporary], routed: ["2001:db8::abcd"]).hosts == ["2001:db8::abcd", "localhost"])
        #expect(Self.hosts([Self.ethernet], given: ["share.example"]).hosts == ["share.example", "localhost"])
        #expect(
            Self.hosts([Self.ethernet, Self.wireless, Self.docker], routed: ["198.51.100.4"], all: true).hosts
                == ["198.51.100.4", "192.0.2.10", "172.17.0.1", "localhost"])
    }

    @Test("Every spelling of the unspecified address is recognized")
    func listenAddresses() {
        for text in ["8080", ":8080", "*:8080", "[::]:8080"] {
            #expect(ListenAddress(text)?.port == 8080 && ListenAddress(text)?.address == nil)
        }
        #expect(ListenAddress("0.0.0.0:8080")?.address == .v4(0))
    }

    @Test("A link-local address is accepted with its interface, which is part of the link")
    func zones() throws {
        let listen = try #require(ListenAddress("[fe80::1%lan0]:8080"))
        let address = try #require(IPAddress("fe80::1"))
        #expect(listen.address == address && listen.zone == "lan0" && listen.port == 8080)
        for text in ["[fe80::1%]:8080", "[2001:db8::1%lan0]:8080", "[::%lan0]:8080", "127.0.0.1%lo:8080"] {
            #expect(ListenAddress(text) == nil, "\(text)")
        }
        let hosts = LinkHosts(
            given: [], listening: [address], zone: listen.zone, all: false, interfaces: [], routed: [])
        #expect(hosts.hosts == ["fe80::1%lan0"])
    }
}

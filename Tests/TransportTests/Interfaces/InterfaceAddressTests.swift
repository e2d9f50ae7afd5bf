import NIOCore
import NIOPosix
import RTCShareLocks
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// The choice of this machine's addresses, and the kernel's lists of them.
@Suite(.timeLimit(.minutes(1))) struct InterfaceAddressTests {
    private typealias State = InterfaceAddress.State

    private static func address(_ text: String, _ state: State = [], interface: UInt32 = 2) throws -> InterfaceAddress {
        let ip = try #require(IPAddress(text))
        return InterfaceAddress(ip: ip, interface: interface, prefixLength: ip.isV4 ? 24 : 64, state: state)
    }

    private static func used(_ addresses: InterfaceAddress...) -> [String] {
        NetworkInterfaces.usable(of: addresses).map(\.ip.description)
    }

    @Test("An address to which no socket can be bound is not used")
    func unreadyAddresses() throws {
        let (v4, v6) = (try Self.address("192.0.2.10"), "2001:db8::10")
        #expect(Self.used(v4, try Self.address(v6)) == ["192.0.2.10", v6])
        #expect(Self.used(v4, try Self.address(v6, .tentative)) == ["192.0.2.10"])
        #expect(Self.used(v4, try Self.address(v6, [.tentative, .duplicate])) == ["192.0.2.10"])
        #expect(Self.used(v4, try Self.address(v6, .duplicate)) == ["192.0.2.10"])
        #expect(Self.used(v4, try Self.address(v6, [.tentative, .optimistic])) == ["192.0.2.10", v6])
        let loopback = try Self.address("127.0.0.1", interface: 1)
        #expect(Self.used(loopback, try Self.address(v6, .tentative)) == ["127.0.0.1"])
        #expect(Self.used(try Self.address("fe80::1"), loopback) == ["127.0.0.1"])
    }

    @Test("One of the IPv6 addresses in a network is used, a temporary one first")
    func temporaryAddresses() throws {
        let stable = try Self.address("2001:db8::a")
        let temporary = try Self.address("2001:db8::b", .temporary)
        let expired = try Self.address("2001:db8::c", [.temporary, .deprecated])
        let elsewhere = try Self.address("2001:db8:1::a")
        let otherInterface = try Self.address("2001:db8::d", interface: 3)
        #expect(Self.used(expired, stable, temporary) == ["2001:db8::b"])
        #expect(Self.used(stable, expired) == ["2001:db8::a"])
        #expect(Self.used(stable, elsewhere, otherInterface) == ["2001:db8::a", "2001:db8:1::a", "2001:db8::d"])
        #expect(Self.used(try Self.address("192.0.2.1"), expired) == ["192.0.2.1", "2001:db8::c"], "it has no other")
        #expect(Self.used(try Self.address("192.0.2.1"), try Self.address("192.0.2.2")).count == 2)
    }

    /// A message of RTM_NEWADDR or RTM_NEWLINK.
    private static func message(_ type: UInt16, _ head: [UInt8], _ attributes: [(UInt16, [UInt8])]) -> [UInt8] {
        var body = head
        for (type, value) in attributes {
            body.append(native: UInt16(4 + value.count))
            body.append(native: type)
            body += value + [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        var bytes: [UInt8] = []
        bytes.append(native: UInt32(16 + body.count))
        bytes.append(native: type)
        return bytes + [UInt8](repeating: 0, count: 10) + body
    }

    private static func head(_ parts: [UInt8], _ numbers: UInt32...) -> [UInt8] {
        numbers.reduce(into: parts) { $0.append(native: $1) }
    }

    @Test("The kernel's lists are read, and a truncated one up to its end")
    func kernelLists() throws {
        var flags: [UInt8] = []
        flags.append(native: UInt32(0x80 | 0x40))
        let address = [UInt8](repeating: 0x20, count: 15) + [0x01]
        let list =
            Self.message(20, Self.head([2, 24, 0x80, 0], 7), [(1, [10, 0, 0, 9]), (2, [10, 0, 0, 1])])
            + Self.message(20, Self.head([10, 64, 0x80, 0], 8), [(1, address), (8, flags)])
        let kind = Array(Self.message(0, [], [(1, Array("bridge\0".utf8))]).dropFirst(16))
        let links =
            Self.message(16, Self.head([0, 0, 1, 0], 7, 0x1, 0), [(3, Array("docker0\0".utf8)), (0x8012, kind)])
            + Self.message(16, Self.head([0, 0, 1, 0], 8, 0x51, 0), [(3, Array("wg0\0".utf8))])
        let interfaces = Netlink.messages(in: links[...]).compactMap(InterfaceAddress.Interface.init)
        #expect(interfaces.map(\.name) == ["docker0", "wg0"])
        #expect(interfaces.map(\.kind) == [.bridge, .tunnel])
        #expect(interfaces.map(\.isRunning) == [false, true])
        func addresses(_ bytes: ArraySlice<UInt8>) -> [InterfaceAddress] {
            Netlink.messages(in: bytes).compactMap { message in
                InterfaceAddress(message) { number in interfaces.first { $0.number == number } }
            }
        }
        let all = addresses(list[...])
        #expect(all.map(\.ip.description) == ["10.0.0.1", "2020:2020:2020:2020:2020:2020:2020:2001"])
        #expect(all.map(\.name) == ["docker0", "wg0"] && all.map(\.isReady) == [true, false])
        for end in list.indices { #expect(addresses(list[..<end]).count <= 1) }
        for end in links.indices {
            #expect(Netlink.messages(in: links[..<end]).compactMap(InterfaceAddress.Interface.init).count <= 1)
        }
        for index in list.indices {
            var corrupt = list
            corrupt[index] ^= 0xFF
            _ = addresses(corrupt[...])
        }
    }

    @Test("The addresses of the machine equal those of the C library's list")
    func ownAddresses() throws {
        let listed = try System.enumerateDevices().compactMap { device in
            device.address.flatMap(IPAddress.init).map { "\(device.name) \($0)" }
        }
        #expect(Set(try NetworkInterfaces.allAddresses().map { "\($0.name) \($0.ip)" }) == Set(listed))
    }

    @Test("A monitor whose socket fails opens another and reports a possible change")
    func monitorRestarts() async throws {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let changes = AsyncStream.makeStream(of: Void.self)
        let monitor = try #require(await InterfaceMonitor.start(on: eventLoop) { changes.continuation.yield() })
        let first = try #require(monitor.state.withLock { $0.channel })
        try await first.close()
        for await _ in changes.stream { break }
        let second = try #require(monitor.state.withLock { $0.channel })
        #expect(second !== first && second.isActive)
        monitor.stop()
        try await second.closeFuture.get()
    }
}

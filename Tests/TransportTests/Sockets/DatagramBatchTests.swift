import Foundation
import NIOCore
import NIOPosix
import RTCShareWireFormat
import Synchronization
import TestSupport
import Testing

@testable import RTCShareTransport

/// Datagrams of a batch arrive as they were written, whatever system call sends them.
@Suite(.timeLimit(.minutes(1))) actor DatagramBatchTests {
    private nonisolated let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    /// Sockets are used on the event loop that opened them.
    nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

    /// Opens a socket, and returns it with its received datagrams.
    private func open(at address: IPAddress) async throws -> (socket: DatagramSocket, arrivals: AsyncStream<[UInt8]>) {
        let (arrivals, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        let socket = try await DatagramSocket.open(
            at: TransportAddress(ip: address, port: 0), on: eventLoop,
            receive: { bytes, _, _ in continuation.yield(Array(bytes.readableBytesView)) }, closed: { _ in })
        return (socket, arrivals)
    }

    private func take(_ count: Int, from arrivals: AsyncStream<[UInt8]>) async -> [[UInt8]] {
        var taken: [[UInt8]] = []
        for await datagram in arrivals {
            taken.append(datagram)
            if taken.count == count { break }
        }
        return taken
    }

    /// Sends datagrams of these sizes, each filled with its index. Returns the number of rejected ones.
    private func send(
        _ sizes: [Int], from socket: DatagramSocket, cuts: Bool = true, to destination: (Int) -> TransportAddress
    ) -> Int {
        let batch = ConnectionLoop.of(eventLoop).batch
        let sender = ConnectionSockets(on: eventLoop)
        socket.cutsMessages = cuts
        for (index, size) in sizes.enumerated() {
            let memory = batch.reserve()
            for offset in 0..<size { memory[offset] = UInt8(truncatingIfNeeded: index) }
            let destination = destination(index)
            batch.commit(size, from: socket, to: destination, name: SocketName(destination), by: sender)
        }
        batch.flush()
        return sender.refusedDatagrams
    }

    @Test(
        "Datagrams of equal, falling and rising sizes are sent unchanged",
        arguments: [true, false], [Loopback.v4, Loopback.v6])
    func datagramSizes(
        cuts: Bool, address: IPAddress
    ) async throws {
        let (sender, _) = try await open(at: address)
        let (receiver, arrivals) = try await open(at: address)
        let sizes = [1200, 1200, 1200, 700, 700, 1, 300, 1280, 1280, 1279, 5, 5, 5, 6]
        let refused = send(sizes, from: sender, cuts: cuts) { _ in receiver.address }
        let taken = await take(sizes.count, from: arrivals)
        #expect(taken == sizes.indices.map { [UInt8](repeating: UInt8($0), count: sizes[$0]) })
        #expect(refused == 0)
        try await sender.channel.close()
        try await receiver.channel.close()
    }

    @Test("More datagrams than a batch holds are sent, each to its address")
    func overfullBatch() async throws {
        let (sender, _) = try await open(at: Loopback.v4)
        let (left, toLeft) = try await open(at: Loopback.v4)
        let (right, toRight) = try await open(at: Loopback.v4)
        let sizes = [Int](repeating: 900, count: 300)
        _ = send(sizes, from: sender) { $0 / 3 % 2 == 0 ? left.address : right.address }
        let indices = Set(await take(150, from: toLeft).compactMap(\.first))
        #expect(indices == Set((0..<300).filter { $0 / 3 % 2 == 0 }.map { UInt8(truncatingIfNeeded: $0) }))
        #expect(await take(150, from: toRight).count == 150)
        for socket in [sender, left, right] { try await socket.channel.close() }
    }

    @Test("A datagram that the kernel rejects is counted, and the others are sent")
    func kernelRefusals() async throws {
        let (sender, _) = try await open(at: Loopback.v4)
        let (receiver, arrivals) = try await open(at: Loopback.v4)
        // No socket of a loopback address reaches out of the machine.
        let nowhere = try #require(TransportAddress("192.0.2.1", port: 9))
        let refused = send([50, 50, 50, 50, 50], from: sender) {
            $0 == 1 || $0 == 2 ? nowhere : receiver.address
        }
        #expect(await take(3, from: arrivals).compactMap(\.first) == [0, 3, 4])
        #expect(refused == 2)
        #expect(sender.channel.isActive, "a destination that is refused does not end the socket")
        try await sender.channel.close()
        try await receiver.channel.close()
    }

    @Test("Datagrams wait in order for a full socket, and one that is rejected does not stop the others")
    func fullSocket() async throws {
        let (sender, _) = try await open(at: Loopback.v4)
        let (receiver, arrivals) = try await open(at: Loopback.v4)
        let nowhere = try #require(TransportAddress("192.0.2.1", port: 9))
        let connection = ConnectionSockets(on: eventLoop)
        let first: [UInt8] = [42]
        #expect(first.withUnsafeBytes { sender.queue($0, to: receiver.address, by: connection) })
        #expect(!sender.takesDirectly)
        #expect(first.withUnsafeBytes { sender.queue($0, to: nowhere, by: connection) })
        let refused = send([10, 10, 10], from: sender) { _ in receiver.address }
        #expect(await take(4, from: arrivals).compactMap(\.first) == [42, 0, 1, 2])
        #expect(refused == 0 && connection.refusedDatagrams == 1)
        #expect(sender.takesDirectly && sender.channel.isActive, "the next ones leave directly again")
        let large = [UInt8](repeating: 1, count: 1 << 19)
        for isTaken in [true, true, false] {
            #expect(large.withUnsafeBytes { sender.queue($0, to: receiver.address, by: connection) } == isTaken)
        }
        try await sender.close().get()
        try await receiver.channel.close()
    }

    /// The number of this process's datagram sockets without a port.
    private static var unboundCount: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
                .count { descriptor in
                    var (kind, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
                    guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0 else { return false }
                    guard kind == Int32(SOCK_DGRAM.rawValue) else { return false }
                    // Of IPv4: the family, and the port.
                    var name = [UInt8](repeating: 0, count: 16)
                    length = socklen_t(name.count)
                    let result = name.withUnsafeMutableBytes { name in
                        getsockname(descriptor, name.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
                    }
                    return result == 0 && name[0] == UInt8(AF_INET) && name[2...3].allSatisfy { $0 == 0 }
                }
        }
    }

    @Test("A port that is taken leaves no socket open", arguments: [false, true])
    func failedBind(isDedicated: Bool) async throws {
        let (taken, _) = try await open(at: Loopback.v4)
        let before = try Self.unboundCount
        for _ in 0..<50 {
            if isDedicated {
                let (ends, end) = AsyncStream.makeStream(of: String.self)
                let socket = DedicatedSocket(
                    .init(transport: .udp, base: taken.address, destination: taken.address),
                    setting: .init(port: taken.address.port), on: eventLoop, receive: { _ in }, ended: { end.yield($0) }
                )
                for await _ in ends { break }
                socket.close()
            } else {
                await #expect(throws: ConnectionError.portTaken(taken.address)) {
                    _ = try await DatagramSocket.open(
                        at: taken.address, on: eventLoop, receive: { _, _, _ in }, closed: { _ in })
                }
            }
        }
        // Other tests open sockets at the same time.
        #expect(try Self.unboundCount < before + 25)
        try await taken.close().get()
    }
}

import Logging
import NIOCore
import NIOPosix
import RTCShareLocks
import RTCSharePeerConnection
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport

/// Event loops and a logger of the program's own.
@Suite(.timeLimit(.minutes(1))) struct ProgramResourcesTests {
    private static func configuration() -> Connection.Configuration {
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        return configuration
    }

    private static func connection(_ configuration: Connection.Configuration) async throws -> Connection {
        try await Connection(as: .offerer, identity: LocalIdentity(media: []), configuration: configuration)
    }

    @Test("A connection runs on the program's event loops, and otherwise on those of the process")
    func eventLoopGroup() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        var configuration = Self.configuration()
        let usual = try await Self.connection(configuration)
        configuration.eventLoopGroup = group
        let own = try await Self.connection(configuration)
        #expect(group.makeIterator().contains { $0 === own.eventLoop })
        #expect(!group.makeIterator().contains { $0 === usual.eventLoop })
        #expect(MultiThreadedEventLoopGroup.singleton.makeIterator().contains { $0 === usual.eventLoop })
        await usual.close()
        await own.close()
        try await group.shutdownGracefully()
    }

    @Test("Shared ports and their connections run on the program's event loops")
    func sharedPorts() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let port = try await SharedPort(addresses: [Loopback.v4], eventLoopGroup: group)
        #expect(group.makeIterator().contains { $0 === port.eventLoop })
        var configuration = Connection.Configuration()
        configuration.sharedPort = port
        let connection = try await Self.connection(configuration)
        #expect(connection.eventLoop === port.eventLoop)
        let ports = try await SharedPorts(addresses: [Loopback.v4], eventLoopGroup: group)
        #expect(Set(ports.ports.map { ObjectIdentifier($0.eventLoop) }).count == 2)
        #expect(ports.ports.allSatisfy { port in group.makeIterator().contains { $0 === port.eventLoop } })
        await connection.close()
        await ports.close()
        await port.close()
        try await group.shutdownGracefully()
    }

    /// Uses an event loop, and returns a weak reference to what it may leave behind.
    private static func share(on group: MultiThreadedEventLoopGroup) async throws -> Weak {
        var configuration = configuration()
        configuration.eventLoopGroup = group
        let connection = try await connection(configuration)
        let eventLoop = connection.eventLoop
        let loop = Weak()
        try await eventLoop.submit { loop.value = ConnectionLoop.of(eventLoop) }.get()
        #expect(loop.value != nil)
        await connection.close()
        return loop
    }

    private final class Weak: @unchecked Sendable {
        // Sendable: written once, before anybody else looks.
        weak var value: ConnectionLoop?
    }

    @Test("Nothing of an event loop that has ended is retained")
    func endedGroup() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = try await Self.share(on: group)
        try await group.shutdownGracefully()
        #expect(loop.value == nil)
    }

    @Test("A connection that is always due stops neither its event loop nor the other connections")
    func alwaysDue() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let eventLoop = group.next()
        let wakings = Locked<[String]>([])
        let first = eventLoop.makePromise(of: [String].self)
        try await eventLoop.submit {
            let loop = ConnectionLoop.of(eventLoop)
            let start = MonotonicClock.now
            var busy: ConnectionLoop.Entry?
            busy = ConnectionLoop.Entry { _ in
                let count = wakings.withLock { wakings in
                    wakings.append("busy")
                    return wakings.count
                }
                // The next task of the event loop.
                if count == 1 { eventLoop.execute { first.succeed(wakings.withLock { $0 }) } }
                guard let known = busy else { return }
                if count >= 100 { busy = nil }
                loop.schedule(known, at: count < 100 ? start.advanced(by: .nanoseconds(count)) : .distantFuture)
            }
            let other = ConnectionLoop.Entry { _ in wakings.withLock { $0.append("other") } }
            if let busy { loop.schedule(busy, at: start) }
            loop.schedule(other, at: start.advanced(by: .nanoseconds(100)))
        }.get()
        let woken = try await first.futureResult.get()
        #expect(woken == ["busy", "other"])
        try await group.shutdownGracefully()
    }

    @Test("A connection logs to the program's logger")
    func logger() async throws {
        let lines = LogLines()
        var configuration = Self.configuration()
        configuration.logger = lines.logger(label: "program")
        let sender = try await Connection(
            as: .offerer, identity: LocalIdentity(media: [.video(streamID: "alice#content", isContent: true)]),
            configuration: configuration)
        let viewer = try await Loopback.open(as: .answerer, at: Loopback.v4)
        let offer = try await sender.makeOffer()
        try await sender.accept(answer: viewer.answer(offer: offer), to: offer)
        for await signal in sender.signals {
            if case .state(.connected) = signal { break }
        }
        #expect(lines.all.withLock { $0 }.contains("connected"))
        await sender.close()
        await viewer.close()
    }

    /// Counts the tasks of an event loop.
    private final class Tasks: NIOEventLoopMetricsDelegate {
        let count = Locked(0)

        func processedTick(info: NIOEventLoopTickInfo) { count.withLock { $0 += info.numberOfTasks } }
    }

    @Test("A diagnosis runs on the program's event loops")
    func diagnosis() async throws {
        let tasks = Tasks()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: tasks)
        let before = tasks.count.withLock { $0 }
        _ = try await NetworkDiagnosis.examine(servers: [], eventLoopGroup: group)
        #expect(tasks.count.withLock { $0 } > before)
        try await group.shutdownGracefully()
    }
}

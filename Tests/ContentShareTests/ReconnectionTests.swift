import RTCShareCapture
import RTCShareContentShare
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareTransport
import RTCShareWireFormat
import Testing

/// Sessions of one process that lose their route to each other.
@Suite(.timeLimit(.minutes(2)))
struct ReconnectionTests {
    private final class Observer: AttendeeSessionObserver {
        enum Event: Hashable { case state(ConnectionState), needsRestart }
        let log = EventLog<Event>()
        func sessionStateDidChange(to state: ConnectionState) { log.append(.state(state)) }
        func sessionNeedsRestart() { log.append(.needsRestart) }
    }

    /// The side whose address disappears: the offerer (true) or the answerer.
    @Test(
        "Sessions that were connected in one process reconnect without a call when an address disappears",
        arguments: [true, false])
    func reconnectsByItself(
        isPresenters: Bool
    ) async throws {
        let pair = try await Pair()
        let observer = Observer()
        let mover = isPresenters ? pair.alice : pair.bob
        mover.add(observer: observer)
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        await pair.tiles.pictures.wait(count: 3)
        await mover.connection.removeLocalAddress(.v4(0x7F00_0001))
        await observer.log.wait { $0.last == .needsRestart }
        #expect(observer.log.entries.suffix(2) == [.state(.disconnected), .needsRestart])
        try await mover.connection.addLocalAddress(.v4(0x7F00_0007))
        await observer.log.wait { $0.last == .state(.connected) }
        await pair.tiles.pictures.wait(count: pair.tiles.pictures.entries.count + 5)
        #expect(pair.sharing.log.entries == [.didStart])
        #expect(pair.tiles.kinds.filter { $0 == .added || $0 == .removed } == [.added])
        let needs = await mover.connection.needsRestart
        #expect(!needs)
        await pair.end()
        screen.stop()
    }

    @Test("Another call of connect finds a route after the first one was lost")
    func furtherConnect() async throws {
        let pair = try await Pair()
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        await pair.tiles.pictures.wait(count: 3)
        let observer = Observer()
        pair.alice.add(observer: observer)
        await pair.alice.connection.removeLocalAddress(.v4(0x7F00_0001))
        try await pair.alice.connection.addLocalAddress(.v4(0x7F00_0008))
        try await pair.alice.connect(to: pair.bob)
        await observer.log.wait { $0.contains(.state(.disconnected)) && $0.last == .state(.connected) }
        await pair.tiles.pictures.wait(count: pair.tiles.pictures.entries.count + 5)
        await pair.end()
        screen.stop()
    }
}

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
    private enum Event: Hashable { case state(ConnectionState), needsRestart }

    /// The states of a session's connection and its requests for a restart, from now on.
    private func events(of session: AttendeeSession) async -> EventLog<Event> {
        let log = EventLog<Event>()
        let signals = await session.signals
        Task {
            for await signal in signals {
                switch signal {
                case .state(let state): log.append(.state(state))
                case .restartNeeded: log.append(.needsRestart)
                case .localCandidate, .localCandidatesEnded: continue
                }
            }
        }
        return log
    }

    /// The side whose address disappears: the offerer (true) or the answerer.
    @Test(
        "Sessions that were connected in one process reconnect without a call when an address disappears",
        arguments: [true, false])
    func reconnectsByItself(
        isPresenters: Bool
    ) async throws {
        let pair = try await Pair()
        let mover = isPresenters ? pair.alice : pair.bob
        let log = await events(of: mover)
        let screen = try pattern(192, 144)
        try await pair.alice.contentShare.start(source: screen)
        await pair.tiles.pictures.wait(count: 3)
        await mover.connection.removeLocalAddress(.v4(0x7F00_0001))
        await log.wait { $0.last == .needsRestart }
        #expect(log.entries.suffix(2) == [.state(.disconnected), .needsRestart])
        try await mover.connection.addLocalAddress(.v4(0x7F00_0007))
        await log.wait { $0.last == .state(.connected) }
        await pair.tiles.pictures.wait(count: pair.tiles.pictures.entries.count + 5)
        await pair.sharing.log.wait(count: 1)
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
        let log = await events(of: pair.alice)
        await pair.alice.connection.removeLocalAddress(.v4(0x7F00_0001))
        try await pair.alice.connection.addLocalAddress(.v4(0x7F00_0008))
        try await pair.alice.connect(to: pair.bob)
        await log.wait { $0.contains(.state(.disconnected)) && $0.last == .state(.connected) }
        await pair.tiles.pictures.wait(count: pair.tiles.pictures.entries.count + 5)
        await pair.end()
        screen.stop()
    }
}

import RTCSharePeerConnection
import RTCShareTransport
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare

/// The states of a session, for several readers.
@Suite(.timeLimit(.minutes(1)))
struct SessionStatesTests {
    enum Course: Sendable, CaseIterable { case leaves, viewerLeaves, losesPath, findsNobody }

    private static let states: [Course: [ConnectionState]] = [
        .leaves: [.connected, .closed], .viewerLeaves: [.connected, .closed],
        .losesPath: [.connected, .disconnected, .connected, .closed], .findsNobody: [.connecting, .failed],
    ]

    @Test("Each reader gets the current state, each change and the end", arguments: Course.allCases)
    func states(course: Course) async throws {
        var configuration = Pair.configuration
        if course == .findsNobody { configuration.connectTimeout = .milliseconds(300) }
        let alice = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
        let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"), configuration: configuration)
        let log = EventLog<ConnectionState>()
        let reading = Task {
            for await state in await alice.states { log.append(state) }
        }
        await log.wait(count: 1)
        #expect(log.entries == [.new])
        if course == .findsNobody {
            let offer = try await alice.connection.makeOffer()
            let answer = try await bob.connection.answer(offer: offer)
            await bob.leave()
            try await alice.connection.accept(answer: answer, to: offer)
        } else {
            try await alice.connect(to: bob)
            await log.wait { $0.last == .connected }
            for await state in await bob.states where state == .connected { break }
        }
        switch course {
        case .leaves: await alice.leave()
        case .viewerLeaves: await bob.leave()
        case .losesPath:
            await alice.connection.removeLocalAddress(.v4(0x7F00_0001))
            await log.wait { $0.last == .disconnected }
            try await alice.connection.addLocalAddress(.v4(0x7F00_0009))
            await log.wait { $0.last == .connected }
            await alice.leave()
        case .findsNobody: break
        }
        await reading.value
        #expect(
            log.entries == [.new] + (course == .findsNobody ? [] : [.connecting]) + Self.states[course, default: []])
        var late: [ConnectionState] = []
        for await state in await alice.states { late.append(state) }
        #expect(late == log.entries.suffix(1))
        #expect(await (alice.failure is ConnectionError) == (course == .findsNobody))
        await alice.leave()
        await bob.leave()
    }

    @Test("A session that is over requests no restart")
    func restartAfterEnd() async throws {
        let alice = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: Pair.configuration)
        let bob = try await AttendeeSession.viewing(as: AttendeeID("bob"), configuration: Pair.configuration)
        try await alice.connect(to: bob)
        for await state in await alice.states where state == .connected { break }
        await alice.connection.removeLocalAddress(.v4(0x7F00_0001))
        for _ in 0..<2 { for await _ in await alice.restartRequests { break } }
        await alice.leave()
        for await _ in await alice.restartRequests { Issue.record("a restart is requested after the end") }
        await bob.leave()
    }

    @Test("The states end when the session is released")
    func released() async throws {
        func states() async throws -> some AsyncSequence<ConnectionState, Never> {
            try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: Pair.configuration).states
        }
        var read: [ConnectionState] = []
        for await state in try await states() { read.append(state) }
        #expect(read == [.new])
    }
}

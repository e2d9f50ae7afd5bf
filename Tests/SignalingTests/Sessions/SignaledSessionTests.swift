import RTCShareContentShare
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareSignaling

/// A server of a test, whose media are in this process. It never answers about candidates.
@SharingActor private final class ScriptedServer: ServerSession {
    struct Failure: Error, Equatable {
        let number: Int
    }

    nonisolated let (notices, notice) = AsyncStream.makeStream(of: SessionNotice.self)
    nonisolated let session: AttendeeSession
    nonisolated let peer: AttendeeSession
    private nonisolated let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    /// The received candidates and ends.
    private(set) var told = 0
    private(set) var ends = 0

    init() async throws {
        let configuration = ServerFixture.connection.mending
        session = try await AttendeeSession.offering(as: AttendeeID("alice"), configuration: configuration)
        peer = try await AttendeeSession.viewing(as: AttendeeID("server"), configuration: configuration)
    }

    func begin() async throws -> DataRate? {
        let offer = try await session.connection.makeOffer()
        // Found after the offer, so that the server is notified of each.
        for number: UInt32 in 5...6 { try await session.connection.addLocalAddress(.v4(0x7F00_0000 + number)) }
        let answer = try await peer.connection.answer(offer: offer)
        try await session.connection.accept(answer: answer, to: offer)
        return nil
    }

    func receiveNotices(_ take: @Sendable (SessionNotice) async -> Void) async {
        for await notice in notices { await take(notice) }
    }

    func restart() -> SessionRestart { .refused }

    func send(_ candidate: CandidateAttribute, mid: String, ufrag: String) async {
        told += 1
        for await _ in gate {}
    }

    func end() async {
        ends += 1
        opening.finish()
        notice.finish()
        await peer.leave()
    }
}

@Suite("A session with a server", .timeLimit(.minutes(1)))
struct SignaledSessionTests {
    private func signaled(_ server: ScriptedServer) -> SignaledSession {
        SignaledSession(
            of: server.session, at: server,
            reasons: .init(gone: ScriptedServer.Failure(number: 404), lost: ScriptedServer.Failure(number: 0)))
    }

    @Test("A server that never answers a candidate delays neither later states nor the end")
    func silence() async throws {
        let server = try await ScriptedServer()
        let signaled = signaled(server)
        try await signaled.begin()
        var events: [String] = []
        for await event in signaled.events {
            events.append("\(event)")
            guard case .state(.connected) = event else { continue }
            // The first candidate is not answered.
            await waitUntil { await server.told == 1 }
            await waitUntil { await server.peer.state == .connected }
            server.notice.finish()
            await server.peer.leave()
        }
        #expect(events.last == "ended(nil)" && events.contains { $0.hasSuffix(".connected)") }, "\(events)")
        await signaled.leave()
    }

    @Test(
        "The first end that a server reports counts, and the server is notified of the end once", arguments: [1, nil])
    func ends(number: Int?) async throws {
        let server = try await ScriptedServer()
        let signaled = signaled(server)
        let failure = number.map(ScriptedServer.Failure.init)
        try await signaled.begin()
        server.notice.yield(.ended(failure))
        server.notice.yield(.ended(ScriptedServer.Failure(number: 2)))
        var ended: [ScriptedServer.Failure?] = []
        for await event in signaled.events {
            if case .ended(let error) = event { ended.append(error as? ScriptedServer.Failure) }
        }
        await signaled.leave()
        #expect(ended == [failure])
        #expect(await signaled.reason(after: nil) as? ScriptedServer.Failure == failure)
        #expect(await server.ends == 1)
    }
}

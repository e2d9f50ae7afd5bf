import NIOHTTP1
import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import RTCShareSignaling

/// A scripted server without a network.
private final class ScriptedEndpoint: PublishingEndpoint {
    enum Step: Sendable {
        case fails(any Error, RetryPolicy)
        case publishes
    }

    struct Failure: Error, Equatable {
        let number: Int
    }

    let kind = "script"
    let name = "server"
    private struct State {
        var attempts = 0
        var sessions: [ScriptedSession] = []
    }

    private let state = Locked(State())
    private let step: @Sendable (Int) -> Step

    /// `step` returns the outcome of each attempt, counted from 1.
    init(step: @escaping @Sendable (Int) -> Step) { self.step = step }

    var attempts: Int { state.withLock { $0.attempts } }
    var sessions: [ScriptedSession] { state.withLock { $0.sessions } }

    func publish(_ room: SharingRoom) async throws -> any PublishingSession {
        let attempt = state.withLock { state in
            state.attempts += 1
            return state.attempts
        }
        switch step(attempt) {
        case .fails(let error, _): throw error
        case .publishes:
            let session = ScriptedSession(viewer: try await room.addViewer(configuration: ServerFixture.connection))
            state.withLock { $0.sessions.append(session) }
            return session
        }
    }

    func retryPolicy(after error: any Error) -> RetryPolicy {
        let attempt = attempts
        if case .fails(_, let retryPolicy) = step(attempt) { return retryPolicy }
        return .transient
    }
}

private final class ScriptedSession: PublishingSession {
    let viewer: RoomViewer
    let events: AsyncStream<PublishingSessionEvent>
    private let continuation: AsyncStream<PublishingSessionEvent>.Continuation
    private let left = Locked(false)

    init(viewer: RoomViewer) {
        self.viewer = viewer
        (events, continuation) = AsyncStream.makeStream(of: PublishingSessionEvent.self)
    }

    var hasLeft: Bool { left.withLock { $0 } }

    func tell(_ event: PublishingSessionEvent) { continuation.yield(event) }

    func leave() async {
        left.withLock { $0 = true }
        continuation.finish()
        await viewer.session.leave()
    }
}

@Suite("A publication of a share", .timeLimit(.minutes(1)))
struct PublicationTests {
    @Test("The restart of a session is retried until the server answers")
    func anotherWay() async {
        for outcome in [SessionRestart.begun, .refused, .gone] {
            let asked = Locked(0)
            let found = await findAnotherWay(pause: .milliseconds(1)) {
                asked.withLock { asked in
                    asked += 1
                    return asked < 5 ? .unreachable : outcome
                }
            }
            #expect(found == outcome && asked.withLock { $0 } == 5)
        }
    }

    @Test("A refusal is explained by the server's sentence, or by the meaning of its status")
    func refusalWords() throws {
        let url = try #require(WebAddress("http://server.example/whep"))
        func words(
            _ status: Int, _ body: String = "", location: String? = nil, codecs: [String] = [],
            token: EndpointRefusal.TokenUse = .shown
        ) -> String {
            let headers = [("Content-Type", "text/plain")] + (location.map { [("Location", $0)] } ?? [])
            let response = HTTPClient.Response(status: status, headers: headers, body: Array(body.utf8), url: url)
            return WHEPError.refused(EndpointRefusal(response, token: token, codecs: codecs)).description
        }
        let secure = "https://server.example"
        #expect(words(301, location: secure + "/whep").contains("; use \(secure) in the link"))
        #expect(words(401, token: .withheld(from: secure)).contains("; use \(secure) in the link"))
        #expect(words(401, "the door is closed").hasPrefix("the server refuses: the door is closed; "))
        #expect(words(404, "no").hasPrefix("the server refuses: there is nothing at this address (HTTP 404: no); "))
        #expect(words(418) == "the server refuses with HTTP 418")
        #expect(words(400).hasSuffix("; use https:// instead of http:// in the link"))
        #expect(words(406, codecs: ["VP8", "AV1"]).hasSuffix("; use a server that sends VP8 or AV1, and Opus"))
        #expect(words(406).hasSuffix("; use a server that sends Opus"))
        #expect(words(400, "the offer is wrong") == "the server refuses: the offer is wrong")
    }

    @Test("A session that the server lost is started again, and one that it rejects permanently is not")
    func passingErrors() throws {
        let url = try #require(WebAddress("http://server.example/whep"))
        func refused(_ status: Int) -> WHEPError {
            let response = HTTPClient.Response(status: status, headers: [], body: [], url: url)
            return .refused(EndpointRefusal(response, token: .none))
        }
        let passing: [any Error] = [
            WHEPError.sessionGone, WHEPError.lost, JanusError.sessionGone, JanusError.noPublisher("a", present: []),
            HTTPClientError.unreachable("", ""), HTTPClientError.noTLS(""), refused(404), refused(503),
            JanusError.noJanus(status: 502, sentence: nil),
        ]
        let lasting: [any Error] = [
            WHEPError.url, WHEPError.noAnswer(status: 200), JanusError.roomGone, JanusError.kicked,
            HTTPClientError.certificate(""), refused(401), refused(403), JanusError.noJanus(status: 200, sentence: nil),
        ]
        #expect(passing.allSatisfy(mayPass) && !lasting.contains(where: mayPass))
    }

    @Test("A session is started again when the server permits it, but after a minute at the latest")
    func requestedPauses() throws {
        let url = try #require(WebAddress("http://server.example/whep"))
        func pause(_ headers: [(String, String)]) -> Duration {
            let response = HTTPClient.Response(status: 429, headers: headers, body: [], url: url)
            return requestedPause(after: WHEPError.refused(EndpointRefusal(response, token: .shown)))
        }
        #expect(pause([("Retry-After", "7")]) == .seconds(7))
        #expect(pause([("Retry-After", "9999")]) == .seconds(60))
        #expect(pause([]) == .zero && requestedPause(after: WHEPError.lost) == .zero)
    }

    private let clock = ManualClock()

    private func publication(_ endpoint: ScriptedEndpoint) throws -> Publication {
        // A random value in the middle, so that pauses have their full length.
        Publication(of: try SharingRoom(owner: AttendeeID("alice")), at: endpoint, clock: clock) { 0.5 }
    }

    /// Publishes, and returns the events once the share is published.
    private func begin(
        _ publication: Publication, _ endpoint: ScriptedEndpoint
    ) async -> AsyncStream<Publication.Event>.Iterator {
        var events = publication.events.makeAsyncIterator()
        await publication.start()
        await waitUntil { endpoint.sessions.count == 1 }
        endpoint.sessions[0].tell(.state(.connected))
        if case .published(let viewer, count: 1)? = await events.next(isolation: #isolation) {
            #expect(viewer.id == endpoint.sessions[0].viewer.id)
        } else {
            Issue.record("it is not published")
        }
        return events
    }

    /// Returns the next event, which must be a failure: its error and the pause.
    private func failure(
        _ events: inout AsyncStream<Publication.Event>.Iterator
    ) async throws -> (error: any Error, pause: Duration?) {
        guard case .failed(let error, _, let pause)? = await events.next(isolation: #isolation) else {
            throw ScriptedEndpoint.Failure(number: 0)
        }
        return (error, pause)
    }

    /// Has the pause be over.
    private func pass() async {
        await waitUntil { clock.sleeperCount > 0 }
        clock.wakeNext()
    }

    private static let unreachable = HTTPClientError.unreachable("server", "no network")

    @Test("A minute without a network is survived, with pauses that grow up to a limit")
    func outage() async throws {
        let clock = clock
        let endpoint = ScriptedEndpoint { attempt in
            attempt > 1 && clock.now.offset < .seconds(60) ? .fails(Self.unreachable, .transient) : .publishes
        }
        let publication = try publication(endpoint)
        var events = await begin(publication, endpoint)
        endpoint.sessions[0].tell(.state(.disconnected))
        guard case .disconnected? = await events.next(isolation: #isolation) else {
            return #expect(Bool(false), "not disconnected")
        }
        #expect(await publication.status.state == .disconnected)
        endpoint.sessions[0].tell(.ended(WHIPError.lost))
        var pauses: [Duration] = []
        while clock.now.offset < .seconds(60) {
            let pause = try #require(try await failure(&events).pause)
            pauses.append(pause)
            let status = await publication.status
            #expect(status.state == .waiting && status.nextAttempt != nil && status.failure != nil)
            await pass()
        }
        #expect(pauses == [1, 2, 4, 8, 16, 30].map { .seconds($0) })
        await waitUntil { endpoint.sessions.count == 2 }
        endpoint.sessions[1].tell(.state(.connected))
        guard case .published(_, count: 2)? = await events.next(isolation: #isolation) else {
            return #expect(Bool(false), "not again")
        }
        let status = await publication.status
        #expect(status.state == .published && status.failure == nil && status.count == 2)
        #expect(endpoint.sessions[0].hasLeft)
        await publication.stop()
        #expect(endpoint.sessions[1].hasLeft)
        #expect(await publication.status.state == .ended)
    }

    @Test("A permanent error ends a publication before its first success, and is retried after it")
    func hopeless() async throws {
        let never = ScriptedEndpoint { _ in .fails(WHIPError.url, .permanent) }
        let publication = try publication(never)
        var events = publication.events.makeAsyncIterator()
        await publication.start()
        #expect(try await failure(&events).pause == nil)
        #expect(await publication.status.state == .failed && never.attempts == 1)
        await publication.stop()

        let again = ScriptedEndpoint { $0 == 2 ? .fails(WHIPError.url, .permanent) : .publishes }
        let second = try self.publication(again)
        events = await begin(second, again)
        again.sessions[0].tell(.ended(nil))
        #expect(try await failure(&events).error is PublicationEnded)
        await pass()
        #expect(try await failure(&events).pause == .seconds(2))
        await pass()
        await waitUntil { again.sessions.count == 2 }
        await second.stop()
    }

    @Test("A server that names the time of a retry gets no earlier request")
    func wishes() async throws {
        let endpoint = ScriptedEndpoint { attempt in
            .fails(ScriptedEndpoint.Failure(number: attempt), .retry(after: attempt == 1 ? .seconds(7) : nil))
        }
        let publication = try publication(endpoint)
        var events = publication.events.makeAsyncIterator()
        await publication.start()
        #expect(try await failure(&events).pause == .seconds(7))
        await pass()
        #expect(try await failure(&events).pause == .seconds(2))
        await publication.stop()
    }

    @Test("The first pause is short again after half a minute of publication")
    func settled() async throws {
        let endpoint = ScriptedEndpoint { _ in .publishes }
        let publication = try publication(endpoint)
        var events = await begin(publication, endpoint)
        for (number, pause) in [(0, 1), (1, 2)] {
            endpoint.sessions[number].tell(.ended(WHIPError.lost))
            #expect(try await failure(&events).pause == .seconds(pause))
            await pass()
            await waitUntil { endpoint.sessions.count == number + 2 }
            endpoint.sessions[number + 1].tell(.state(.connected))
            guard case .published? = await events.next(isolation: #isolation) else {
                return #expect(Bool(false), "not published")
            }
        }
        await waitUntil { clock.sleeperCount == 1 }
        #expect(clock.wakeNext() == .seconds(30))
        // The pauses must be reset before the next failure.
        await waitUntil { await publication.pauses == RetryPauses() }
        endpoint.sessions[2].tell(.ended(WHIPError.lost))
        #expect(try await failure(&events).pause == .seconds(1))
        await publication.stop()
    }

    @Test("A publication stops at once, whatever it waits for")
    func stopped() async throws {
        let endpoint = ScriptedEndpoint { $0 == 1 ? .fails(Self.unreachable, .transient) : .publishes }
        let waiting = try publication(endpoint)
        var events = waiting.events.makeAsyncIterator()
        await waiting.start()
        _ = try await failure(&events)
        await waitUntil { clock.sleeperCount == 1 }
        await waiting.stop()
        #expect(endpoint.attempts == 1 && clock.sleeperCount == 0)
        #expect(await events.next(isolation: #isolation) == nil)

        let connecting = try publication(endpoint)
        await connecting.start()
        await waitUntil { await connecting.status.viewer != nil }
        await connecting.stop()
        #expect(endpoint.sessions.last?.hasLeft == true)
        await connecting.start()
        #expect(await connecting.status.state == .ended && endpoint.attempts == 2)
    }

    @Test("Two publications and a viewer share one encoding, and a publication that fails does not affect the others")
    func places() async throws {
        let share = try await PublishingFixture()
        let (office, world) = (try await PlayedServer(), try await PlayedServer())
        var bad = PlayedServer.Part()
        bad.refusal = .init(.forbidden)
        let closed = try await PlayedServer(bad)
        var publications: [Publication] = []
        for server in [office, world, closed] {
            let publication = Publication(of: share.room, at: try await share.endpoint(server))
            await publication.start()
            publications.append(publication)
        }
        await waitUntil { await publications[2].status.state == .failed }
        await waitUntil { await publications[0].status.state == .published }
        await waitUntil { await publications[1].status.state == .published }
        let pictures = PictureCounter(try #require(await world.sessions.first))
        await pictures.wait()
        share.screen.stop()
        try await Task.sleep(for: .milliseconds(100))
        var counts: [Int] = []
        for viewer in await share.room.viewers {
            let streams = try #require(await share.room.stats(of: viewer.id)).outboundRTP.values
            counts.append(try #require(streams.compactMap(\.encoder).first).framesEncoded)
        }
        #expect(counts.count == 2 && Set(counts).count == 1 && counts[0] > 0, "\(counts)")

        // Its goodbye is that of a server that ends.
        await office.sessions.first?.leave()
        await waitUntil { await publications[0].status.count == 2 }
        try share.screen.start()
        await pictures.wait(for: 10)
        #expect(await publications[1].status.count == 1)
        #expect(await share.room.viewers.count == 2)
        for publication in publications { await publication.stop() }
        for server in [office, world, closed] { await server.end() }
        await share.end()
    }
}

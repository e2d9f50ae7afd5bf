import Foundation
import Logging
import NIOHTTP1
import NIOPosix
import RTCShareLocks
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareSignaling

/// A handle over HTTP, with a server that plays Janus' part.
@Suite(.timeLimit(.minutes(1))) struct JanusHandleTests {
    /// Answers requests by their `janus`, and polls by queued messages.
    private actor PlayedJanus {
        private var answers: [String: String] = [
            "create": #"{"janus":"success","transaction":"T","data":{"id":1}}"#,
            "attach": #"{"janus":"success","transaction":"T","data":{"id":2}}"#,
            "message": #"{"janus":"ack","transaction":"T"}"#, "destroy": #"{"janus":"success","transaction":"T"}"#,
        ]
        private(set) var asked: [String] = []
        private(set) var polls: [String] = []
        /// The transaction of the newest message to the plugin.
        private(set) var transaction = ""
        private var queued: [String] = []
        private var claims = 0
        private var server: HTTPServer?
        private(set) var port: UInt16 = 0

        init() async throws {
            let server = try await HTTPServer.start(
                addresses: [.v4(0x7F00_0001)], ports: [0], tls: nil, logger: Logger(label: "test")
            ) { [weak self] request in
                await self?.respond(to: request) ?? HTTPResponse(.serviceUnavailable)
            }
            self.server = server
            port = server.port
        }

        var address: JanusAddress {
            get throws { try #require(JanusAddress("http://127.0.0.1:\(port)/janus")) }
        }

        /// The event that answers the newest message.
        var joined: String {
            """
            {"janus":"event","transaction":"\(transaction)","sender":2,"plugindata":{"data":{"videoroom":"joined"}}}
            """
        }

        func answer(_ request: String, by text: String) { answers[request] = text }
        func say(_ text: String) { queued.append(text) }
        func end() async { await server?.close() }

        private struct Request: Decodable {
            let janus: String
            let transaction: String
        }

        private func respond(to request: HTTPRequest) async -> HTTPResponse {
            if request.method == .GET {
                polls.append(request.target.query.map(String.init) ?? "")
                // Longer than a poll after which the next one waits.
                let (deadline, claimsBefore) = (ContinuousClock.now + .seconds(2), claims)
                while queued.isEmpty || claims != claimsBefore, ContinuousClock.now < deadline {
                    try? await Task.sleep(for: .milliseconds(5))
                }
                // A poll from before a claim gets no events, like that of another client.
                guard claims == claimsBefore else { return HTTPResponse(.serviceUnavailable) }
                let text = queued.isEmpty ? #"{"janus":"keepalive"}"# : "[\(queued.joined(separator: ","))]"
                queued = []
                return HTTPResponse(.ok, type: "application/json", body: Array(text.utf8))
            }
            guard let asked = try? JSONDecoder().decode(Request.self, from: Data(request.body)) else {
                return HTTPResponse(.badRequest)
            }
            self.asked.append(asked.janus)
            if asked.janus == "claim", answers["claim"] == nil { claims += 1 }
            if asked.janus == "message" { transaction = asked.transaction }
            let text = answers[asked.janus, default: #"{"janus":"ack","transaction":"T"}"#]
            return HTTPResponse(
                .ok, type: "application/json",
                body: Array(text.replacing("\"T\"", with: "\"\(asked.transaction)\"").utf8))
        }
    }

    private func opened(
        _ server: PlayedJanus, _ credentials: JanusCredentials = JanusCredentials()
    ) async throws -> JanusHandle {
        let handle = JanusHandle(
            try await server.address, credentials, eventLoopGroup: .singleton, logger: Logger(label: "test"))
        try await handle.open()
        return handle
    }

    @Test("A later event of the plugin answers a request, before or after its acknowledgement")
    func answers() async throws {
        let server = try await PlayedJanus()
        let handle = try await opened(server, JanusCredentials(secret: "a b&c", token: "ü"))
        async let answered = handle.ask(JanusRoomRequest("join"))
        await waitUntil { await !server.transaction.isEmpty }
        await server.say(
            """
            {"janus":"event","transaction":"\(await server.transaction)","sender":2,"plugindata":{"data":{"videoroom":"joined"}},\
            "jsep":{"type":"offer","sdp":"v=0"}}
            """)
        let answer = try await answered
        #expect(answer.report.videoroom == "joined" && answer.description?.sdp == "v=0")
        #expect(await server.polls.first?.contains("apisecret=a%20b%26c&token=%C3%BC") == true)
        await handle.close()
        #expect(await server.asked == ["create", "attach", "message", "destroy"])
        await server.end()
    }

    @Test("A session continues through new connections, through which waiting requests are sent again")
    func reconnecting() async throws {
        let server = try await PlayedJanus()
        let handle = try await opened(server)
        await waitUntil { await server.polls.count == 1 }
        async let answered = handle.ask(JanusRoomRequest("join"))
        await waitUntil { await !server.transaction.isEmpty }
        try await handle.reconnect()
        await waitUntil { await server.polls.count == 2 }
        await waitUntil { await server.asked.count == 5 }
        await server.say(await server.joined)
        #expect(try await answered.report.videoroom == "joined")
        await handle.close()
        #expect(await server.asked == ["create", "attach", "message", "claim", "message", "destroy"])
        await server.end()
    }

    @Test("A session keeps its connections if the server refuses others, and ends if it does not know the session")
    func refusedReconnection() async throws {
        let server = try await PlayedJanus()
        let handle = try await opened(server)
        await server.answer("claim", by: #"{"janus":"error","transaction":"T","error":{"code":457,"reason":"no"}}"#)
        try await handle.reconnect()
        async let answered = handle.ask(JanusRoomRequest("join"))
        await waitUntil { await !server.transaction.isEmpty }
        await server.say(await server.joined)
        #expect(try await answered.report.videoroom == "joined")
        await server.answer("claim", by: #"{"janus":"error","transaction":"T","error":{"code":458,"reason":"no"}}"#)
        await #expect(throws: JanusError.sessionGone) { try await handle.reconnect() }
        await handle.close()
        await #expect(throws: JanusError.connectionClosed) { try await handle.reconnect() }
        await server.end()
    }

    @Test("A rejection by the room has its code and its text")
    func refusals() async throws {
        let server = try await PlayedJanus()
        await server.answer(
            "message",
            by: """
                {"janus":"success","transaction":"T","sender":2,"plugindata":{"data":{"videoroom":"event","error_code":426,\
                "error":"No such room (5)"}}}
                """)
        let handle = try await opened(server)
        await #expect(throws: JanusError.refused(JanusRefusal(code: 426, sentence: "No such room (5)"))) {
            try await handle.ask(JanusRoomRequest("join"))
        }
        await handle.close()
        await server.end()
    }

    @Test("Losses, a hang-up and a missing session are reported, and events of another handle are not")
    func events() async throws {
        for (said, expected) in [
            (#"{"janus":"hangup","sender":2,"reason":"ICE failed"}"#, JanusError.hungUp(reason: "ICE failed")),
            (#"{"janus":"timeout","session_id":1}"#, .sessionGone),
            (#"{"janus":"error","error":{"code":458,"reason":"No such session"}}"#, .sessionGone),
        ] {
            let server = try await PlayedJanus()
            let handle = try await opened(server)
            await server.say(#"{"janus":"hangup","sender":3,"reason":"another's"}"#)
            await server.say(#"{"janus":"error","transaction":"t9","error":{"code":456,"reason":"late"}}"#)
            await server.say(#"{"janus":"slowlink","sender":2,"uplink":true,"lost":9}"#)
            await server.say(said)
            var told: [String] = []
            for await event in handle.events {
                switch event {
                case .losses(let count): told.append("\(count)")
                case .ended(let error): #expect(error as? JanusError == expected)
                case .report: Issue.record("nothing was reported")
                }
            }
            #expect(told == ["9"])
            await #expect(throws: JanusError.connectionClosed) { try await handle.ask(JanusRoomRequest("join")) }
            await server.end()
        }
    }

    @Test("The number of reported losses is clamped, and zero losses are not reported")
    func extremeLosses() async throws {
        let server = try await PlayedJanus()
        let handle = try await opened(server)
        for lost in [Int.max, .max, .min, -1, 0, 65_537, 1] {
            await server.say(#"{"janus":"slowlink","sender":2,"uplink":true,"lost":\#(lost)}"#)
        }
        await server.say(#"{"janus":"timeout","session_id":1}"#)
        var told: [Int] = []
        for await event in handle.events { if case .losses(let count) = event { told.append(count) } }
        #expect(told == [65_536, 65_536, 65_536, 1])
        await server.end()
    }

    @Test("An answer that is not from Janus is reported as such")
    func noJanus() async throws {
        let server = try await PlayedJanus()
        await server.answer("create", by: "<html>It works!</html>")
        let handle = JanusHandle(
            try await server.address, JanusCredentials(), eventLoopGroup: .singleton, logger: Logger(label: "test"))
        await #expect(throws: JanusError.self) { try await handle.open() }
        await handle.close()
        await server.end()
    }

    @Test("A cancelled request ends its wait")
    func givenUp() async throws {
        let server = try await PlayedJanus()
        let handle = try await opened(server)
        let asking = Task { try await handle.ask(JanusRoomRequest("join")) }
        await waitUntil { await !server.transaction.isEmpty }
        asking.cancel()
        await #expect(throws: CancellationError.self) { _ = try await asking.value }
        await handle.close()
        await server.end()
    }
}

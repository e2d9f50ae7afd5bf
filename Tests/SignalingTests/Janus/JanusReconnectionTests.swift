import Foundation
import Logging
import RTCShareLocks
import TestSupport
import Testing

@testable import RTCShareSignaling

/// Reconnections of a handle, through transports that a test plays, in virtual time.
@Suite(.timeLimit(.minutes(1))) struct JanusReconnectionTests {
    /// A transport that answers the requests that begin a session, and others if a test wants it.
    private final class PlayedTransport: JanusTransport {
        let arrivals: AsyncThrowingStream<JanusMessage, any Error>
        let keepalivePause: Duration? = .seconds(25)
        private let continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation
        private let requests = Locked<[JanusRequest]>([])
        private let answered: Set<String>

        init(answering answered: Set<String> = []) {
            self.answered = answered.union(["create", "attach"])
            (arrivals, continuation) = AsyncThrowingStream.makeStream(of: JanusMessage.self)
        }

        /// The kinds of the requests so far.
        var asked: [String] { requests.withLock { $0.map(\.janus) } }
        /// The transaction of the newest request.
        var transaction: String { requests.withLock { $0.last?.transaction ?? "" } }

        func say(_ text: String) {
            guard let message = try? JSONDecoder().decode(JanusMessage.self, from: Data(text.utf8)) else {
                Issue.record("this is not a message: \(text)")
                return
            }
            continuation.yield(message)
        }

        /// Answers the newest request.
        func succeed() { say(#"{"janus":"success","transaction":"\#(transaction)","data":{"id":1}}"#) }

        @concurrent func send(_ request: JanusRequest) async throws {
            requests.withLock { $0.append(request) }
            if answered.contains(request.janus) { succeed() }
        }

        func poll(session: UInt64) {}
        func close() { continuation.finish(throwing: JanusError.connectionClosed) }
    }

    private struct Scene {
        let clock = ManualClock()
        let handle: JanusHandle
        let former: PlayedTransport
        let new: PlayedTransport

        init(answeringClaim: Bool = false) async throws {
            let former = PlayedTransport()
            let new = PlayedTransport(answering: answeringClaim ? ["claim"] : [])
            let isOpened = Locked(false)
            handle = JanusHandle(
                try #require(JanusAddress("ws://127.0.0.1:8188")), JanusCredentials(), logger: Logger(label: "test"),
                clock: clock
            ) {
                let isFurther = isOpened.withLock { isOpened in
                    defer { isOpened = true }
                    return isOpened
                }
                return isFurther ? new : former
            }
            self.former = former
            self.new = new
            try await handle.open()
            // The pause before the first keepalive request.
            await waitUntil { [clock] in clock.sleeperCount == 1 }
        }

        /// Expects an answer to a request through a transport.
        func expectAnswer(through transport: PlayedTransport) async throws {
            let asking = Task { [handle] in try await handle.ask(JanusRoomRequest("list")).report.videoroom }
            await waitUntil { transport.asked.last == "message" }
            transport.say(
                """
                {"janus":"success","transaction":"\(transport.transaction)","sender":1,"plugindata":{"data":{"videoroom":"success"}}}
                """)
            #expect(try await asking.value == "success")
        }

        /// The reason for the end of the handle.
        func reasonOfEnd() async -> (any Error)? {
            for await event in handle.events { if case .ended(let error) = event { return error } }
            return nil
        }
    }

    @Test("A request that is sent again through new connections has the whole time for its answer again")
    func timeoutOfRepeatedRequest() async throws {
        let scene = try await Scene(answeringClaim: true)
        #expect(scene.clock.wakeNext() == .seconds(25))
        await waitUntil { scene.former.asked.last == "keepalive" && scene.clock.sleeperCount == 1 }
        let passing = Task { try await scene.clock.sleep(for: .seconds(14)) }
        await waitUntil { scene.clock.sleeperCount == 2 }
        #expect(scene.clock.wakeNext() == .seconds(14))
        try await passing.value
        try await scene.handle.reconnect()
        await waitUntil { scene.new.asked == ["claim", "keepalive"] && scene.clock.sleeperCount == 1 }
        #expect(scene.clock.wakeNext() == .seconds(15))
        #expect(await scene.reasonOfEnd() is HTTPClientError)
    }

    @Test("The end of a new connection before the server has agreed keeps the former connection")
    func endDuringClaim() async throws {
        let scene = try await Scene()
        let reconnecting = Task { try await scene.handle.reconnect() }
        await waitUntil { scene.new.asked == ["claim"] }
        scene.new.close()
        await #expect(throws: HTTPClientError.self) { try await reconnecting.value }
        try await scene.expectAnswer(through: scene.former)
        await scene.handle.close()
    }

    @Test("The end of a new connection to which the session has moved ends the session")
    func endAfterClaim() async throws {
        let scene = try await Scene()
        let reconnecting = Task { try await scene.handle.reconnect() }
        await waitUntil { scene.new.asked == ["claim"] }
        scene.new.succeed()
        scene.new.close()
        // The end can arrive before or after the reconnection has returned.
        _ = await reconnecting.result
        #expect(await scene.reasonOfEnd() as? JanusError == .connectionClosed)
    }

    @Test("An error of the former connection does not end a session that continues through a new one")
    func errorOfFormerConnection() async throws {
        let scene = try await Scene()
        let reconnecting = Task { try await scene.handle.reconnect() }
        await waitUntil { scene.new.asked == ["claim"] }
        scene.former.say(#"{"janus":"error","error":{"code":458,"reason":"No such session"}}"#)
        scene.new.succeed()
        try await reconnecting.value
        try await scene.expectAnswer(through: scene.new)
        await scene.handle.close()
    }
}

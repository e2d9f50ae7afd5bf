internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import NIOPosix
internal import RTCShareContentShare
internal import RTCShareSDP

/// A Janus session with one handle of the VideoRoom plugin: sends requests, and receives their answers and events.
@SharingActor final class JanusHandle {
    /// An event of the server.
    enum Event: Sendable {
        /// An event of the plugin.
        case report(JanusRoomReport, JanusDescription?)
        /// The server missed so many packets of the sent media.
        case losses(Int)
        /// The handle has ended, for this reason.
        case ended(any Error)
    }

    /// A request that waits for its answer.
    private struct Question {
        let request: JanusRequest
        let continuation: CheckedContinuation<JanusMessage, any Error>
        /// Whether an acknowledgment is the answer, or a later event of the plugin.
        let takesReceipt: Bool
        /// The transport that the request was sent through last.
        var transport: any JanusTransport
        /// The timeout for the answer since then.
        var timeout: Task<Void, Never>
    }

    /// A connection that continues the session when the server has agreed.
    private struct Claim {
        let transport: any JanusTransport
        /// The reason for the end of the connection; nil while it is open.
        var failure: (any Error)?
    }

    /// The server's events until the end, for one reader.
    nonisolated let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let address: JanusAddress
    private let credentials: JanusCredentials
    private let logger: Logger
    private let clock: any Clock<Duration>
    /// Opens a connection to the server.
    private let openTransport: @Sendable () async throws -> any JanusTransport
    private var transport: (any JanusTransport)?
    private var session: UInt64?
    private var handle: UInt64?
    private var questions: [String: Question] = [:]
    private var questionsSoFar = 0
    private var tasks: [Task<Void, Never>] = []
    private var hasEnded = false
    private var isReconnecting = false
    /// The connection of a ``reconnect()``; nil without one.
    private var claim: Claim?
    /// The failure of the former connection during a ``reconnect()``; nil for none.
    private var failure: (any Error)?

    /// The maximum number of waiting events. Each can have a description of 1 MiB.
    private nonisolated static let mostWaiting = 64
    private static let plugin = "janus.plugin.videoroom"
    /// The time to wait for STUN and TURN servers before a description is created.
    static let gatheringPatience = Duration.seconds(5)
    /// The timeout for an answer.
    private static let patience = Duration.seconds(15)
    /// The timeout for the end of the session.
    private static let closingTime = Duration.seconds(3)

    /// Creates a handle, which ``open()`` starts; a WebSocket uses `eventLoopGroup`.
    nonisolated convenience init(
        _ address: JanusAddress, _ credentials: JanusCredentials, eventLoopGroup: MultiThreadedEventLoopGroup,
        logger: Logger
    ) {
        self.init(address, credentials, logger: logger, clock: ContinuousClock()) {
            guard address.isWebSocket else { return JanusLongPoll(address.url, credentials) }
            return try await JanusWebSocket.open(address.url, on: eventLoopGroup)
        }
    }

    /// Creates a handle with a given clock and given connections.
    nonisolated init(
        _ address: JanusAddress, _ credentials: JanusCredentials, logger: Logger, clock: any Clock<Duration>,
        openTransport: @escaping @Sendable () async throws -> any JanusTransport
    ) {
        (self.address, self.credentials, self.logger) = (address, credentials, logger)
        (self.clock, self.openTransport) = (clock, openTransport)
        (events, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
    }

    /// Starts the session.
    /// - Throws: ``JanusError``, ``HTTPClientError``.
    func open() async throws {
        let transport = try await connect()
        self.transport = transport
        listen(to: transport)
        let session = try await ask(JanusRequest("create"), takesReceipt: true).identified
        self.session = session
        transport.poll(session: session)
        if let pause = transport.keepalivePause {
            tasks.append(Task { [weak self] in await self?.keepAlive(every: pause) })
        }
        var attaching = JanusRequest("attach")
        attaching.plugin = Self.plugin
        handle = try await ask(attaching, takesReceipt: true).identified
    }

    /// Continues the session through new connections. Where the machine has lost an address, the former ones are silent,
    /// and the server does not know: it sends its next event there. If the server refuses, nothing changes.
    /// - Throws: ``JanusError``, ``HTTPClientError``. The former connections are kept then.
    func reconnect() async throws {
        guard let session, let former = transport, !hasEnded, !isReconnecting else { throw JanusError.connectionClosed }
        isReconnecting = true
        defer {
            isReconnecting = false
            claim = nil
            if transport === former, let failure { end(for: failure) }
            failure = nil
        }
        let transport = try await connect()
        claim = Claim(transport: transport)
        listen(to: transport)
        do {
            _ = try await ask(JanusRequest("claim"), takesReceipt: true, through: transport)
            guard !hasEnded else { throw CancellationError() }
        } catch {
            transport.close()
            if case JanusError.connectionClosed = error, !hasEnded {
                throw HTTPClientError.unreachable(address.url.origin, "the connection was closed")
            }
            guard case JanusError.refused = error else { throw error }
            return logger.info("the session keeps its connections: \(error)")
        }
        self.transport = transport
        // Not before: the end of a WebSocket ends the sessions that were not claimed from it.
        former.close()
        if let failure = claim?.failure {
            // The session belongs to a connection that has ended.
            end(for: failure)
            throw failure
        }
        transport.poll(session: session)
        for (transaction, question) in questions {
            question.timeout.cancel()
            questions[transaction]?.timeout = startTimeout(of: transaction)
            questions[transaction]?.transport = transport
            send(question.request, through: transport)
        }
    }

    private func connect() async throws -> any JanusTransport {
        let transport = try await openTransport()
        guard !hasEnded else {
            transport.close()
            throw CancellationError()
        }
        return transport
    }

    /// Receives messages until the transport is closed.
    private func listen(to transport: any JanusTransport) {
        Task { [weak self] in await self?.hear(transport) }
    }

    /// Sends a request to the plugin, and returns its answer.
    /// - Throws: ``JanusError``, ``HTTPClientError``.
    func ask(
        _ body: JanusRoomRequest, _ description: JanusDescription? = nil
    ) async throws -> (report: JanusRoomReport, description: JanusDescription?) {
        var request = JanusRequest("message")
        request.body = body
        request.description = description
        let message = try await ask(request, takesReceipt: false)
        guard let report = message.plugindata?.data else { throw JanusError.noAnswer }
        if let code = report.errorCode { throw JanusError.refused(JanusRefusal(code: code, sentence: report.error)) }
        return (report, message.description)
    }

    /// Sends a request about a room. A server with `string_ids` rejects a number as the room's id: then the request is
    /// repeated with a text, which `request` has from then on.
    func ask(ofRoom request: inout JanusRoomRequest) async throws -> JanusRoomReport {
        do {
            return try await ask(request).report
        } catch JanusError.refused(let refusal) where refusal.meaning == .wrongKind && refusal.names("room") {
            request.room = request.room?.asName
            return try await ask(request).report
        }
    }

    /// Sends a candidate to the server, if it can be reached.
    func send(_ candidate: CandidateAttribute, mid: String) async {
        var request = JanusRequest("trickle")
        request.candidate = JanusCandidate(sdpMid: mid, candidate: "candidate:\(candidate.value)")
        do {
            _ = try await ask(request, takesReceipt: true)
        } catch {
            logger.debug("a candidate could not be sent: \(error)")
        }
    }

    /// Ends the session, and notifies the server, if it can be reached.
    func close() async {
        guard !hasEnded else { return }
        if let transport, let session {
            var request = complete(JanusRequest("destroy"))
            request.sessionID = session
            request.handleID = nil
            let told = Task { [request] in try? await transport.send(request) }
            let waiting = Task {
                guard (try? await Task.sleep(for: Self.closingTime)) != nil else { return }
                told.cancel()
                // Ends the write to a server that reads nothing.
                transport.close()
            }
            _ = await told.value
            waiting.cancel()
        }
        end(for: nil)
    }

    // MARK: Requests

    private func complete(_ request: JanusRequest) -> JanusRequest {
        questionsSoFar += 1
        var request = request
        request.transaction = "t\(questionsSoFar)"
        request.sessionID = session
        request.handleID = handle
        request.secret = credentials.secret
        request.token = credentials.token
        return request
    }

    private func ask(
        _ request: JanusRequest, takesReceipt: Bool, through other: (any JanusTransport)? = nil
    ) async throws -> JanusMessage {
        guard let transport = other ?? transport, !hasEnded else { throw JanusError.connectionClosed }
        let request = complete(request)
        let transaction = request.transaction
        let message = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                questions[transaction] = Question(
                    request: request, continuation: continuation, takesReceipt: takesReceipt, transport: transport,
                    timeout: startTimeout(of: transaction))
                send(request, through: transport)
                if Task.isCancelled { answer(transaction, .failure(CancellationError())) }
            }
        } onCancel: {
            SharingActor.post { self.answer(transaction, .failure(CancellationError())) }
        }
        if let error = message.error { throw JanusError(error) }
        return message
    }

    /// Starts the timeout for the answer to a request.
    private func startTimeout(of transaction: String) -> Task<Void, Never> {
        Task { [weak self, address, clock] in
            // After a restart of the timeout, this one can still be on its way to the actor.
            guard (try? await clock.sleep(for: Self.patience)) != nil, !Task.isCancelled else { return }
            self?.answer(
                transaction, .failure(HTTPClientError.unreachable(address.url.origin, "it does not answer")))
        }
    }

    private func send(_ request: JanusRequest, through transport: any JanusTransport) {
        Task {
            do {
                try await transport.send(request)
            } catch {
                // What a former connection loses is sent again, during a reconnection or after it.
                let isFormer = isReconnecting == (transport === self.transport)
                if !isFormer { answer(request.transaction, .failure(error)) }
            }
        }
    }

    private func answer(_ transaction: String, _ result: Result<JanusMessage, any Error>) {
        guard let question = questions.removeValue(forKey: transaction) else { return }
        question.timeout.cancel()
        question.continuation.resume(with: result)
    }

    // MARK: Reception

    private func hear(_ transport: any JanusTransport) async {
        do {
            for try await message in transport.arrivals { take(message, from: transport) }
        } catch {
            lose(transport, for: error)
        }
    }

    /// Handles the end of a transport, or an error that the server reports through it. An error of the former transport
    /// ends the session only if it can't be continued through the new one.
    private func lose(_ transport: any JanusTransport, for error: any Error) {
        if transport === self.transport {
            if isReconnecting { failure = error } else { end(for: error) }
            return
        }
        if transport === claim?.transport { claim?.failure = error }
        for (transaction, question) in questions where question.transport === transport {
            answer(transaction, .failure(error))
        }
    }

    private func take(_ message: JanusMessage, from transport: any JanusTransport) {
        if let transaction = message.transaction, let question = questions[transaction] {
            // An acknowledgment of a request that the plugin has not answered yet.
            if message.janus == "ack", !question.takesReceipt { return }
            return answer(transaction, .success(message))
        }
        guard message.sender == nil || message.sender == handle else { return }
        switch message.janus {
        case "event":
            if let report = message.plugindata?.data { continuation.yield(.report(report, message.description)) }
        case "slowlink":
            // `uplink` is from the server's point of view: what it receives.
            if message.uplink == true, message.packetsLost > 0 { continuation.yield(.losses(message.packetsLost)) }
        case "hangup": end(for: JanusError.hungUp(reason: message.reason))
        case "timeout", "detached": end(for: JanusError.sessionGone)
        case "error":
            // A request that was sent twice, or was answered too late, can fail after its answer.
            guard let refusal = message.error else { return }
            let error = JanusError(refusal)
            if message.transaction == nil || error == .sessionGone { lose(transport, for: error) }
        default: logger.debug("the server says \(message.janus)")
        }
    }

    private func keepAlive(every pause: Duration) async {
        while !hasEnded {
            guard (try? await clock.sleep(for: pause)) != nil else { return }
            var request = JanusRequest("keepalive")
            request.transaction = "keepalive"
            do {
                _ = try await ask(request, takesReceipt: true)
            } catch {
                // The connections that are new may be better.
                if !isReconnecting { return end(for: error) }
            }
        }
    }

    /// Closes the handle, with a last event if there is a reason.
    func end(for reason: (any Error)?) {
        guard !hasEnded else { return }
        hasEnded = true
        transport?.close()
        for task in tasks { task.cancel() }
        for transaction in questions.keys { answer(transaction, .failure(reason ?? CancellationError())) }
        if let reason { continuation.yield(.ended(reason)) }
        continuation.finish()
    }
}

extension JanusMessage {
    /// The id of a created object.
    fileprivate var identified: UInt64 {
        get throws(JanusError) {
            guard let data else { throw .noAnswer }
            return data.id
        }
    }
}

internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import NIOPosix
internal import RTCShareContentShare
internal import RTCShareSDP

/// A session with a Janus and one handle in it, of the VideoRoom plugin: requests, each with what is said to it, and what
/// comes by itself.
@SharingActor final class JanusHandle {
    /// What comes by itself.
    enum Event: Sendable {
        /// The plugin says something that it was not asked for.
        case report(JanusRoomReport, JanusDescription?)
        /// Of what is sent so many packets were missed.
        case losses(Int)
        /// It is over, for this reason.
        case ended(any Error)
    }

    /// What is waited for.
    private struct Question {
        let continuation: CheckedContinuation<JanusMessage, any Error>
        /// Whether a receipt is the answer, or what the plugin says later.
        let takesReceipt: Bool
    }

    /// What comes by itself, until the end; one reader.
    nonisolated let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let address: JanusAddress
    private let credentials: JanusCredentials
    private let eventLoopGroup: MultiThreadedEventLoopGroup
    private let logger: Logger
    private var transport: (any JanusTransport)?
    private var session: UInt64?
    private var handle: UInt64?
    private var questions: [String: Question] = [:]
    private var questionsSoFar = 0
    private var tasks: [Task<Void, Never>] = []
    private var hasEnded = false

    /// Events that wait for their reader. Each can hold a description of 1 MiB.
    private nonisolated static let mostWaiting = 64
    private static let plugin = "janus.plugin.videoroom"
    /// How long to wait for servers that help to connect before a description is made.
    static let gatheringPatience = Duration.seconds(5)
    /// How long an answer may take.
    private static let patience = Duration.seconds(15)
    /// How long the server may take to hear of the end.
    private static let closingTime = Duration.seconds(3)

    /// A handle that ``open()`` begins; a WebSocket lives on `eventLoopGroup`.
    nonisolated init(
        _ address: JanusAddress, _ credentials: JanusCredentials, eventLoopGroup: MultiThreadedEventLoopGroup,
        logger: Logger
    ) {
        (self.address, self.credentials, self.logger) = (address, credentials, logger)
        self.eventLoopGroup = eventLoopGroup
        (events, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(Self.mostWaiting))
    }

    /// Begins the session.
    /// - Throws: ``JanusError``, ``HTTPClientError``.
    func open() async throws {
        let transport: any JanusTransport =
            address.isWebSocket
            ? try await JanusWebSocket.open(address.url, on: eventLoopGroup) : JanusLongPoll(address.url, credentials)
        guard !hasEnded else {
            transport.close()
            throw CancellationError()
        }
        self.transport = transport
        tasks.append(Task { [weak self] in await self?.hear(transport) })
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

    /// Asks the plugin, and waits for what it says to it.
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

    /// Asks for something of a room, which `request` has as the server calls it then: one with `string_ids` calls rooms by
    /// a number, too.
    func ask(ofRoom request: inout JanusRoomRequest) async throws -> JanusRoomReport {
        do {
            return try await ask(request).report
        } catch JanusError.refused(let refusal) where refusal.meaning == .wrongKind && refusal.names("room") {
            request.room = request.room?.asName
            return try await ask(request).report
        }
    }

    /// Tells the server of a candidate, as far as it can be reached.
    func send(_ candidate: CandidateAttribute, mid: String) async {
        var request = JanusRequest("trickle")
        request.candidate = JanusCandidate(sdpMid: mid, candidate: "candidate:\(candidate.value)")
        do {
            _ = try await ask(request, takesReceipt: true)
        } catch {
            logger.debug("a candidate could not be sent: \(error)")
        }
    }

    /// Ends the session, and tells the server so, as far as it can be reached.
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

    // MARK: Questions and answers

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

    private func ask(_ request: JanusRequest, takesReceipt: Bool) async throws -> JanusMessage {
        guard let transport, !hasEnded else { throw JanusError.connectionClosed }
        let request = complete(request)
        let transaction = request.transaction
        let late = Task { [weak self, address] in
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            self?.answer(
                transaction, .failure(HTTPClientError.unreachable(address.url.origin, "it does not answer")))
        }
        defer { late.cancel() }
        let message = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                questions[transaction] = Question(continuation: continuation, takesReceipt: takesReceipt)
                Task {
                    do { try await transport.send(request) } catch { answer(transaction, .failure(error)) }
                }
                if Task.isCancelled { answer(transaction, .failure(CancellationError())) }
            }
        } onCancel: {
            SharingActor.post { self.answer(transaction, .failure(CancellationError())) }
        }
        if let error = message.error { throw JanusError(error) }
        return message
    }

    private func answer(_ transaction: String, _ result: Result<JanusMessage, any Error>) {
        questions.removeValue(forKey: transaction)?.continuation.resume(with: result)
    }

    // MARK: What arrives

    private func hear(_ transport: any JanusTransport) async {
        do {
            for try await message in transport.arrivals { take(message) }
        } catch {
            end(for: error)
        }
    }

    private func take(_ message: JanusMessage) {
        if let transaction = message.transaction, let question = questions[transaction] {
            // A receipt of what the plugin has yet to say something to.
            if message.janus == "ack", !question.takesReceipt { return }
            return answer(transaction, .success(message))
        }
        guard message.sender == nil || message.sender == handle else { return }
        switch message.janus {
        case "event":
            if let report = message.plugindata?.data { continuation.yield(.report(report, message.description)) }
        case "slowlink":
            // `uplink` is the server's view: what it is sent.
            if message.uplink == true, message.packetsLost > 0 { continuation.yield(.losses(message.packetsLost)) }
        case "hangup": end(for: JanusError.hungUp(reason: message.reason))
        case "timeout", "detached": end(for: JanusError.sessionGone)
        case "error":
            if let error = message.error { end(for: JanusError(error)) }
        default: logger.debug("the server says \(message.janus)")
        }
    }

    private func keepAlive(every pause: Duration) async {
        while !hasEnded {
            guard (try? await Task.sleep(for: pause)) != nil else { return }
            var request = JanusRequest("keepalive")
            request.transaction = "keepalive"
            do {
                _ = try await ask(request, takesReceipt: true)
            } catch {
                return end(for: error)
            }
        }
    }

    /// Closes it, which is the last event if there is a reason.
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
    /// The id of what was made.
    fileprivate var identified: UInt64 {
        get throws(JanusError) {
            guard let data else { throw .noAnswer }
            return data.id
        }
    }
}

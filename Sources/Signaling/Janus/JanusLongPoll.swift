internal import FoundationEssentials
internal import RTCShareLocks
internal import RTCShareWireFormat

/// Janus over HTTP: a POST for each request, and a GET that waits for events.
///
/// A failed poll is repeated: the session survives interruptions that are shorter than the server's timeout, a minute
/// by default. The server reports a session that it has dropped.
final class JanusLongPoll: JanusTransport {
    let arrivals: AsyncThrowingStream<JanusMessage, any Error>
    let keepalivePause: Duration? = nil
    private let continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation
    private let url: WebAddress
    private let credentials: JanusCredentials
    private let polling = Locked<Task<Void, Never>?>(nil)

    /// The time for which a server keeps a poll open (30 s), with a reserve for the network.
    private static let pollTime = Duration.seconds(45)
    /// The number of messages that a poll requests, and the maximum number that is read from a response.
    private static let mostMessages = 10
    private static let mostMessagesRead = 64

    init(_ url: WebAddress, _ credentials: JanusCredentials) {
        self.url = url
        self.credentials = credentials
        (arrivals, continuation) = AsyncThrowingStream.makeStream(
            of: JanusMessage.self, bufferingPolicy: .bufferingOldest(mostMessagesWaiting))
    }

    @concurrent func send(_ request: JanusRequest) async throws {
        let parts = [request.sessionID, request.handleID].compactMap { $0.map(String.init) }
        guard let address = Self.address(parts, at: url) else { throw JanusError.url }
        var asked = HTTPClient.Request(method: "POST", url: address, leavesOrigin: false)
        asked.headers = [("Content-Type", "application/json")]
        asked.body = Array(try JSONEncoder().encode(request))
        let response = try await HTTPClient().perform(asked)
        take(try Self.messages(in: response))
    }

    /// Delivers messages. The reader is always faster than an honest server.
    private func take(_ messages: [JanusMessage]) {
        for message in messages.prefix(Self.mostMessagesRead) {
            guard case .dropped = continuation.yield(message) else { continue }
            continuation.finish(throwing: JanusError.connectionClosed)
        }
    }

    /// Returns `…/janus/1/2`, whatever the query is.
    private static func address(_ parts: [String], at url: WebAddress) -> WebAddress? {
        parts.reduce(url) { url, part in url?.appending(path: part) }
    }

    /// Parses the messages of a response. Throws if it is not from Janus.
    static func messages(in response: HTTPClient.Response) throws(JanusError) -> [JanusMessage] {
        let data = Data(response.text)
        let decoder = JSONDecoder()
        if let messages = try? decoder.decode([JanusMessage].self, from: data) { return messages }
        guard let message = try? decoder.decode(JanusMessage.self, from: data) else {
            throw .noJanus(status: response.status, sentence: response.sentence)
        }
        return [message]
    }

    func poll(session: UInt64) {
        polling.withLock { task in
            guard task == nil else { return }
            task = Task { [weak self] in
                var pace = PollPace()
                while !Task.isCancelled {
                    let start = ContinuousClock.now
                    guard let outcome = await self?.poll(session) else { return }
                    guard let pause = pace.pause(after: outcome, taking: ContinuousClock.now - start) else { continue }
                    guard (try? await Task.sleep(for: pause)) != nil else { return }
                }
            }
        }
    }

    private func poll(_ session: UInt64) async -> PollPace.Outcome {
        var query = "?maxev=\(Self.mostMessages)"
        for (name, value) in [("apisecret", credentials.secret), ("token", credentials.token)] {
            if let value { query += "&\(name)=\(Self.escaped(value))" }
        }
        guard let address = Self.address([String(session)], at: url)?.resolving(query) else { return .failure }
        var client = HTTPClient()
        client.timeout = Self.pollTime
        do {
            let messages = try Self.messages(
                in: await client.perform(HTTPClient.Request(method: "GET", url: address, leavesOrigin: false)))
            let news = messages.filter { $0.janus != "keepalive" }
            take(news)
            return news.contains { $0.janus == "error" } ? .failure : news.isEmpty ? .nothing : .news
        } catch {
            return .failure
        }
    }

    /// Returns a text in the form for a query (RFC 3986 §3.4).
    private static func escaped(_ text: String) -> String {
        text.percentEncoded { byte in
            let character = Character(UnicodeScalar(byte))
            return character.isASCII && (character.isLetter || character.isNumber || "-._~".contains(character))
        }
    }

    func close() {
        polling.withLock { $0 }?.cancel()
        continuation.finish()
    }
}

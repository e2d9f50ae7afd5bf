internal import FoundationEssentials
internal import RTCShareLocks
internal import RTCShareWireFormat

/// Janus over HTTP: a POST for a request, and a GET that waits for what comes by itself.
///
/// A poll that fails is made again: the session outlives what is shorter than the server's patience, a minute by default. One
/// that was forgotten meanwhile is said to be.
final class JanusLongPoll: JanusTransport {
    let arrivals: AsyncThrowingStream<JanusMessage, any Error>
    let keepalivePause: Duration? = nil
    private let continuation: AsyncThrowingStream<JanusMessage, any Error>.Continuation
    private let url: WebAddress
    private let credentials: JanusCredentials
    private let polling = Locked<Task<Void, Never>?>(nil)

    /// How long a server keeps a poll open (30 s), and something for the way.
    private static let pollTime = Duration.seconds(45)
    /// The messages that a poll asks for, and those that are read of a response.
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

    /// Hands messages on. The reader is always faster than an honest server.
    private func take(_ messages: [JanusMessage]) {
        for message in messages.prefix(Self.mostMessagesRead) {
            guard case .dropped = continuation.yield(message) else { continue }
            continuation.finish(throwing: JanusError.connectionClosed)
        }
    }

    /// `…/janus/1/2`, whatever stands behind the path.
    private static func address(_ parts: [String], at url: WebAddress) -> WebAddress? {
        parts.reduce(url) { url, part in url?.appending(path: part) }
    }

    /// What is no Janus' words is no message.
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

    /// A text as it stands in a query (RFC 3986 §3.4).
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

/// How soon one poll follows another: at once where the server waited or had something to say, and after a pause where it
/// fails or answers at once over and over.
struct PollPace {
    enum Outcome {
        case news, nothing, failure
    }

    private var quickPolls = 0

    private static let pause = Duration.seconds(1)
    /// A server that waits takes longer.
    private static let shortestWait = Duration.seconds(1)
    /// More polls with news in a row, each sooner than that, are not those of a room.
    private static let mostQuickPolls = 10

    /// The pause after a poll, nil for none.
    mutating func pause(after outcome: Outcome, taking time: Duration) -> Duration? {
        guard time < Self.shortestWait else {
            quickPolls = 0
            return outcome == .failure ? Self.pause : nil
        }
        quickPolls += 1
        return outcome != .news || quickPolls > Self.mostQuickPolls ? Self.pause : nil
    }
}

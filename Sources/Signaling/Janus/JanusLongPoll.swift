internal import FoundationEssentials
internal import RTCShareLocks

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
    private static let pollPause = Duration.seconds(1)
    private static let mostMessages = 10

    init(_ url: WebAddress, _ credentials: JanusCredentials) {
        self.url = url
        self.credentials = credentials
        (arrivals, continuation) = AsyncThrowingStream.makeStream(of: JanusMessage.self)
    }

    func send(_ request: JanusRequest) async throws {
        let parts = [request.sessionID, request.handleID].compactMap { $0.map(String.init) }
        guard let place = Self.place(parts, at: url) else { throw JanusError.url }
        var asked = HTTPClient.Request(method: "POST", url: place)
        asked.headers = [("Content-Type", "application/json")]
        asked.body = Array(try JSONEncoder().encode(request))
        let response = try await HTTPClient().perform(asked)
        for message in try Self.messages(in: response) { continuation.yield(message) }
    }

    /// `…/janus/1/2`, whatever stands behind the path.
    private static func place(_ parts: [String], at url: WebAddress) -> WebAddress? {
        parts.reduce(url) { url, part in url?.appending(path: part) }
    }

    /// What is no Janus' words is no message.
    static func messages(in response: HTTPClient.Response) throws(JanusError) -> [JanusMessage] {
        let data = Data(response.body)
        let decoder = JSONDecoder()
        if let messages = try? decoder.decode([JanusMessage].self, from: data) { return messages }
        guard let message = try? decoder.decode(JanusMessage.self, from: data) else {
            throw .noJanus(status: response.status, sentence: response.sentence)
        }
        return [message]
    }

    func follow(session: UInt64) {
        polling.withLock { task in
            guard task == nil else { return }
            task = Task { [weak self] in
                while !Task.isCancelled {
                    guard let succeeded = await self?.poll(session) else { return }
                    if !succeeded { guard (try? await Task.sleep(for: Self.pollPause)) != nil else { return } }
                }
            }
        }
    }

    private func poll(_ session: UInt64) async -> Bool {
        var query = "?maxev=\(Self.mostMessages)"
        for (name, value) in [("apisecret", credentials.secret), ("token", credentials.token)] {
            if let value { query += "&\(name)=\(Self.escaped(value))" }
        }
        guard let place = Self.place([String(session)], at: url)?.resolving(query) else { return false }
        var client = HTTPClient()
        client.timeout = Self.pollTime
        do {
            let messages = try Self.messages(
                in: await client.perform(HTTPClient.Request(method: "GET", url: place)))
            for message in messages where message.janus != "keepalive" { continuation.yield(message) }
            return !messages.contains { $0.janus == "error" }
        } catch {
            return false
        }
    }

    /// A text as it stands in a query (RFC 3986 §3.4).
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                return String(character)
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }.joined()
    }

    func close() {
        polling.withLock { $0 }?.cancel()
        continuation.finish()
    }
}

internal import FoundationEssentials
internal import Glibc
internal import Logging
public import RTCShareContentShare
public import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// Watches what a WHEP server shows (draft-ietf-wish-whep): offers, receives, mends the connection, and takes its leave.
///
/// Links of a ``ViewerServer`` are taken as they are, and the URLs of other servers' endpoints.
public actor WHEPPlayer {
    /// The pictures and sounds that come: for tiles, sounds, statistics and the end.
    public nonisolated let session: AttendeeSession
    private let endpoint: WebAddress
    private let token: AccessToken?
    private let client = HTTPClient()
    private let logger: Logger
    private let usesOwnServers: Bool
    /// Where the session is at the server; nil before there is one, and where the server did not say.
    private var resource: WebAddress?
    private var entityTag: String?
    private var offer: SessionDescription?
    private var answer: SessionDescription?
    private var listener: PlayerListener?
    private var isEnding = false

    /// The pictures, and the sounds, that are asked for at most.
    private static let sections = 2

    /// A player of what a URL leads to. A token in a link counts before `token`.
    public init(
        url: String, token: AccessToken? = nil, as viewer: AttendeeID,
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws {
        guard let address = WebAddress(url) else { throw WHEPError.url }
        var endpoint = address
        if address.fragment != nil || address.path.hasSuffix("/") {
            guard let own = address.appending(path: "whep") else { throw WHEPError.url }
            endpoint = own
        }
        self.endpoint = endpoint
        self.token = try Self.token(in: address) ?? token
        var configuration = configuration
        configuration.trickles = true
        // There is a way to restart while this lasts.
        configuration.restartPatience = .seconds(30)
        usesOwnServers = !configuration.iceServers.isEmpty
        logger = configuration.logger
        session = try await AttendeeSession.receiving(
            as: viewer, pictures: Self.sections, sounds: Self.sections, configuration: configuration)
    }

    private static func token(in address: WebAddress) throws(WHEPError) -> AccessToken? {
        guard let fragment = address.fragment else { return nil }
        do {
            return try AccessToken(presenting: fragment)
        } catch {
            throw .token(error)
        }
    }

    /// Offers, and takes the answer. What comes then, ``session`` tells.
    /// - Throws: ``WHEPError``, ``HTTPClientError``, `NegotiationError`. The session has ended then.
    public func start() async throws {
        let listener = PlayerListener { [weak self] event in
            Task { await self?.session(did: event) }
        }
        self.listener = listener
        session.add(observer: listener)
        do {
            try await meet()
        } catch {
            isEnding = true
            await session.leave()
            throw error
        }
    }

    private func meet() async throws {
        let connection = session.connection
        if usesOwnServers { try await connection.gather(patience: .seconds(5)) }
        let offer = try await connection.makeOffer()
        let response = try await send("POST", to: endpoint, "application/sdp", offer.description)
        guard response.isSuccess, response.body.starts(with: Array("v=0".utf8)) else { throw WHEPError(response) }
        let answer = try SessionDescription.parse(utf8: response.body)
        resource = response["Location"].flatMap { response.url.resolving($0) }
        if resource == nil { logger.warning("the server does not say where the session is: it can't be told the end") }
        entityTag = response["ETag"]
        self.offer = offer
        self.answer = answer
        try await connection.accept(answer: answer, to: offer)
        if !usesOwnServers { await useServers(of: response) }
    }

    /// Gathers from the servers that the answer names; what they find is told one by one.
    private func useServers(of response: HTTPClient.Response) async {
        for link in response.all("Link").flatMap({ LinkHeader.parse($0) }) {
            guard let server = link.iceServer else { continue }
            do {
                let known = try ICEServer(url: server.url, username: server.username, password: server.credential)
                await session.connection.gather(servers: try await known.resolve())
            } catch {
                logger.info("a server that was named is of no use: \(error)")
            }
        }
    }

    /// Tells the server the end, and leaves.
    public func leave() async {
        isEnding = true
        if let resource {
            var client = client
            client.timeout = .seconds(3)
            // Its refusal changes nothing.
            _ = try? await client.perform(
                HTTPClient.Request(method: "DELETE", url: resource, token: token(for: resource)))
        }
        await session.leave()
    }

    // MARK: While it plays

    private func session(did event: PlayerListener.Event) async {
        guard !isEnding else { return }
        switch event {
        case .needsRestart: await restart()
        case .found(let candidate, let mid, let ufrag): await tell(candidate, mid: mid, ufrag: ufrag)
        }
    }

    /// Finds another way, where the server takes part; else the connection fails in its time and says why.
    private func restart() async {
        guard let resource, let answer else { return }
        let connection = session.connection
        await connection.restartICE()
        do {
            let offer = try await connection.makeOffer()
            var request = HTTPClient.Request(method: "PATCH", url: resource, token: token(for: resource))
            request.headers = [("Content-Type", TrickleFragment.mediaType), ("If-Match", "\"*\"")]
            request.body = Array(TrickleFragment.text(of: offer).utf8)
            let response = try await client.perform(request)
            guard response.status == 200, let text = String(validating: response.body, as: UTF8.self) else {
                throw WHEPError(response)
            }
            let fragment = try TrickleFragment(parsing: text)
            let renewed = try SessionDescription.parse(fragment.replacing(in: answer).description)
            try await connection.accept(answer: renewed, to: offer)
            self.offer = offer
            self.answer = renewed
            entityTag = response["ETag"] ?? entityTag
        } catch {
            logger.info("another way could not be asked for: \(error)")
            await connection.rollbackOffer()
        }
    }

    private func tell(_ candidate: CandidateAttribute, mid: String, ufrag: String) async {
        guard let resource, let offer, let section = offer.media.first(where: { (try? $0.mid()) == mid }) else {
            return
        }
        let password = section.attribute("ice-pwd")?.attributeValue ?? ""
        var request = HTTPClient.Request(method: "PATCH", url: resource, token: token(for: resource))
        request.headers = [("Content-Type", TrickleFragment.mediaType)]
        if let entityTag { request.headers.append(("If-Match", entityTag)) }
        let lines = [
            "a=ice-ufrag:\(ufrag)", "a=ice-pwd:\(password)", section.line.description, "a=mid:\(mid)",
            SDPLine(attribute: "candidate", candidate.value).description,
        ]
        request.body = Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
        do {
            let response = try await client.perform(request)
            if !response.isSuccess { logger.debug("a candidate was refused: \(response.status)") }
        } catch {
            logger.debug("a candidate could not be told: \(error)")
        }
    }

    /// Whoever the endpoint leads to, elsewhere, has a session and not the token.
    private func token(for url: WebAddress) -> AccessToken? { url.origin == endpoint.origin ? token : nil }

    private func send(
        _ method: String, to url: WebAddress, _ type: String, _ body: String
    ) async throws(HTTPClientError) -> HTTPClient.Response {
        try await client.perform(
            HTTPClient.Request(
                method: method, url: url, headers: [("Content-Type", type), ("Accept", type)], body: Array(body.utf8),
                token: token))
    }
}

private final class PlayerListener: AttendeeSessionObserver {
    enum Event: Sendable {
        case needsRestart
        case found(CandidateAttribute, mid: String, ufrag: String)
    }

    private let hear: @Sendable (Event) -> Void

    init(_ hear: @escaping @Sendable (Event) -> Void) { self.hear = hear }

    func sessionNeedsRestart() { hear(.needsRestart) }
    func sessionDidFind(_ candidate: CandidateAttribute, mid: String, ufrag: String) {
        hear(.found(candidate, mid: mid, ufrag: ufrag))
    }
}

/// Why a WHEP server shows nothing.
public enum WHEPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no URL of the web.
    case url
    /// The link's secret is none.
    case token(AccessTokenError)
    /// The server refuses: its status, and its own sentence where it said one.
    case refused(status: Int, sentence: String?)
    /// What the server said is no answer.
    case noAnswer(status: Int)

    init(_ response: HTTPClient.Response) {
        self =
            response.isSuccess
            ? .noAnswer(status: response.status) : .refused(status: response.status, sentence: response.sentence)
    }

    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .url: "this is no link; give one that begins with http:// or https://"
        case .token(let error): "the link's secret, behind the #, is not whole: \(error)"
        case .noAnswer(let status):
            "the server accepts (\(status)) and gives no answer; is the URL that of its WHEP endpoint?"
        case .refused(let status, let sentence):
            "the server refuses (\(status)\(Self.meaning(of: status)))" + (sentence.map { ": \($0)" } ?? "")
        }
    }

    private static func meaning(of status: Int) -> String {
        switch status {
        case 401, 403: ", not permitted"
        case 404, 405: ", nothing there"
        case 406: ", nothing that can be received"
        case 409: ", not there yet"
        case 410: ", over"
        case 429, 503: ", try again later"
        default: ""
        }
    }
}

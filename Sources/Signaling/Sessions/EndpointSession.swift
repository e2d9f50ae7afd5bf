internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A session at an endpoint of WHIP (RFC 9725) or WHEP (draft-ietf-wish-whep), which are alike in this: a POST of an offer
/// begins it, a PATCH tells of candidates or restarts ICE, a DELETE ends it.
///
/// Servers differ from what is written in nearly all of it. What says that it is an answer is taken for one; that
/// candidates, restarts or the end are refused is no error.
@SharingActor final class EndpointSession: ServerSession {
    /// Why there is no session.
    enum Failure: Error {
        case refused(EndpointRefusal)
        /// The server accepts, and what it says is no answer.
        case noAnswer(status: Int, sentence: String?)
    }

    private let endpoint: WebAddress
    private let token: AccessToken?
    private let connection: Connection
    /// Whether the program named servers that help to connect: those that the endpoint names are not asked then.
    private let usesOwnServers: Bool
    private let logger: Logger
    /// Throws if an answer is of no use.
    private let check: @Sendable (SessionDescription) throws -> Void
    private let explain: @Sendable (Failure) -> any Error
    private var client = HTTPClient()
    /// Where the session is at the server; nil before there is one, and where the server did not say. It may hold secrets.
    private var resource: WebAddress?
    /// The endpoint, which says where the session is; nil before it answered.
    private var guide: HTTPClient.Guide?
    /// Where the server says how the session stands; nil if it does not.
    private var stateAddress: WebAddress?
    private var entityTag: String?
    private var offer: SessionDescription?
    private var answer: SessionDescription?
    /// What the server is to be told yet, by the user name fragment that it belongs to.
    private var candidates: [(candidate: CandidateAttribute, mid: String, ufrag: String)] = []
    private var isTelling = false
    private var takesCandidates = true

    private static let descriptionType = "application/sdp"
    /// How long a request goes on that nobody waits for any more: its answer says what there is to end.
    private static let grace = Duration.seconds(2)
    /// How long to wait for own servers before the offer is made.
    private static let gatheringPatience = Duration.seconds(5)
    /// The servers that are used of those that an answer names, and how long looking up their addresses can take.
    private static let mostServers = 8
    private static let resolvingTime = Duration.seconds(5)
    /// How long the server may take to hear of the end.
    private static let closingTime = Duration.seconds(3)

    nonisolated init(
        endpoint: WebAddress, token: AccessToken?, connection: Connection, usesOwnServers: Bool, logger: Logger,
        check: @escaping @Sendable (SessionDescription) throws -> Void = { _ in },
        explain: @escaping @Sendable (Failure) -> any Error
    ) {
        self.endpoint = endpoint
        self.token = token
        self.connection = connection
        self.usesOwnServers = usesOwnServers
        self.logger = logger
        self.check = check
        self.explain = explain
    }

    // MARK: The beginning

    /// Offers with all candidates that are known, and takes the answer once `check` finds nothing wrong with it.
    /// - Throws: what `explain` makes of a ``Failure``, ``HTTPClientError``, `SDPError`, `NegotiationError`, whatever `check`
    ///   throws. There may be a session at the server all the same: ``end()`` ends it.
    func begin() async throws -> DataRate? {
        if usesOwnServers { try await connection.gather(patience: Self.gatheringPatience) }
        let offer = try await connection.makeOffer()
        let response = try await post(offer)
        resource = response["Location"].flatMap { response.url.resolving($0) }
        guide = response.guide
        guard response.isSuccess else {
            resource = nil
            throw explain(.refused(EndpointRefusal(response, token: tokenUse(at: response.url))))
        }
        guard let text = Self.description(in: response.text) else {
            throw explain(.noAnswer(status: response.status, sentence: response.sentence))
        }
        if resource == nil {
            logger.warning("the server gave no URL of the session, so it can't be notified of the end")
        }
        entityTag = response["ETag"]
        let states = response.all("Link").flatMap { LinkHeader.parse($0) }.filter(\.isState)
        stateAddress = states.first.flatMap { response.url.resolving($0.target) }
        let answer = try SessionDescription.parse(utf8: text)
        try check(answer)
        try Task.checkCancellation()
        try await connection.accept(answer: answer, to: offer)
        self.offer = offer
        self.answer = answer
        // A server that is slow to take candidates delays nothing.
        Task { await sendWaiting() }
        if !usesOwnServers { await withTimeLimit(Self.resolvingTime) { [self] in await useServers(of: response) } }
        return nil
    }

    /// What begins as an answer does, whatever its type is said to be.
    private static func description(in body: ArraySlice<UInt8>) -> [UInt8]? {
        let text = body.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }
        return text.starts(with: "v=0".utf8) ? Array(text) : nil
    }

    /// Sends the offer. Who gives up meanwhile waits for a moment all the same: a session that nobody knows of would keep
    /// others from its place until the server misses the packets.
    private func post(_ offer: SessionDescription) async throws -> HTTPClient.Response {
        let request = HTTPClient.Request(
            method: "POST", url: endpoint,
            headers: [("Content-Type", Self.descriptionType), ("Accept", Self.descriptionType)],
            body: Array(offer.description.utf8), token: token)
        let client = client
        let asking = Task { try await client.perform(request) }
        return try await withTaskCancellationHandler {
            try await asking.value
        } onCancel: {
            Task {
                try? await Task.sleep(for: Self.grace)
                asking.cancel()
            }
        }
    }

    /// Gathers from the servers that the answer names; what they find is told one by one.
    private func useServers(of response: HTTPClient.Response) async {
        let servers = response.all("Link").flatMap { LinkHeader.parse($0) }.filter { $0.iceServer != nil }
        for reading in servers.prefix(Self.mostServers).flatMap(\.iceServerReadings) {
            guard !Task.isCancelled else { return }
            do {
                let known = try ICEServer(urls: reading.url, username: reading.username, credential: reading.credential)
                await connection.gather(servers: try await known.resolve())
            } catch {
                logger.info("a server that was named is of no use: \(error)")
            }
        }
    }

    // MARK: While it lasts

    /// Servers of these kinds say nothing by themselves.
    func receiveNotices(_ take: @Sendable (SessionNotice) async -> Void) {}

    /// Tells the server of a candidate, once there is a session.
    func send(_ candidate: CandidateAttribute, mid: String, ufrag: String) async {
        candidates.append((candidate, mid, ufrag))
        await sendWaiting()
    }

    /// Tells the server what it does not know yet, of which more may come meanwhile.
    private func sendWaiting() async {
        guard !isTelling, offer != nil else { return }
        isTelling = true
        defer { isTelling = false }
        while let first = candidates.first, takesCandidates, resource != nil {
            let group = candidates.filter { $0.mid == first.mid && $0.ufrag == first.ufrag }
            candidates.removeAll { $0.mid == first.mid && $0.ufrag == first.ufrag }
            await send(group.map(\.candidate), mid: first.mid, ufrag: first.ufrag)
        }
        candidates = []
    }

    private func send(_ candidates: [CandidateAttribute], mid: String, ufrag: String) async {
        guard let resource, let section = offer?.media.first(where: { (try? $0.mid()) == mid }) else { return }
        let password = section.attribute("ice-pwd")?.attributeValue ?? ""
        let lines =
            ["a=ice-ufrag:\(ufrag)", "a=ice-pwd:\(password)", section.line.description, "a=mid:\(mid)"]
            + candidates.map { SDPLine(attribute: "candidate", $0.value).description }
        do {
            let response = try await patch(resource, lines.map { $0 + "\r\n" }.joined(), ifMatch: entityTag)
            guard !response.isSuccess else { return }
            logger.debug("candidates were refused: \(response.status)")
            // Who takes none takes no others either; who has another session by now is asked again.
            takesCandidates = response.status == 412
        } catch {
            logger.debug("candidates could not be sent: \(error)")
        }
    }

    /// Asks for another way. Until there is one, media go on as they did.
    func restart() async -> SessionRestart {
        guard let resource, let answer else { return .refused }
        await connection.restartICE()
        do {
            let offer = try await connection.makeOffer()
            let response = try await patchRestart(resource, TrickleFragment.text(of: offer))
            guard response.status == 200, let text = String(validating: response.text, as: UTF8.self) else {
                await connection.rollbackOffer()
                logger.info("the server takes no restart: \(response.status)")
                return [404, 410].contains(response.status) ? .gone : .refused
            }
            let fragment = try TrickleFragment(parsing: text)
            let renewed = try SessionDescription.parse(fragment.replacing(in: answer).description)
            try await connection.accept(answer: renewed, to: offer)
            self.offer = offer
            self.answer = renewed
            entityTag = response["ETag"] ?? entityTag
            return .begun
        } catch {
            await connection.rollbackOffer()
            logger.info("another route could not be requested: \(error)")
            return error is HTTPClientError ? .unreachable : .refused
        }
    }

    /// Some servers know the mark of a restart as RFC 9110 has it alone, `*`, and some in quotes.
    private func patchRestart(_ resource: WebAddress, _ fragment: String) async throws -> HTTPClient.Response {
        let response = try await patch(resource, fragment, ifMatch: "*")
        guard response.status == 412 || response.status == 428 else { return response }
        return try await patch(resource, fragment, ifMatch: "\"*\"")
    }

    private func patch(
        _ resource: WebAddress, _ fragment: String, ifMatch tag: String?
    ) async throws -> HTTPClient.Response {
        var request = request("PATCH", at: resource)
        request.headers = [("Content-Type", TrickleFragment.mediaType)]
        if let tag { request.headers.append(("If-Match", tag)) }
        request.body = Array(fragment.utf8)
        return try await client.perform(request)
    }

    /// How a session stands, as far as its player needs to know.
    enum State: String, Decodable {
        /// The presenter has not admitted the viewer yet.
        case waiting
        /// The presenter removed the viewer.
        case removed
        /// The presenter removed the viewer instead of admitting it.
        case declined
    }

    /// Asks the server how the session stands; nil if it does not say, or says something else.
    func state() async -> State? {
        struct Body: Decodable {
            let state: State
        }
        guard let stateAddress else { return nil }
        var client = client
        client.timeout = Self.closingTime
        guard let response = try? await client.perform(request("GET", at: stateAddress)), response.isSuccess else {
            return nil
        }
        return (try? JSONDecoder().decode(Body.self, from: Data(response.text)))?.state
    }

    // MARK: The end

    /// Tells the server the end. Its refusal changes nothing.
    func end() async {
        guard let resource else { return }
        self.resource = nil
        var client = client
        client.timeout = Self.closingTime
        _ = try? await client.perform(request("DELETE", at: resource))
    }

    // MARK: The token

    /// Whoever the endpoint leads to, elsewhere, has a session and not the token, and is no nearer to this machine.
    private func request(_ method: String, at resource: WebAddress) -> HTTPClient.Request {
        let isOwn = resource.origin == endpoint.origin
        return HTTPClient.Request(
            method: method, url: resource, token: isOwn ? token : nil, guide: isOwn ? nil : guide)
    }

    private func tokenUse(at url: WebAddress) -> EndpointRefusal.TokenUse {
        guard token != nil else { return .none }
        return url.origin == endpoint.origin ? .shown : .withheld(from: url.origin)
    }
}

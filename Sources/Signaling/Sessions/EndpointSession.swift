internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A session at a WHIP (RFC 9725) or WHEP (draft-ietf-wish-whep) endpoint, which have this in common: a POST of an
/// offer starts it, a PATCH sends candidates or restarts ICE, a DELETE ends it.
///
/// Servers deviate from nearly all of that. Anything that looks like an answer is accepted as one, and a rejection of
/// candidates, restarts or the end is not an error.
@SharingActor final class EndpointSession: ServerSession {
    /// The reason why there is no session.
    enum Failure: Error {
        case refused(EndpointRefusal)
        /// The server accepted, but its response is not a valid answer.
        case noAnswer(status: Int, sentence: String?)
    }

    /// A closure that throws if an answer to an offer is not usable.
    typealias AnswerCheck = @Sendable (_ answer: SessionDescription, _ offer: SessionDescription) throws -> Void

    private let endpoint: WebAddress
    private let token: AccessToken?
    private let connection: Connection
    /// Whether the program named ICE servers: those that the endpoint names are not used then.
    private let usesOwnServers: Bool
    /// The only kind of route to use; nil for all.
    private let filter: RouteFilter?
    private let logger: Logger
    private let check: AnswerCheck
    private let explain: @Sendable (Failure) -> any Error
    private var client = HTTPClient()
    /// The URL of the session at the server; nil before there is one, or if the server did not name it. It may contain
    /// secrets.
    private var resource: WebAddress?
    /// The endpoint, which names the session's URL; nil before it answered.
    private var guide: HTTPClient.Guide?
    /// The URL of the session's state at the server; nil if there is none.
    private var stateAddress: WebAddress?
    private var entityTag: String?
    private var offer: SessionDescription?
    private var answer: SessionDescription?
    /// The candidates that the server has not received yet, with their user name fragments.
    private var candidates: [(candidate: CandidateAttribute, mid: String, ufrag: String)] = []
    /// The candidates of the answer, also those of other kinds of routes.
    private(set) var answeredCandidates: [CandidateAttribute] = []
    /// The URLs of the servers that the answer names.
    private(set) var namedServers: [String] = []
    private var isTelling = false
    /// Whether the server has not answered an ICE restart yet.
    private var isRestarting = false
    private var takesCandidates = true

    private static let descriptionType = "application/sdp"
    /// The time for which a canceled request continues: its answer names the session that must be ended.
    private static let grace = Duration.seconds(2)
    /// The time to wait for the program's ICE servers before the offer is created.
    private static let gatheringPatience = Duration.seconds(5)
    /// The maximum number of the answer's ICE servers that are used, and the timeout for resolving their names.
    private static let mostServers = 8
    private static let resolvingTime = Duration.seconds(5)
    /// The timeout for the end of the session.
    private static let closingTime = Duration.seconds(3)

    nonisolated init(
        endpoint: WebAddress, token: AccessToken?, connection: Connection, usesOwnServers: Bool,
        filter: RouteFilter? = nil, isRetry: Bool = false, logger: Logger,
        check: @escaping AnswerCheck = { _, _ in },
        explain: @escaping @Sendable (Failure) -> any Error
    ) {
        self.endpoint = endpoint
        self.token = token
        self.connection = connection
        self.usesOwnServers = usesOwnServers
        self.filter = filter
        self.logger = logger
        self.check = check
        self.explain = explain
        if filter != nil { client.userAgent = "rtcshare-doctor" }
        client.isRepeated = isRetry
    }

    // MARK: Start

    /// Sends an offer with all known candidates, and sets the answer after `check`.
    /// - Throws: The error of `explain` for a ``Failure``, ``HTTPClientError``, `SDPError`, `NegotiationError`, or the
    ///   error of `check`. There may still be a session at the server, which ``end()`` ends.
    func begin() async throws -> DataRate? {
        if usesOwnServers { try await connection.gather(patience: Self.gatheringPatience) }
        let offer = try await connection.makeOffer()
        let response = try await post(
            filter.map { filter in offer.keepingCandidates { filter.reveals($0) } } ?? offer)
        resource = response["Location"].flatMap { response.url.resolving($0) }
        guide = response.guide
        guard response.isSuccess else {
            resource = nil
            let refusal = EndpointRefusal(
                response, token: tokenUse(at: response.url), codecs: offer.videoCodecs)
            throw explain(.refused(refusal))
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
        var answer = try await SessionDescription.reading(text)
        try check(answer, offer)
        try Task.checkCancellation()
        if let filter { answer = apply(filter, to: answer, of: response) }
        try await connection.accept(answer: answer, to: offer)
        self.offer = offer
        self.answer = answer
        // A server that is slow to accept candidates delays nothing.
        Task { await sendWaiting() }
        if !usesOwnServers, filter?.kind.needsServers ?? true {
            await withTimeLimit(Self.resolvingTime) { [self] in await useServers(of: response) }
        }
        return nil
    }

    /// Returns the answer with only the candidates for a kind of route.
    private func apply(
        _ filter: RouteFilter, to answer: SessionDescription, of response: HTTPClient.Response
    ) -> SessionDescription {
        answeredCandidates = answer.readableCandidates
        namedServers = response.all("Link").flatMap { LinkHeader.parse($0) }.compactMap { $0.iceServer?.url }
        return answer.keepingCandidates { filter.includes($0) }
    }

    /// Returns a body that begins like an answer, whatever its declared type.
    private static func description(in body: ArraySlice<UInt8>) -> [UInt8]? {
        let text = body.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }
        return text.starts(with: "v=0".utf8) ? Array(text) : nil
    }

    /// Sends the offer. After a cancellation it still waits briefly: an unknown session would block others from its URL
    /// until the server misses the packets.
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

    /// Gathers from the ICE servers that the answer names; new candidates are trickled.
    private func useServers(of response: HTTPClient.Response) async {
        let servers = response.all("Link").flatMap { LinkHeader.parse($0) }.filter { $0.iceServer != nil }
        for server in servers.prefix(Self.mostServers) {
            guard !Task.isCancelled else { return }
            let readings = server.iceServerReadings.compactMap { reading in
                do {
                    return try ICEServer(
                        urls: reading.url, username: reading.username, credential: reading.credential)
                } catch {
                    logger.info("a server that was named is of no use: \(error)")
                    return nil
                }
            }
            await connection.gather(readings)
        }
    }

    // MARK: Events

    /// Returns at once, because these servers send no events.
    func receiveNotices(_ take: @Sendable (SessionNotice) async -> Void) {}

    /// Sends a candidate to the server, when there is a session.
    func send(_ candidate: CandidateAttribute, mid: String, ufrag: String) async {
        guard filter?.reveals(candidate) ?? true else { return }
        candidates.append((candidate, mid, ufrag))
        await sendWaiting()
    }

    /// Sends the waiting candidates of the offer that the server has; more may arrive during that. Those of a restart wait
    /// until the server has accepted it, and those of a former offer are dropped.
    private func sendWaiting() async {
        guard !isTelling, offer != nil else { return }
        isTelling = true
        defer { isTelling = false }
        while takesCandidates, resource != nil, let (section, mid) = nextSection() {
            let group = candidates.filter { $0.mid == mid && section.hasFragment($0.ufrag) }
            candidates.removeAll { $0.mid == mid && section.hasFragment($0.ufrag) }
            await send(group.map(\.candidate), of: section, mid: mid)
        }
        if !isRestarting { candidates = [] }
    }

    /// The section of the first waiting candidate of the offer; nil if there is none.
    private func nextSection() -> (section: MediaDescription, mid: String)? {
        for candidate in candidates {
            let section = offer?.media.first { (try? $0.mid()) == candidate.mid }
            if let section, section.hasFragment(candidate.ufrag) { return (section, candidate.mid) }
        }
        return nil
    }

    private func send(_ candidates: [CandidateAttribute], of section: MediaDescription, mid: String) async {
        guard let resource else { return }
        let lines =
            ["ice-ufrag", "ice-pwd"].compactMap { section.attribute($0)?.description }
            + [section.line.description, "a=mid:\(mid)"]
            + candidates.map { SDPLine(attribute: "candidate", $0.value).description }
        do {
            let fragment = lines.map { $0 + "\r\n" }.joined()
            let response = try await client.perform(patch(of: resource, fragment, ifMatch: entityTag))
            guard !response.isSuccess else { return }
            logger.debug("candidates were refused: \(response.status)")
            // After a rejection no others are sent; after a changed entity tag they are.
            takesCandidates = response.status == 412
        } catch {
            logger.debug("candidates could not be sent: \(error)")
        }
    }

    /// Requests an ICE restart. Until there is another route, media continues on the old one.
    func restart() async -> SessionRestart {
        // A restart would bring candidates of other kinds of routes.
        guard filter == nil, let resource, let answer else { return .refused }
        isRestarting = true
        defer {
            isRestarting = false
            Task { await sendWaiting() }
        }
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
            // Passwords of servers may be valid for a limited time. The servers delay nothing.
            if !usesOwnServers { Task { await useServers(of: response) } }
            return .begun
        } catch {
            await connection.rollbackOffer()
            logger.info("another route could not be requested: \(error)")
            return error is HTTPClientError ? .unreachable : .refused
        }
    }

    /// Sends a restart. Some servers accept the entity tag of a restart only as in RFC 9110, `*`, and some in quotes.
    private func patchRestart(_ resource: WebAddress, _ fragment: String) async throws -> HTTPClient.Response {
        var client = client
        client.isRepeated = true
        let response = try await client.perform(patch(of: resource, fragment, ifMatch: "*"))
        guard response.status == 412 || response.status == 428 else { return response }
        return try await client.perform(patch(of: resource, fragment, ifMatch: "\"*\""))
    }

    private func patch(of resource: WebAddress, _ fragment: String, ifMatch tag: String?) -> HTTPClient.Request {
        var request = request("PATCH", at: resource)
        request.headers = [("Content-Type", TrickleFragment.mediaType)]
        if let tag { request.headers.append(("If-Match", tag)) }
        request.body = Array(fragment.utf8)
        return request
    }

    /// The state of a session, for its player.
    enum State: String, Decodable {
        /// The presenter has not admitted the viewer yet.
        case waiting
        /// The presenter removed the viewer.
        case removed
        /// The presenter removed the viewer instead of admitting it.
        case declined
    }

    /// Requests the session's state; nil if the server does not report it, or another one.
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

    // MARK: End

    /// Notifies the server of the end. A rejection has no effect.
    func end() async {
        guard let resource else { return }
        self.resource = nil
        var client = client
        client.timeout = Self.closingTime
        _ = try? await client.perform(request("DELETE", at: resource))
    }

    // MARK: Token

    /// Returns a request to a session's URL, which does not contain the token if it has another origin than the
    /// endpoint, and must not be nearer to this machine.
    private func request(_ method: String, at resource: WebAddress) -> HTTPClient.Request {
        let isOwn = resource.origin == endpoint.origin
        return HTTPClient.Request(
            method: method, url: resource, token: isOwn ? token : nil, guide: isOwn ? nil : guide)
    }

    private func tokenUse(at url: WebAddress) -> EndpointRefusal.TokenUse {
        guard token != nil else { return .none }
        return url.origin == endpoint.origin ? .shown : .withheld(from: url.place)
    }
}

extension MediaDescription {
    /// Whether the section has this user name fragment.
    fileprivate func hasFragment(_ fragment: String) -> Bool {
        attribute("ice-ufrag")?.attributeValue.map { $0 == fragment } ?? false
    }
}

extension String {
    /// Whether this URL of an ICE server is that of a relay (RFC 7065).
    var isRelay: Bool { lowercased().hasPrefix("turn") }
}

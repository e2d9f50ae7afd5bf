internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Requests of players: draft-ietf-wish-whep, with deviations of existing players.
///
///     POST   /whep, /whep/TOKEN      an offer → 201, the answer, and the session's location
///     PATCH  /whep/sessions/KEY      candidates → 204, new ICE credentials → 200 and ours
///     DELETE /whep/sessions/KEY      ends the session
///     GET    /whep/sessions/KEY/events, …/state, …/time
extension ViewerServer {
    private static let descriptionType = "application/sdp"

    func whep(_ path: [String], _ request: HTTPRequest) async throws(ProblemDetails) -> HTTPResponse {
        try checkOrigin(request)
        let crossOrigin = crossOriginHeaders(for: request)
        do throws(ProblemDetails) {
            var response = try await route(path, request)
            response.headers.add(contentsOf: crossOrigin)
            // All other requests have the token, or the key of a session.
            response.isForInvited = request.method != .OPTIONS
            return response
        } catch {
            var problem = error
            problem.headers += crossOrigin.map { ($0.name, $0.value) }
            throw problem
        }
    }

    private func route(_ path: [String], _ request: HTTPRequest) async throws(ProblemDetails) -> HTTPResponse {
        switch path.count {
        case 0: return try await endpoint(request, pathToken: nil)
        case 1: return try await endpoint(request, pathToken: path[0])
        case 2 where path[0] == "sessions": return try await resource(path[1], request)
        case 3 where path[0] == "sessions" && path[2] == "events": return try events(of: path[1], request)
        case 3 where path[0] == "sessions" && path[2] == "state": return try state(of: path[1], request)
        case 3 where path[0] == "sessions" && path[2] == "time": return try time(of: path[1], request)
        default: throw .notFound
        }
    }

    // MARK: Other sites

    /// Throws if a page of another site uses a share without a token, because its visitor did not choose that. With a
    /// token, the page was given the link.
    private func checkOrigin(_ request: HTTPRequest) throws(ProblemDetails) {
        guard configuration.token == nil, let origin = request["Origin"],
            !HostCheck.isOwn(origin: origin, host: request["Host"]), !isPublic(origin)
        else { return }
        throw ProblemDetails(
            .forbidden, "pages of other sites can't watch a share that has no token", type: "urn:rtcshare:foreign")
    }

    private func isPublic(_ origin: String) -> Bool { configuration.publicURL?.origin == origin }

    private func crossOriginHeaders(for request: HTTPRequest) -> HTTPHeaders {
        guard let origin = request["Origin"], configuration.token != nil else { return [:] }
        var headers: HTTPHeaders = [
            "Access-Control-Allow-Origin": origin, "Vary": "Origin",
            "Access-Control-Expose-Headers": "Location, ETag, Link, Retry-After, Accept-Patch",
        ]
        guard request.method == .OPTIONS else { return headers }
        headers.add(contentsOf: [
            "Access-Control-Allow-Methods": "POST, PATCH, DELETE, GET, OPTIONS",
            "Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match", "Access-Control-Max-Age": "600",
        ])
        return headers
    }

    // MARK: The endpoint

    private func endpoint(_ request: HTTPRequest, pathToken: String?) async throws(ProblemDetails) -> HTTPResponse {
        if request.method == .OPTIONS {
            var response = HTTPResponse(.ok)
            response.headers.add(name: "Allow", value: "POST, OPTIONS")
            response.headers.add(name: "Accept-Post", value: Self.descriptionType)
            // Credentials of TURN servers are only for clients with the token. A browser's preflight request has no
            // token. A client that is not a viewer yet gets none that are from a shared secret.
            if pathToken ?? Self.bearer(request) != nil {
                _ = try await membership(for: request, pathToken: pathToken)
                addServers(configuration.connection.iceServers.filter(\.isGranted), to: &response)
            }
            return response
        }
        try check(request, takes: [.POST, .OPTIONS])
        let membership = try await membership(for: request, pathToken: pathToken)
        guard request.contentType == Self.descriptionType else {
            throw ProblemDetails(
                .unsupportedMediaType, "an offer is \(Self.descriptionType)",
                headers: [("Accept-Post", Self.descriptionType)])
        }
        let client = clientAddress(of: request)
        let offer = try await offer(in: request.body, from: client)
        let (session, answer) = try await begin(
            offer, membership, client: client, browser: BrowserName.name(of: request["User-Agent"]))
        var response = HTTPResponse(.created, type: Self.descriptionType, text: answer.description)
        let location = Self.location(of: session.key, from: request.target)
        response.headers.add(name: "Location", value: location)
        response.headers.add(name: "Link", value: LinkHeader.state(at: location + "/state"))
        response.headers.add(name: "ETag", value: EntityTag.first.headerValue)
        response.headers.add(name: "Accept-Patch", value: TrickleFragment.mediaType)
        addServers(servers(for: session), to: &response)
        // The response did not reach the client, which does not know the session and will ask for another one.
        response.notTaken = { [weak self] in self?.remove(session) }
        return response
    }

    /// An offer, and the connection that can answer it.
    private struct Offer: Sendable {
        let description: SessionDescription
        let connection: Result<Connection, ProblemDetails>
    }

    /// Reads an offer if there is a place for its client, which counts as connecting meanwhile.
    private func offer(in body: [UInt8], from client: IPAddress?) async throws(ProblemDetails) -> Offer {
        _ = try checkPlace(for: client)
        let number = offersSoFar
        offersSoFar += 1
        offerNetworks[number] = .some(client?.clientNetwork)
        defer { offerNetworks[number] = nil }
        return try await offer(in: body)
    }

    /// Parses an offer and creates the connection that answers it. This takes milliseconds, so it runs on Swift's
    /// thread pool: anyone with the link can send offers.
    @concurrent
    private nonisolated func offer(in body: [UInt8]) async throws(ProblemDetails) -> Offer {
        let description: SessionDescription
        do {
            description = try SessionDescription.parse(utf8: body)
        } catch {
            throw ProblemDetails(.badRequest, "the offer is not a session description: \(error)")
        }
        let connection = Result {
            try room.connection(
                answering: description, media: configuration.media, configuration: configuration.connection)
        }
        return Offer(description: description, connection: connection.mapError(problem))
    }

    /// Returns the location of a session relative to the endpoint, `…/whep` or `…/whep/TOKEN`, because a proxy can have
    /// removed a part of the path (RFC 9110 §10.2.2).
    private static func location(of session: String, from endpoint: HTTPTarget) -> String {
        let isBare = endpoint.segments.last == "whep"
        let way =
            switch (isBare, endpoint.endsInSlash) {
            case (true, false): "whep/"
            case (true, true), (false, false): ""
            case (false, true): "../"
            }
        return way + "sessions/" + session
    }

    /// Returns the servers, with credentials of the viewer's own from a shared secret.
    private func servers(for session: ViewerSession) -> [ICEServer] {
        configuration.connection.iceServers.map { $0.granted(to: String(session.id)) }
    }

    private func addServers(_ servers: [ICEServer], to response: inout HTTPResponse) {
        for server in servers {
            let source = server.source
            response.headers.add(
                name: "Link",
                value: LinkHeader.iceServer(url: source.url, username: source.username, credential: source.password))
        }
    }

    // MARK: A session

    private func resource(_ key: String, _ request: HTTPRequest) async throws(ProblemDetails) -> HTTPResponse {
        if request.method == .OPTIONS {
            var response = HTTPResponse(.ok)
            response.headers.add(name: "Allow", value: "PATCH, DELETE, OPTIONS")
            response.headers.add(name: "Accept-Patch", value: TrickleFragment.mediaType)
            return response
        }
        try check(request, takes: [.PATCH, .DELETE, .OPTIONS])
        guard request.method == .PATCH else {
            remove(try session(key))
            return HTTPResponse(.ok)
        }
        // For a session that has ended, that error comes before errors of the fragment.
        let fragment = Result { () throws(ProblemDetails) in try Self.fragment(of: request) }
        guard let restarted = try await patch(key, fragment, if: EntityTag.Condition(request.headers["If-Match"]))
        else { return HTTPResponse(.noContent) }
        let text = TrickleFragment.text(of: restarted.answer)
        var response = HTTPResponse(.ok, type: TrickleFragment.mediaType, text: text)
        response.headers.add(name: "ETag", value: restarted.entityTag.headerValue)
        // The viewer may have been disconnected in the meantime.
        addServers(servers(for: try session(key)), to: &response)
        return response
    }

    private static func fragment(of request: HTTPRequest) throws(ProblemDetails) -> TrickleFragment {
        guard request.contentType == TrickleFragment.mediaType else {
            throw ProblemDetails(
                .unsupportedMediaType, "candidates are \(TrickleFragment.mediaType)",
                headers: [("Accept-Patch", TrickleFragment.mediaType)])
        }
        guard let text = String(validating: request.body, as: UTF8.self) else {
            throw ProblemDetails(.badRequest, "the fragment is not text")
        }
        return try TrickleFragment(parsing: text)
    }

    // MARK: For pages

    private func events(of key: String, _ request: HTTPRequest) throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET])
        var response = HTTPResponse(.ok, type: "text/event-stream")
        response.body = .stream(try openPage(of: key))
        // Without this header, proxies collect events before they pass them on.
        response.headers.add(name: "X-Accel-Buffering", value: "no")
        return response
    }

    /// Answers players that poll whether the viewer waits for admission, or was removed.
    private func state(of key: String, _ request: HTTPRequest) throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET])
        let phase: ShareState.Phase
        if let removed = removedKeys.first(where: { $0.key == key }) {
            phase = removed.phase
        } else {
            let isWaiting = try session(key).isWaiting
            phase = hasEnded ? .ended : isWaiting ? .waiting : .live
        }
        return HTTPResponse(.ok, type: "application/json", text: "{\"state\": \"\(phase.rawValue)\"}\n")
    }

    private func time(of key: String, _ request: HTTPRequest) throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET])
        _ = try session(key)
        let now = (Date().timeIntervalSince1970 * 1000).rounded()
        return HTTPResponse(.ok, type: "application/json", text: "{\"now\": \(Int64(now))}\n")
    }

    // MARK: Sessions

    func session(_ key: String) throws(ProblemDetails) -> ViewerSession {
        guard let session = sessions[key] else {
            throw ProblemDetails(.notFound, "there is no such session any more")
        }
        return session
    }

    /// Answers an offer with a session of a new viewer, which keeps its place from the checks until the answer.
    private func begin(
        _ offer: Offer, _ membership: RoomMembership, client: IPAddress?, browser: String?
    ) async throws(ProblemDetails) -> (session: ViewerSession, answer: SessionDescription) {
        let replaced = try checkPlace(for: client)
        guard room.contentShare.isSharing else {
            throw ProblemDetails(
                .conflict, "the share has not started yet", retryAfter: .seconds(2))
        }
        let connection = try offer.connection.get()
        let pending: PendingViewer
        do {
            pending = try room.register(
                connection, membership: requiresApproval ? .waitingForApproval : membership,
                replacing: replaced?.id)
        } catch {
            throw problem(of: error)
        }
        if let replaced { remove(replaced) }
        let session = ViewerSession(
            key: AccessToken().secretText, viewer: pending.viewer, in: room, admittedMembership: membership,
            offer: offer.description, client: client, browser: browser, since: Date().timeIntervalSince1970)
        add(session)
        do {
            let (viewer, answer) = try await room.answer(offer.description, for: pending)
            guard sessions[session.key] != nil else { throw SharingRoomError.unknownViewer(viewer.id) }
            didAnswer(session, viewer)
            return (session, answer)
        } catch {
            forget(session)
            // If the share was locked or ended in the meantime, the session was removed.
            try checkOpen()
            if removedKeys.contains(where: { $0.key == session.key }) {
                throw ProblemDetails(.gone, "the presenter disconnected this viewer", type: "urn:rtcshare:removed")
            }
            throw problem(of: error)
        }
    }

    /// Returns the error for an offer that the room can't answer.
    private nonisolated func problem(of error: any Error) -> ProblemDetails {
        switch error {
        case let error as NegotiationError:
            if case .nothingToReceive(let codecs) = error.rule {
                return ProblemDetails(
                    .notAcceptable, "the offer receives none of the shared media: it needs \(codecs.choice)")
            }
            return ProblemDetails(.badRequest, "the offer can't be answered: \(error)")
        case SharingRoomError.tooManyViewers(let limit): return ProblemDetails(.full, limit: limit)
        case SharingRoomError.ended:
            return ProblemDetails(.gone, "the share has ended", type: "urn:rtcshare:ended")
        case SharingRoomError.unknownViewer:
            return ProblemDetails(
                .serviceUnavailable, "the connection was closed before the offer was answered: try again",
                retryAfter: .seconds(2))
        default:
            logger.warning("a viewer could not be let in: \(error)")
            return ProblemDetails(.internalServerError, "the viewer could not be let in: \(error)")
        }
    }

    /// Adds candidates, or answers new ICE credentials.
    private func patch(
        _ key: String, _ fragment: Result<TrickleFragment, ProblemDetails>, if condition: EntityTag.Condition
    ) async throws(ProblemDetails) -> (answer: SessionDescription, entityTag: EntityTag)? {
        let session = try session(key)
        let fragment = try fragment.get()
        guard condition.holds(for: session.entityTag) else {
            throw ProblemDetails(.preconditionFailed, "the session has other ICE credentials by now")
        }
        if let new = fragment.usernameFragment, new != session.remoteFragment {
            return (try await restart(session, fragment), session.entityTag)
        }
        await trickle(fragment, session)
        return nil
    }

    private func trickle(_ fragment: TrickleFragment, _ session: ViewerSession) async {
        let connection = session.connection
        for section in fragment.sections {
            for candidate in section.candidates {
                do throws(RemoteCandidateError) {
                    try await connection.addICECandidate(
                        candidate, usernameFragment: fragment.usernameFragment ?? session.remoteFragment)
                } catch {
                    // An unusable candidate does not affect the others.
                    logger.debug("a candidate of viewer \(session.id) is left out: \(error)")
                }
            }
        }
        if fragment.sections.contains(where: \.isComplete) {
            await connection.endRemoteCandidates(ufrag: fragment.usernameFragment ?? session.remoteFragment)
        }
    }

    private func restart(
        _ session: ViewerSession, _ fragment: TrickleFragment
    ) async throws(ProblemDetails) -> SessionDescription {
        guard fragment.password != nil else {
            throw ProblemDetails(.badRequest, "an ICE restart has a user name fragment and a password")
        }
        let offer = fragment.replacing(in: session.offer)
        let answer: SessionDescription
        let connection = session.connection
        do {
            // The answer contains all candidates, including addresses that this machine got since the last answer.
            await connection.gatherAgain(patience: .seconds(1))
            answer = try await connection.answer(offer: offer)
        } catch {
            throw ProblemDetails(.unprocessableEntity, "ICE can't be restarted: \(error)")
        }
        session.offer = offer
        session.remoteFragment = fragment.usernameFragment
        session.entityTag = EntityTag(value: String((Int(session.entityTag.value) ?? 0) + 1))
        return answer
    }
}

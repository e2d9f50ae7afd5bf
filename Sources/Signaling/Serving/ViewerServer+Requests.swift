internal import Logging
internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCShareTransport
internal import RTCShareWireFormat

extension ViewerServer {
    func respond(to request: HTTPRequest) async -> HTTPResponse {
        counts.requests += 1
        var response: HTTPResponse
        do throws(ProblemDetails) {
            response = try await answer(request)
        } catch {
            counts.refusedRequests += 1
            logger.debug("\(request.method) refused: \(error.status.code) \(error.detail)")
            let target = request.target.removing(base: configuration.basePath)
            response = error.response(to: request.method, request.headers, root: target.root)
        }
        response.headers.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
        response.headers.replaceOrAdd(name: "Referrer-Policy", value: "no-referrer")
        if response.headers["Cache-Control"].isEmpty { response.headers.add(name: "Cache-Control", value: "no-store") }
        return response
    }

    private func answer(_ request: HTTPRequest) async throws(ProblemDetails) -> HTTPResponse {
        guard request.headers["Host"].count == 1 else {
            throw ProblemDetails(.badRequest, "a request names one host (RFC 9112 §3.2)")
        }
        guard hostCheck.accepts(host: request["Host"]) else {
            throw ProblemDetails(
                .misdirectedRequest,
                "this server does not know this name: the presenter can add it"
            )
        }
        let target = request.target.removing(base: configuration.basePath)
        guard let first = target.segments.first else {
            return target.endsInSlash ? try page("index.html", request) : try redirection(request)
        }
        let rest = target.segments.dropFirst()
        switch (first, rest.count) {
        case ("whep", _): return try await whep(Array(rest), request)
        case ("health", 0): return try await health(request)
        case ("metrics", 0): return try await metrics(request)
        case (_, 0) where first.hasPrefix("#"): return try linkRedirection(first, request)
        default: return try page(target.segments.joined(separator: "/"), request)
        }
    }

    // MARK: The page

    /// Redirects to the path with a slash at its end, because the page's files have relative URLs.
    private func redirection(_ request: HTTPRequest) throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET, .HEAD])
        let query = request.target.query.map { "?" + $0 } ?? ""
        return redirection(.permanentRedirect, to: (configuration.basePath.last ?? "") + "/" + query)
    }

    /// Redirects a link whose `#` a program wrote as `%23`.
    private func linkRedirection(_ fragment: String, _ request: HTTPRequest) throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET, .HEAD])
        guard (try? AccessToken(fragment.dropFirst())) != nil else { throw .notFound }
        return redirection(.found, to: "./" + fragment)
    }

    /// Redirects to a URL relative to that of the request, because a proxy can have removed a part of the path.
    private func redirection(_ status: HTTPResponseStatus, to place: String) -> HTTPResponse {
        var response = HTTPResponse(status)
        response.headers.add(name: "Location", value: place)
        return response
    }

    private func page(_ name: String, _ request: HTTPRequest) throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET, .HEAD])
        guard let file = ViewerPage.file(name) else { throw .notFound }
        let isCompressed = WeightedValues(request.headers[canonicalForm: "Accept-Encoding"]).accepts("gzip")
        var response = HTTPResponse(.ok, type: file.type, body: isCompressed ? file.compressed : file.bytes)
        if isCompressed { response.headers.add(name: "Content-Encoding", value: "gzip") }
        response.headers.add(name: "Vary", value: "Accept-Encoding")
        response.headers.add(name: "Content-Security-Policy", value: ViewerPage.contentSecurityPolicy)
        response.headers.add(name: "Cross-Origin-Resource-Policy", value: "same-origin")
        if isTrustworthy(request) {
            response.headers.add(name: "Cross-Origin-Opener-Policy", value: "same-origin")
        }
        response.headers.add(name: "X-Frame-Options", value: "DENY")
        // A page must not use files of different versions.
        response.headers.add(name: "Cache-Control", value: "no-cache")
        return response
    }

    /// Returns whether a browser considers the requested origin potentially trustworthy (W3C Secure Contexts §3.1). For
    /// other origins, it warns of headers that are only for trustworthy ones.
    private func isTrustworthy(_ request: HTTPRequest) -> Bool {
        request.isSecure || HostCheck.isLoopback(host: request["Host"])
            || configuration.publicURL.map { $0.isSecure && HostCheck.isOwn(origin: $0.origin, host: request["Host"]) }
                ?? false
    }

    /// Throws an error that lists the allowed methods if the request has another one.
    func check(_ request: HTTPRequest, takes methods: [HTTPMethod]) throws(ProblemDetails) {
        guard !methods.contains(request.method) else { return }
        let names = methods.map(\.rawValue).joined(separator: ", ")
        throw ProblemDetails(
            .methodNotAllowed, "\(request.method.rawValue) is not allowed here: use \(names)",
            headers: [("Allow", names)])
    }

    // MARK: Monitoring

    private func health(_ request: HTTPRequest) async throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET, .HEAD])
        try await checkWatcher(request)
        return HTTPResponse(.ok, type: "text/plain; charset=utf-8", text: "ok\n")
    }

    private func metrics(_ request: HTTPRequest) async throws(ProblemDetails) -> HTTPResponse {
        try check(request, takes: [.GET, .HEAD])
        try await checkWatcher(request)
        return HTTPResponse(.ok, type: "text/plain; version=0.0.4; charset=utf-8", text: await metricsText())
    }

    /// Throws unless the client has the token, or is a program on this machine that no other machine uses as a proxy.
    private func checkWatcher(_ request: HTTPRequest) async throws(ProblemDetails) {
        if let shown = Self.bearer(request), let token = configuration.token {
            if token.accepts(shown) { return }
            throw await refusal(of: request)
        }
        let isForwarded = ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "Via", "X-Real-IP"].contains {
            !request.headers[$0].isEmpty
        }
        let isPassedOn =
            configuration.isBehindProxy || configuration.publicURL != nil || !configuration.basePath.isEmpty
        guard request.peer?.isLoopback == true, !isPassedOn, !isForwarded,
            HostCheck.isLoopback(host: request["Host"])
        else {
            throw ProblemDetails(
                .unauthorized,
                "this address needs the link's secret as a bearer token. Only programs on this machine need none",
                headers: [("WWW-Authenticate", "Bearer")])
        }
    }

    // MARK: The token

    /// Returns the token in an `Authorization` header, with or without the scheme, which some players omit.
    nonisolated static func bearer(_ request: HTTPRequest) -> String? {
        guard let header = request["Authorization"]?.trimmingSpaces, !header.isEmpty else { return nil }
        let words = header.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return String(header) }
        return words[0].lowercased() == "bearer" ? String(words[1].trimmingSpaces) : nil
    }

    /// Returns the membership that the request's token gives.
    func membership(for request: HTTPRequest, pathToken: String?) async throws(ProblemDetails) -> RoomMembership {
        guard let token = configuration.token else { return RoomMembership() }
        if let shown = pathToken ?? Self.bearer(request) {
            if token.accepts(shown) { return RoomMembership() }
            for subgroup in room.subgroups {
                guard let own = token.derived(for: subgroup.name), own.accepts(shown) else { continue }
                if let membership = try? RoomMembership(onlySubgroups: [subgroup]) { return membership }
            }
        }
        throw await refusal(of: request)
    }

    /// Returns the address of the client. Behind a proxy on this machine, it is the address that the proxy reports.
    func clientAddress(of request: HTTPRequest) -> IPAddress? {
        guard configuration.isBehindProxy, request.peer?.isLoopback == true,
            let forwarded = request.headers["X-Forwarded-For"].last?.split(separator: ",").last
        else { return request.peer }
        return IPAddress(forwarded: forwarded) ?? request.peer
    }

    /// Returns the error for a wrong token or a missing one, after the delay that this client must wait.
    private func refusal(of request: HTTPRequest) async -> ProblemDetails {
        counts.refusedTokens += 1
        let address = clientAddress(of: request)
        switch accessGuard.fail(from: address, now: MonotonicClock.now) {
        case .refuse(let retryAfter):
            return ProblemDetails(
                .tooManyRequests, "too many wrong tokens from this address: wait a moment", retryAfter: retryAfter)
        case .wait(let time):
            try? await Task.sleep(for: time)
            accessGuard.didWait(address)
            return ProblemDetails(
                .unauthorized, "the secret of this link is wrong, or no longer valid",
                headers: [("WWW-Authenticate", "Bearer")])
        }
    }
}

extension ProblemDetails {
    static let notFound = ProblemDetails(.notFound, "there is nothing here")
}

internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
package import RTCShareTransport
internal import RTCShareWireFormat

/// Examines the routes to the share of a link, as a viewer who joins once for each kind of route that the share offers,
/// one after the other.
package struct LinkExaminer: Sendable {
    private let endpoint: WHEPPlayer.Endpoint
    private let configuration: Connection.Configuration
    /// The timeout for the server's first answer.
    private static let pageTime = Duration.seconds(6)
    /// The time until the first video frame, which a slow encoder needs, and the bytes that are more than the checks and
    /// reports of a share without video.
    private static let mediaTime = Duration.seconds(4)
    private static let leastMedia: UInt64 = 4000
    /// The interval at which arrived bytes are counted.
    private static let interval = Duration.milliseconds(20)

    /// Creates an examiner of a link, or of the URL of another WHEP server.
    package init(url: String, configuration: Connection.Configuration) throws(WHEPError) {
        endpoint = try WHEPPlayer.Endpoint(of: url)
        self.configuration = configuration
    }

    /// Examines the page and the routes. `begin` is called before each kind of route. After a cancellation, the result
    /// lacks routes.
    package func examine(begin: @Sendable (RouteKind) -> Void = { _ in }) async throws -> LinkDiagnosis {
        var page = LinkDiagnosis.Page(host: endpoint.link.hostName, port: endpoint.link.port)
        await examine(&page)
        var diagnosis = LinkDiagnosis(link: endpoint.link.shown, page: page)
        guard page.error == nil else { return diagnosis }
        var offered: Offer?
        for kind in RouteKind.allCases where !Task.isCancelled {
            var route = offered?.route(kind)
            if let route, !route.isOffered {
                diagnosis.routes.append(route)
                continue
            }
            begin(kind)
            let player = try await player(RouteFilter(kind, hasOwnRelay: offered?.relays.isEmpty == false))
            do {
                try await player.start()
            } catch is CancellationError {
                return diagnosis
            } catch {
                // Another viewer may have taken the last place in the meantime. The routes so far are right.
                guard var route else {
                    diagnosis.page.fail(error)
                    return diagnosis
                }
                route.error = Explanation(error).statement
                diagnosis.routes.append(route)
                return diagnosis
            }
            if offered == nil {
                let offer = await Offer(of: player, ownServers: configuration.iceServers)
                offered = offer
                route = offer.route(kind)
                diagnosis.addresses = await player.session.connection.localAddresses.map(\.ip.description).unique
            }
            if var route {
                if route.isOffered {
                    await examine(&route, of: player, &diagnosis)
                }
                diagnosis.routes.append(route)
            }
            await player.leave()
        }
        return diagnosis
    }

    // MARK: The page

    /// Requests what a player can request before it joins.
    private func examine(_ page: inout LinkDiagnosis.Page) async {
        var client = HTTPClient()
        client.timeout = Self.pageTime
        let start = ContinuousClock.now
        do throws(HTTPClientError) {
            let response = try await client.perform(
                HTTPClient.Request(method: "OPTIONS", url: endpoint.address, token: endpoint.token))
            page.milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
            page.address = response.address
            // Other answers do not show whether a player can join.
            if [401, 403].contains(response.status) {
                let isOwn = response.url.origin == endpoint.address.origin
                let use: EndpointRefusal.TokenUse =
                    endpoint.token == nil ? .none : isOwn ? .shown : .withheld(from: response.url.place)
                page.fail(WHEPError.refused(EndpointRefusal(response, token: use)))
            }
        } catch {
            page.fail(error)
        }
    }

    // MARK: Routes

    /// The routes that the share offers.
    private struct Offer {
        let candidates: [CandidateAttribute]
        let relays: [String]

        init(of player: WHEPPlayer, ownServers: [ICEServer]) async {
            let (candidates, named) = await player.answered
            self.candidates = candidates
            // The player's own servers replace those that the answer names.
            let servers = ownServers.isEmpty ? named : ownServers.map(\.description)
            relays = servers.filter(\.isRelay)
        }

        func route(_ kind: RouteKind) -> LinkDiagnosis.Route {
            guard kind != .relay || relays.isEmpty else { return LinkDiagnosis.Route(relays: relays) }
            return LinkDiagnosis.Route(kind, addresses: addresses(kind).unique)
        }

        private func addresses(_ kind: RouteKind) -> [TransportAddress] {
            candidates.filter(RouteFilter(kind).includes).compactMap { candidate in
                guard case .address(let ip) = candidate.host else { return nil }
                return TransportAddress(ip: ip, port: candidate.port)
            }
        }
    }

    private func player(_ filter: RouteFilter) async throws -> WHEPPlayer {
        try await WHEPPlayer(
            at: endpoint, as: AttendeeID("doctor"), usesOnly: filter, configuration: configuration.usingOnly(filter))
    }

    private func examine(
        _ route: inout LinkDiagnosis.Route, of player: WHEPPlayer, _ diagnosis: inout LinkDiagnosis
    ) async {
        let (session, connection) = (player.session, player.session.connection)
        await withTimeLimit(route.kind.patience) {
            for await state in await session.states where state == .connected || state.isOver { return }
        }
        guard await session.state == .connected else {
            route.fail(await connection.connectivityFacts)
            if await session.state.isOver, let failure = await session.failure, !failure.isOfReachability {
                route.error = Explanation(failure).statement
            }
            return
        }
        if await player.isWaiting { diagnosis.needsAdmission = true }
        // Nothing is sent to a viewer who waits.
        let rate = diagnosis.needsAdmission ? nil : await arrivalRate(on: connection, for: diagnosis.measuringTime)
        guard await session.state == .connected, let selection = await connection.connectivityFacts.selection else {
            return route.fail(await connection.connectivityFacts)
        }
        // A check of the share can lead to another kind of route than the one of the candidates in its answer.
        switch (route.kind == .relay, await Self.usesRelay(selection, of: player)) {
        case (true, true), (false, false): route.connect(over: selection, rate: rate)
        case (true, false): route.error = "only a route without the TURN server gets through"
        case (false, true): route.error = "only a TURN server gets through, to \(selection.remote.address)"
        }
    }

    /// Returns whether a pair leads through a TURN server of this side, or through one of the share's, which has relayed
    /// addresses of its own for each viewer.
    private static func usesRelay(_ selection: ConnectivityFacts.Selection, of player: WHEPPlayer) async -> Bool {
        if selection.relayTransport != nil || selection.remote.type == .relayed { return true }
        return await player.answered.candidates.contains { candidate in
            guard candidate.kind == .relayed, case .address(let ip) = candidate.host else { return false }
            return TransportAddress(ip: ip, port: candidate.port) == selection.remote.address
        }
    }

    private func arrivalRate(on connection: Connection, for time: Duration) async -> DataRate? {
        var rate = ArrivalRate()
        var end = ContinuousClock.now + Self.mediaTime
        let first = await connection.arrivals.bytes
        var hasMedia = false
        while ContinuousClock.now < end {
            let (bytes, now) = await connection.arrivals
            rate.add(bytes: bytes, at: now)
            if !hasMedia, bytes > first + Self.leastMedia {
                hasMedia = true
                end = ContinuousClock.now + time
            }
            guard (try? await Task.sleep(for: Self.interval)) != nil else { break }
        }
        return hasMedia ? rate.highest : nil
    }
}

extension LinkDiagnosis.Page {
    /// Records the reason why nobody can join.
    fileprivate mutating func fail(_ failure: any Error) {
        let explanation = Explanation(failure)
        error = explanation.statement
        remedy = explanation.remedy
        guard case .unreachable(_, let reason) = failure as? HTTPClientError else { return }
        obstacle =
            switch reason {
            case HTTPClient.refusal: .refused
            case HTTPClient.noRoute: .noRoute
            case HTTPClient.lostPackets: .silent
            default: reason.hasPrefix(HTTPClient.noName) ? .nameUnknown : nil
            }
    }
}

extension Error {
    /// Whether no candidate pair worked. The pairs explain it better than this error.
    fileprivate var isOfReachability: Bool {
        if case .unreachable = self as? ConnectionError { true } else { false }
    }
}

extension Array where Element: Hashable {
    /// The first of each group of equal elements.
    fileprivate var unique: [Element] {
        var known: Set<Element> = []
        return filter { known.insert($0).inserted }
    }
}

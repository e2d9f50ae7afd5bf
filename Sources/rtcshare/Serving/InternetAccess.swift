internal import RTCShareContentShare
internal import RTCShareICE
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The ports of a share that viewers on the internet reach, with `--internet`.
@SharingActor final class InternetAccess {
    private let mapper: PortMapper
    private let mediaPort: SharedPort
    /// The address of this machine itself, if it is public.
    private let own: IPAddress?
    private var media: (port: ForwardedPort, outcome: PortMapper.Outcome)?
    private var page: (port: ForwardedPort, outcome: PortMapper.Outcome)?
    /// The outside address of the page that was reported last.
    private var knownAddress: TransportAddress?
    /// The reason that was reported last. Both ports usually have the same.
    private var knownLoss: Explanation?

    /// The limit of the time in which the router closes the ports.
    private static let closingTime = Duration.seconds(3)

    init(mediaPort: SharedPort, mapper: PortMapper = PortMapper()) {
        (self.mediaPort, self.mapper) = (mediaPort, mapper)
        own = NetworkInterfaces.ownPublicAddress
    }

    /// Opens the port of all media.
    func openMedia() async {
        guard let number = await mediaPort.localAddresses.first?.port else { return }
        media = await open(ForwardedPort(.udp, number))
    }

    /// Opens the port of the page.
    func openPage(_ number: UInt16) async {
        page = await open(ForwardedPort(.tcp, number))
        knownAddress = pageAddress
    }

    /// Closes the ports.
    func close() async {
        await withTimeLimit(Self.closingTime) { [mapper] in await mapper.close() }
    }

    private func open(_ port: ForwardedPort) async -> (ForwardedPort, PortMapper.Outcome) {
        if let own { return (port, .success(TransportAddress(ip: own, port: port.number))) }
        let outcome: PortMapper.Outcome
        do {
            outcome = .success(try await mapper.open(port))
        } catch {
            outcome = .failure(error)
        }
        await announce(port, outcome)
        return (port, outcome)
    }

    /// Makes the outside address of a port a candidate.
    private func announce(_ port: ForwardedPort, _ outcome: PortMapper.Outcome) async {
        guard let local = await mapper.route?.local else { return }
        await mediaPort.setForwardedAddress(
            Self.reachable(outcome),
            to: BaseAddress(
                TransportAddress(ip: local, port: port.number), over: port.transport == .udp ? .udp : .tcp))
    }

    /// Returns an outside address that the internet reaches.
    private static func reachable(_ outcome: PortMapper.Outcome?) -> TransportAddress? {
        guard case .success(let outside) = outcome, OutsideReach(outside.ip) == .everywhere else { return nil }
        return outside
    }

    /// The outside address of the page, if the internet reaches it.
    var pageAddress: TransportAddress? { Self.reachable(page?.outcome) }

    /// The outside address of either port, if the internet reaches it.
    var outsideAddress: IPAddress? { pageAddress?.ip ?? Self.reachable(media?.outcome)?.ip }

    // MARK: Words

    private static let loss = "Viewers on the internet can't join now: "
    private static let absence = "There is no link for the internet: "

    /// Returns the report about the ports.
    func report(acceptsTCP: Bool) async -> [String] {
        guard let page, let media else { return [] }
        let route = await mapper.route
        let ports = PortWords(page: page.port, media: media.port, local: route?.local)
        switch page.outcome {
        case .failure(let error):
            return Self.lines(error.explanation(of: page.port, ports), after: Self.absence)
        case .success(let outside):
            if let explanation = OutsideReach(outside.ip).explanation(of: outside.ip, router: route?.gateway, ports) {
                return Self.lines(explanation, after: Self.absence)
            }
        }
        if let own {
            return [
                "This machine has the public address \(own). If viewers can't join, a firewall blocks \(ports.both)."
            ]
        }
        if case .failure(let error) = media.outcome {
            return Self.lines(
                error.explanation(of: media.port, ports),
                after: acceptsTCP
                    ? "Viewers on the internet receive video over TCP: "
                    : "Viewers on the internet may receive no video: ")
        }
        guard let route, let method = await mapper.method else { return [] }
        return ["The router \(route.gateway) forwards \(ports.both) to this machine (\(method.rawValue))."]
    }

    /// Reports later changes of the ports. `linkChanged` is called when the page has another outside address.
    func follow(linkChanged: @escaping @SharingActor (TransportAddress) async -> Void) async {
        for await change in mapper.changes {
            await announce(change.port, change.outcome)
            if change.port == page?.port { page = (change.port, change.outcome) }
            if change.port == media?.port { media = (change.port, change.outcome) }
            let route = await mapper.route
            if let loss = loss(of: change, route) {
                if loss != knownLoss { Terminal.shared.say(Self.lines(loss, after: Self.loss)) }
                knownLoss = loss
                continue
            }
            if knownLoss != nil, pageAddress != nil, Self.reachable(media?.outcome) != nil {
                Terminal.shared.say("Viewers on the internet can join again.")
                knownLoss = nil
            }
            if let address = pageAddress, address != knownAddress {
                knownAddress = address
                await linkChanged(address)
            }
        }
    }

    private func loss(of change: PortMapper.Change, _ route: DefaultRoute?) -> Explanation? {
        guard let page, let media else { return nil }
        let ports = PortWords(page: page.port, media: media.port, local: route?.local)
        switch change.outcome {
        case .failure(let error): return error.explanation(of: change.port, ports)
        case .success(let outside):
            return OutsideReach(outside.ip).explanation(of: outside.ip, router: route?.gateway, ports)
        }
    }

    private static func lines(_ explanation: Explanation, after introduction: String) -> [String] {
        CommandFailure(.unavailable, explanation).lines(after: introduction)
    }
}

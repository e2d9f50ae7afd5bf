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
    /// The sockets whose outside addresses are candidates.
    private var announced: [ForwardedPort: BaseAddress] = [:]
    /// The last outside address of the page that was reported.
    private var knownAddress: TransportAddress?
    /// The last reason that was reported. Both ports usually have the same.
    private var knownLoss: Explanation?
    /// The outside address that viewers know.
    private var announcedAddress: TransportAddress?

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
        (knownAddress, announcedAddress) = (pageAddress, pageAddress)
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

    /// Makes the outside address of a port a candidate, instead of the former one.
    private func announce(_ port: ForwardedPort, _ outcome: PortMapper.Outcome) async {
        let base = await mapper.route.map { route in
            BaseAddress(
                TransportAddress(ip: route.local, port: port.number), over: port.transport == .udp ? .udp : .tcp)
        }
        if let former = announced[port], former != base { await mediaPort.setForwardedAddress(nil, to: former) }
        announced[port] = base
        if let base { await mediaPort.setForwardedAddress(Self.reachable(outcome), to: base) }
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

    private static let absence = "Viewers on the internet can't join: "

    /// Returns the report about the ports. `acceptsTCP` is whether video also goes over TCP, to the port of the page.
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
                error.explanation(of: media.port, ports), after: Self.mediaAbsence(acceptsTCP: acceptsTCP))
        }
        guard let route else { return [] }
        let methods = await mapper.methods.map(\.rawValue).sorted().joined(separator: " and ")
        return ["The router \(route.gateway) forwards \(ports.both) to this machine (\(methods))."]
    }

    private static func mediaAbsence(acceptsTCP: Bool) -> String {
        acceptsTCP
            ? "Viewers on the internet receive video over TCP: " : "Viewers on the internet may receive no video: "
    }

    /// Reports later changes of the ports. `addressChanged` is called when the page has an outside address again, with
    /// whether it is another one, and when it has none any more.
    func follow(
        acceptsTCP: Bool, tell: @SharingActor ([String]) -> Void,
        addressChanged: @escaping @SharingActor (_ address: TransportAddress?, _ isOther: Bool) async -> Void
    ) async {
        for await change in mapper.changes {
            await announce(change.port, change.outcome)
            if change.port == page?.port { page = (change.port, change.outcome) }
            if change.port == media?.port { media = (change.port, change.outcome) }
            let route = await mapper.route
            if let loss = loss(of: change, route) {
                let isPage = change.port == page?.port || pageAddress == nil
                if loss != knownLoss {
                    tell(
                        Self.lines(loss, after: isPage ? Self.absence : Self.mediaAbsence(acceptsTCP: acceptsTCP)))
                }
                knownLoss = loss
            } else if knownLoss != nil, pageAddress != nil, Self.reachable(media?.outcome) != nil {
                tell(["Viewers on the internet can join again."])
                knownLoss = nil
            }
            guard pageAddress != knownAddress else { continue }
            knownAddress = pageAddress
            let isOther = pageAddress != nil && pageAddress != announcedAddress
            announcedAddress = pageAddress ?? announcedAddress
            await addressChanged(pageAddress, isOther)
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

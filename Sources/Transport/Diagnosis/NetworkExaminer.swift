package import Logging
internal import NIOCore
package import NIOPosix
internal import RTCShareICE
internal import RTCShareSTUN
internal import RTCShareWireFormat

extension NetworkDiagnosis {
    /// Examines this machine's interfaces, asks the servers, and finds out the behavior of the NAT. Takes some seconds
    /// if there is an answer missing.
    ///
    /// - Parameters:
    ///   - servers: The servers to ask.
    ///   - trustRoots: The roots of trust for the certificates of servers behind `turns:` URLs.
    ///   - eventLoopGroup: The event loops, one of which is used.
    ///   - logger: The logger of errors.
    package static func examine(
        servers: [ICEServer], trustRoots: TrustRoots = .system,
        eventLoopGroup: MultiThreadedEventLoopGroup = .singleton, logger: Logger = Logger(label: "rtcshare.diagnosis")
    ) async throws -> NetworkDiagnosis {
        try await NetworkExaminer(eventLoop: eventLoopGroup.next(), trustRoots: trustRoots, logger: logger)
            .examine(servers)
    }
}

/// Sends all requests for a ``NetworkDiagnosis``.
private struct NetworkExaminer: Sendable {
    let eventLoop: any EventLoop
    let trustRoots: TrustRoots
    let logger: Logger

    private struct Base: Sendable {
        let address: TransportAddress
        let socket: BindingSocket
    }

    private struct Answers: Sendable {
        var servers: [NetworkDiagnosis.Server] = []
        var observations: [NATMapping.Observation] = []
        /// A server that answers from another address too (RFC 5780).
        var helper: (server: TransportAddress, other: TransportAddress)?
    }

    /// A server's reply to one base.
    private struct Reply: Sendable {
        var report: NetworkDiagnosis.Server
        var observation: NATMapping.Observation?
        var other: TransportAddress?
    }

    func examine(_ servers: [ICEServer]) async throws -> NetworkDiagnosis {
        var diagnosis = NetworkDiagnosis()
        diagnosis.interfaces = try NetworkDiagnosis.Interface.all()
        async let router = RouterDiagnosis.examine(on: eventLoop)
        async let multicast = MulticastProbe(eventLoop: eventLoop, logger: logger)?.run() ?? false
        var bases: [Base] = []
        for server in servers { server.prepare() }
        for address in try NetworkInterfaces.usableAddresses() {
            let socket = BindingSocket(eventLoop: eventLoop)
            if let bound = try? await socket.open(at: address) { bases.append(Base(address: bound, socket: socket)) }
        }
        var answers = Answers()
        for server in servers { await ask(server, from: bases, &answers) }
        await discoverMapping(from: bases, &answers)
        diagnosis.servers = answers.servers
        diagnosis.mapping = NATMapping(answers.observations)
        diagnosis.filtering = await discoverFiltering(answers)
        for base in bases { await base.socket.close() }
        diagnosis.candidates = Self.candidates(bases.map(\.address), answers)
        diagnosis.multicastWorks = await multicast
        diagnosis.router = await router
        return diagnosis
    }

    private func ask(_ server: ICEServer, from bases: [Base], _ answers: inout Answers) async {
        let addresses: [ICEServerAddress]
        do {
            addresses = try await server.resolve()
        } catch {
            answers.servers.append(
                NetworkDiagnosis.Server(
                    url: server.description, isRelay: server.isRelay, transport: server.transport.rawValue,
                    error: error.description))
            return
        }
        for address in addresses {
            let ip = address.address.ip
            let matching = bases.filter {
                $0.address.ip.isV4 == ip.isV4 && $0.address.ip.isLoopback == ip.isLoopback
            }
            var report = NetworkDiagnosis.Server(
                url: server.description, isRelay: server.isRelay, transport: address.transport.rawValue,
                address: address.address.description)
            if matching.isEmpty {
                report.error =
                    "no address of this machine can reach it: the IP version differs, or it is a loopback address"
                // A missing address family of a server that has both is not a fault.
                if addresses.count == 1 { answers.servers.append(report) }
            }
            for reply in await ask(address, host: server.host, from: matching, report) {
                answers.servers.append(reply.report)
                answers.observations += [reply.observation].compactMap { $0 }
                if let other = reply.other, answers.helper == nil {
                    answers.helper = (address.address, other)
                }
            }
        }
    }

    /// Asks from all bases at once, so that a missing answer is waited for only once.
    private func ask(
        _ server: ICEServerAddress, host: String, from bases: [Base], _ blank: NetworkDiagnosis.Server
    ) async -> [Reply] {
        await withTaskGroup(of: (Int, Reply).self) { group in
            for (index, base) in bases.enumerated() {
                group.addTask { (index, await ask(server, host: host, from: base, blank)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func ask(
        _ server: ICEServerAddress, host: String, from base: Base, _ blank: NetworkDiagnosis.Server
    ) async -> Reply {
        var reply = Reply(report: blank)
        reply.report.base = base.address.description
        if server.transport == .udp {
            let outcome = await base.socket.ask(server.address)
            reply.report.take(outcome)
            if case .answered(let answer) = outcome {
                reply.observation = NATMapping.Observation(
                    base: base.address, server: server.address, mapped: answer.mapped)
                reply.other = answer.other
            }
        }
        if case .turn(let credentials) = server.kind {
            let probe = RelayProbe(
                server, credentials: credentials, host: host, trustRoots: trustRoots, eventLoop: eventLoop)
            switch await probe.run(from: base.address.ip) {
            case .success(let relay):
                reply.report.error = nil
                reply.report.isSilent = false
                reply.report.relayedAddress = relay.relayed.description
                reply.report.mappedAddress = reply.report.mappedAddress ?? relay.reflexive.description
                reply.report.milliseconds = relay.time.milliseconds
            case .failure(let error):
                reply.report.error = error.description
                reply.report.isSilent = reply.report.mappedAddress == nil && error.isSilence
            }
        }
        return reply
    }

    /// Asks the other address and port of a server that has them (RFC 5780 §4.3), from the same sockets.
    private func discoverMapping(from bases: [Base], _ answers: inout Answers) async {
        guard let helper = answers.helper else { return }
        let asked = bases.filter { base in
            answers.observations.contains { $0.base == base.address && $0.server == helper.server }
        }
        for base in asked {
            for server in [TransportAddress(ip: helper.other.ip, port: helper.server.port), helper.other] {
                guard case .answered(let answer) = await base.socket.ask(server) else { continue }
                answers.observations.append(
                    NATMapping.Observation(base: base.address, server: server, mapped: answer.mapped))
            }
        }
    }

    /// Makes the server answer from its other addresses (RFC 5780 §4.4), to a socket that has sent only to its first
    /// one.
    private func discoverFiltering(_ answers: Answers) async -> NATFiltering {
        guard let helper = answers.helper,
            let base = answers.observations.first(where: { $0.server == helper.server })?.base
        else { return .unknown }
        let socket = BindingSocket(eventLoop: eventLoop)
        guard (try? await socket.open(at: base.ip)) != nil else { return .unknown }
        let filtering = await Self.filtering(seenFrom: socket, by: helper.server)
        await socket.close()
        return filtering
    }

    private static func filtering(
        seenFrom socket: BindingSocket, by helper: TransportAddress
    ) async -> NATFiltering {
        guard case .answered = await socket.ask(helper) else { return .unknown }
        if case .answered = await socket.ask(helper, change: .addressAndPort) {
            return NATFiltering(fromOtherAddress: true, fromOtherPort: nil)
        }
        switch await socket.ask(helper, change: .port) {
        case .answered: return NATFiltering(fromOtherAddress: false, fromOtherPort: true)
        case .silent: return NATFiltering(fromOtherAddress: false, fromOtherPort: false)
        case .refused, .malformed, .unroutable: return .unknown
        }
    }

    private static func candidates(_ bases: [TransportAddress], _ answers: Answers) -> [NetworkDiagnosis.Candidate] {
        var candidates = bases.map { NetworkDiagnosis.Candidate(type: "host", address: $0.description) }
        for seen in answers.observations where seen.mapped != seen.base {
            candidates.append(NetworkDiagnosis.Candidate(type: "srflx", address: seen.mapped.description))
        }
        for relay in answers.servers.compactMap(\.relayedAddress) {
            candidates.append(NetworkDiagnosis.Candidate(type: "relay", address: relay))
        }
        var known: Set<NetworkDiagnosis.Candidate> = []
        return candidates.filter { known.insert($0).inserted }
    }
}

extension NetworkDiagnosis.Server {
    fileprivate mutating func take(_ outcome: BindingSocket.Outcome) {
        switch outcome {
        case .answered(let answer):
            mappedAddress = answer.mapped.description
            milliseconds = answer.roundTripTime.milliseconds
        case .refused(let code): error = "the server refused with error \(code.code) \"\(code.reason)\""
        case .malformed: error = "the answer has no address: check that it is a STUN server"
        case .silent:
            isSilent = true
            error = "no answer: check the address and the port, and whether a firewall drops UDP"
        case .unroutable: error = "this machine has no route to it: check the network and the address"
        }
    }
}

extension NetworkDiagnosis.Interface {
    /// Returns every address of this machine, with the reason why some are not used.
    fileprivate static func all() throws -> [NetworkDiagnosis.Interface] {
        let all = try NetworkInterfaces.allAddresses()
        let used = Set(NetworkInterfaces.usable(of: all))
        return all.map { address in
            NetworkDiagnosis.Interface(
                name: address.name, address: address.ip.description,
                unusedBecause: used.contains(address) ? nil : reason(address))
        }
    }

    private static func reason(_ address: InterfaceAddress) -> String {
        if address.ip.isLoopback { return "loopback: other machines can't reach it" }
        if address.state.contains(.duplicate) { return "duplicate: another machine on this network has it" }
        if !address.isReady { return "not ready: the check for duplicate addresses is not finished" }
        if address.ip.isLinkLocal { return "link-local: only this network segment can reach it" }
        if address.state.contains(.deprecated) { return "deprecated: it expires soon" }
        return address.ip.isUnspecified ? "no peer can send to it" : "another address of this network is used"
    }
}

internal import ICE
internal import NIOCore
internal import NIOPosix
internal import STUN
internal import WireFormat

extension NetworkDiagnosis {
    /// Looks at this machine's interfaces, asks the servers, and finds out what stands between. Takes some seconds where
    /// somebody does not answer.
    public static func examine(servers: [ICEServer]) async throws -> NetworkDiagnosis {
        try await NetworkExaminer(eventLoop: MultiThreadedEventLoopGroup.singleton.next()).examine(servers)
    }
}

/// Asks everybody who is to be asked for a ``NetworkDiagnosis``.
private struct NetworkExaminer {
    let eventLoop: any EventLoop

    private struct Base {
        let address: TransportAddress
        let socket: BindingSocket
    }

    private struct Answers: Sendable {
        var servers: [NetworkDiagnosis.Server] = []
        var observations: [NATMapping.Observation] = []
        /// A server that offers what RFC 5780 needs, and the base that it told so.
        var helper: (base: TransportAddress, server: TransportAddress, other: TransportAddress)?
    }

    func examine(_ servers: [ICEServer]) async throws -> NetworkDiagnosis {
        var diagnosis = NetworkDiagnosis()
        diagnosis.interfaces = try NetworkDiagnosis.Interface.all()
        async let multicast = MulticastProbe(eventLoop: eventLoop)?.run() ?? false
        var bases: [Base] = []
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
        return diagnosis
    }

    private func ask(_ server: ICEServer, from bases: [Base], _ answers: inout Answers) async {
        let addresses: [ICEServerAddress]
        do {
            addresses = try await server.resolve()
        } catch {
            answers.servers.append(
                NetworkDiagnosis.Server(
                    url: server.description, isRelay: server.credentials != nil, transport: server.transport.rawValue,
                    error: error.description))
            return
        }
        for address in addresses {
            let ip = address.address.ip
            let matching = bases.filter {
                $0.address.ip.isV4 == ip.isV4 && $0.address.ip.isLoopback == ip.isLoopback
            }
            var report = NetworkDiagnosis.Server(
                url: server.description, isRelay: server.credentials != nil, transport: address.transport.rawValue,
                address: address.address.description)
            if matching.isEmpty {
                report.error = "no address of this machine can reach it: its IP version, or loopback, is none of ours"
                // One family of a server that has both is no fault.
                if addresses.count == 1 { answers.servers.append(report) }
            }
            for base in matching { await ask(address, from: base, report, &answers) }
        }
    }

    private func ask(
        _ server: ICEServerAddress, from base: Base, _ blank: NetworkDiagnosis.Server, _ answers: inout Answers
    ) async {
        var report = blank
        report.base = base.address.description
        if server.transport == .udp {
            let outcome = await base.socket.ask(server.address)
            report.take(outcome)
            if case .answered(let answer) = outcome {
                answers.observations.append(
                    NATMapping.Observation(base: base.address, server: server.address, mapped: answer.mapped))
                if let other = answer.other, answers.helper == nil {
                    answers.helper = (base.address, server.address, other)
                }
            }
        }
        if case .turn(let credentials) = server.kind {
            guard server.transport != .tls else {
                report.error = "the doctor asks no relay over TLS: ask it over TCP, \(server.url ?? "turn:")"
                answers.servers.append(report)
                return
            }
            let probe = RelayProbe(
                server.address, over: server.transport, credentials: credentials, eventLoop: eventLoop)
            switch await probe.run(from: base.address.ip) {
            case .success(let relay):
                report.error = nil
                report.isSilent = false
                report.relayedAddress = relay.relayed.description
                report.mappedAddress = report.mappedAddress ?? relay.reflexive.description
                report.milliseconds = relay.time.milliseconds
            case .failure(let error):
                report.error = error.description
                report.isSilent = report.mappedAddress == nil && error.isSilence
            }
        }
        answers.servers.append(report)
    }

    /// Asks the other address and port of a server that has them (RFC 5780 §4.3), from the socket that asked before.
    private func discoverMapping(from bases: [Base], _ answers: inout Answers) async {
        guard let helper = answers.helper, let base = bases.first(where: { $0.address == helper.base }) else { return }
        for server in [TransportAddress(ip: helper.other.ip, port: helper.server.port), helper.other] {
            guard case .answered(let answer) = await base.socket.ask(server) else { continue }
            answers.observations.append(
                NATMapping.Observation(base: base.address, server: server, mapped: answer.mapped))
        }
    }

    /// Has the server answer from elsewhere (RFC 5780 §4.4), to a socket that has sent nowhere else.
    private func discoverFiltering(_ answers: Answers) async -> NATFiltering {
        guard let helper = answers.helper else { return .unknown }
        let socket = BindingSocket(eventLoop: eventLoop)
        guard (try? await socket.open(at: helper.base.ip)) != nil else { return .unknown }
        defer { Task { await socket.close() } }
        guard case .answered = await socket.ask(helper.server) else { return .unknown }
        if case .answered = await socket.ask(helper.server, change: .addressAndPort) {
            return NATFiltering(fromOtherAddress: true, fromOtherPort: nil)
        }
        switch await socket.ask(helper.server, change: .port) {
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
        case .malformed: error = "the answer holds no address: is it a STUN server?"
        case .silent:
            isSilent = true
            error = "no answer: check address and port; a firewall may drop UDP"
        case .unroutable: error = "this machine has no way there: check the network and the address"
        }
    }
}

extension TURNError {
    /// Whether nothing came back, as where a firewall drops what is sent.
    fileprivate var isSilence: Bool {
        switch self {
        case .unreachable, .connectionLost: true
        default: false
        }
    }
}

extension NetworkDiagnosis.Interface {
    /// Every address of this machine, and why some are not used.
    fileprivate static func all() throws -> [NetworkDiagnosis.Interface] {
        let used = Set(try NetworkInterfaces.usableAddresses())
        return try System.enumerateDevices().compactMap { device in
            guard let address = device.address.flatMap(IPAddress.init) else { return nil }
            return NetworkDiagnosis.Interface(
                name: device.name, address: address.description,
                unusedBecause: used.contains(address) ? nil : reason(address))
        }
    }

    private static func reason(_ address: IPAddress) -> String {
        if address.isLoopback { return "loopback: nobody else reaches it" }
        if address.isLinkLocal { return "link-local: it needs a zone, which no candidate can carry" }
        return "no peer can send to it"
    }
}

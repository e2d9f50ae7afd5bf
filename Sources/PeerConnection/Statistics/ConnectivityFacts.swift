internal import RTCShareICE
internal import RTCShareSDP
package import RTCShareWireFormat

/// The facts about the routes to a peer. The user interface derives advice from them.
public struct ConnectivityFacts: Sendable, Hashable {
    /// The type of a candidate (RFC 8445 §5.1.1), with the names of SDP.
    package enum CandidateType: String, Sendable, Hashable {
        /// An address of one of the machine's interfaces.
        case host
        /// An address from a STUN server's response, or one that a router forwards.
        case serverReflexive = "srflx"
        /// An address that the peer observed.
        case peerReflexive = "prflx"
        /// An address on a TURN server.
        case relayed = "relay"
    }

    /// A candidate of either side.
    package struct Candidate: Sendable, Hashable, CustomStringConvertible {
        /// The type of the candidate.
        package var type: CandidateType
        /// The address of the candidate.
        package var address: TransportAddress
        /// Whether it is an end of a TCP connection.
        package var isTCP: Bool

        package init(_ type: CandidateType, _ address: TransportAddress, isTCP: Bool = false) {
            self.type = type
            self.address = address
            self.isTCP = isTCP
        }

        /// The type and the address, such as `srflx 203.0.113.1:50000` or `host tcp 192.0.2.1:8080`.
        package var description: String { "\(type.rawValue) \(isTCP ? "tcp " : "")\(address)" }
    }

    /// The outcome of a candidate pair's checks.
    package enum Fate: Sendable, Hashable {
        /// No check was sent.
        case notTried
        /// No check was answered.
        case unanswered
        /// The checks were answered.
        case answered
        /// Checks were answered at first, and then no more.
        case fellSilent
        /// The peer answered with an error.
        case refused(code: Int, reason: String)
        /// The response came from another address than the check's destination.
        case answeredFromElsewhere(TransportAddress)
        /// The system has no route to the destination.
        case unroutable
        /// The TCP connection could not be opened, or was closed.
        case connectionLost
        /// The relay rejected the pair or is lost, with the reason in words.
        case relayFailed(String)
    }

    /// The result of a STUN or TURN server for one of our addresses.
    package struct Server: Sendable, Hashable {
        /// The server and its result in words, without credentials.
        package var text: String
        /// Whether the requests were sent over UDP.
        package var isDatagram: Bool
        /// Whether the server provided the requested address.
        package var hasAnswered: Bool
        /// Whether the server sent no response.
        package var isSilent: Bool

        package init(text: String, isDatagram: Bool, hasAnswered: Bool, isSilent: Bool) {
            self.text = text
            self.isDatagram = isDatagram
            self.hasAnswered = hasAnswered
            self.isSilent = isSilent
        }
    }

    /// A pair of candidates.
    package struct Pair: Sendable, Hashable {
        /// Our candidate.
        package var local: Candidate
        /// The peer's candidate.
        package var remote: Candidate
        /// The outcome of the checks.
        package var fate: Fate
        /// The number of checks sent.
        package var checksSent: Int
        /// The number of answered checks.
        package var checksAnswered: Int
        /// The number of the peer's checks that were received.
        package var checksReceived: Int

        package init(
            local: Candidate, remote: Candidate, fate: Fate, checksSent: Int = 0, checksAnswered: Int = 0,
            checksReceived: Int = 0
        ) {
            self.local = local
            self.remote = remote
            self.fate = fate
            self.checksSent = checksSent
            self.checksAnswered = checksAnswered
            self.checksReceived = checksReceived
        }
    }

    /// The pair in use.
    package struct Selection: Sendable, Hashable {
        /// Our candidate.
        package var local: Candidate
        /// The peer's candidate.
        package var remote: Candidate
        /// The newest round trip of a check; nil before the first.
        package var roundTripTime: Duration?
        /// The transport to the TURN server, such as `tcp`; nil for a candidate of this machine.
        package var relayTransport: String?
        /// The URL of the TURN server, if it is known.
        package var relay: String?

        package init(
            local: Candidate, remote: Candidate, roundTripTime: Duration? = nil, relayTransport: String? = nil,
            relay: String? = nil
        ) {
            self.local = local
            self.remote = remote
            self.roundTripTime = roundTripTime
            self.relayTransport = relayTransport
            self.relay = relay
        }
    }

    /// The pairs in descending order of priority.
    package var pairs: [Pair] = []
    /// The pair in use; nil if there is none.
    package var selection: Selection?
    /// Our candidates.
    package var localCandidates: [Candidate] = []
    /// The peer's candidates, including peer-reflexive ones.
    package var remoteCandidates: [Candidate] = []
    /// The number of host names among the peer's candidates that were not resolved.
    package var unresolvedNames = 0
    /// The number of host names among the peer's candidates that must not be resolved; see
    /// ``PeerConnection/Configuration/resolvesHostNames``.
    package var namesLeftOut = 0
    /// Whether only relays are allowed.
    package var isRelayOnly = false

    /// The results of the servers.
    package var servers: [Server] = []

    /// Creates facts without content.
    package init() {}
}

extension PeerConnection {
    /// The number of received bytes, with those of STUN, DTLS and RTCP.
    package var bytesReceived: UInt64 { counts.bytesReceived }

    /// The facts about the routes to the peer.
    package var connectivityFacts: ConnectivityFacts {
        var facts = ConnectivityFacts()
        facts.pairs = ice.agent.pairReports().map { report in
            ConnectivityFacts.Pair(
                local: report.local.fact, remote: report.remote.fact, fate: report.fate.fact,
                checksSent: report.statistics.requestsSent, checksAnswered: report.statistics.responsesReceived,
                checksReceived: report.statistics.requestsReceived)
        }
        facts.selection = ice.agent.selectedPair.map { pair in
            ConnectivityFacts.Selection(
                local: pair.local.fact, remote: pair.remote.fact, roundTripTime: ice.agent.selectedRoundTripTime,
                relayTransport: pair.local.relayProtocol?.rawValue, relay: pair.local.url)
        }
        facts.localCandidates = ice.agent.localCandidates.map(\.fact)
        facts.remoteCandidates = ice.agent.remoteCandidates.map(\.fact)
        facts.namesLeftOut = ice.pending.namesLeftOut.count
        // The agent's count includes names that must not be resolved, since their hosts can also send checks.
        facts.unresolvedNames =
            ice.pending.unresolvedNames.count + ice.agent.statistics.remoteNamesUnresolved - facts.namesLeftOut
        facts.isRelayOnly = configuration.iceTransportPolicy == .relay
        facts.servers = ice.agent.serverReports().map(\.fact)
        return facts
    }
}

extension RTCShareICE.Candidate {
    fileprivate var fact: ConnectivityFacts.Candidate {
        ConnectivityFacts.Candidate(
            ConnectivityFacts.CandidateType(rawValue: type.rawValue) ?? .host, address, isTCP: tcpType != nil)
    }
}

extension PairFate {
    fileprivate var fact: ConnectivityFacts.Fate {
        switch self {
        case .notTried: .notTried
        case .trying, .noAnswer: .unanswered
        case .answered: .answered
        case .fellSilent: .fellSilent
        case .refused(let code, let reason): .refused(code: code, reason: reason)
        case .answeredFromElsewhere(let address): .answeredFromElsewhere(address)
        case .unreachable: .unroutable
        case .connectionLost: .connectionLost
        case .refusedByRelay, .relayLost: .relayFailed(description)
        }
    }
}

extension ServerReport {
    fileprivate var fact: ConnectivityFacts.Server {
        let isSilent =
            switch outcome {
            case .waiting, .failed(.noAnswer), .failed(.relay(.unreachable)): true
            case .answered, .failed: false
            }
        return ConnectivityFacts.Server(
            text: description, isDatagram: server.transport == .udp, hasAnswered: outcome == .answered,
            isSilent: isSilent)
    }
}

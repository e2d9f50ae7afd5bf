internal import RTCShareICE
internal import RTCShareSDP
package import RTCShareWireFormat

/// What is known of the paths to a peer: facts alone, from which whoever talks to a person draws advice.
public struct ConnectivityFacts: Sendable, Hashable {
    /// How a candidate was found (RFC 8445 §5.1.1), under the names of SDP.
    package enum CandidateType: String, Sendable, Hashable {
        /// An address of one of the machine's interfaces.
        case host
        /// What a STUN server saw, or a router forwards.
        case serverReflexive = "srflx"
        /// What the other peer saw.
        case peerReflexive = "prflx"
        /// An address on a TURN server.
        case relayed = "relay"
    }

    /// A candidate of either side.
    package struct Candidate: Sendable, Hashable, CustomStringConvertible {
        /// How it was found.
        package var type: CandidateType
        /// Where it is.
        package var address: TransportAddress

        /// A candidate.
        package init(_ type: CandidateType, _ address: TransportAddress) {
            self.type = type
            self.address = address
        }

        /// `srflx 203.0.113.1:50000`.
        package var description: String { "\(type.rawValue) \(address)" }
    }

    /// What became of a pair of candidates, beyond its counts.
    package enum Fate: Sendable, Hashable {
        /// No check was sent.
        case notTried
        /// The checks have no answer.
        case unanswered
        /// The checks were answered.
        case answered
        /// Checks were answered, and no more.
        case fellSilent
        /// The peer answered with an error.
        case refused(code: Int, reason: String)
        /// The answer came from elsewhere than the check went to.
        case answeredFromElsewhere(TransportAddress)
        /// The system has no way there.
        case unroutable
        /// There was no TCP connection, or it ended.
        case connectionLost
        /// The relay would not let it pass, or is gone; in words.
        case relayFailed(String)
    }

    /// What a STUN or TURN server came to, asked from one address of ours.
    package struct Server: Sendable, Hashable {
        /// The server and its answer in words, without credentials.
        package var text: String
        /// Whether it was asked over UDP.
        package var isDatagram: Bool
        /// Whether it gave what it was asked for.
        package var hasAnswered: Bool
        /// Whether nothing at all came back.
        package var isSilent: Bool

        /// A server.
        package init(text: String, isDatagram: Bool, hasAnswered: Bool, isSilent: Bool) {
            self.text = text
            self.isDatagram = isDatagram
            self.hasAnswered = hasAnswered
            self.isSilent = isSilent
        }
    }

    /// A pair of candidates.
    package struct Pair: Sendable, Hashable {
        /// Ours.
        package var local: Candidate
        /// The peer's.
        package var remote: Candidate
        /// What became of it.
        package var fate: Fate
        /// Checks that were sent on it.
        package var checksSent: Int
        /// Those that were answered.
        package var checksAnswered: Int
        /// Checks of the peer that came on it.
        package var checksReceived: Int

        /// A pair.
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

    /// The pairs, best first.
    package var pairs: [Pair] = []
    /// Our candidates.
    package var localCandidates: [Candidate] = []
    /// The peer's candidates, those that it came forward with included.
    package var remoteCandidates: [Candidate] = []
    /// Host names among the peer's candidates whose addresses were not found.
    package var unresolvedNames = 0
    /// Host names among the peer's candidates that were not asked for; see ``PeerConnection/Configuration/resolvesHostNames``.
    package var namesLeftOut = 0
    /// Whether relays alone may be used.
    package var isRelayOnly = false

    /// What each server answered.
    package var servers: [Server] = []

    /// Nothing known.
    package init() {}
}

extension PeerConnection {
    /// What is known of the paths to the peer.
    package var connectivityFacts: ConnectivityFacts {
        var facts = ConnectivityFacts()
        facts.pairs = ice.agent.pairReports().map { report in
            ConnectivityFacts.Pair(
                local: report.local.fact, remote: report.remote.fact, fate: report.fate.fact,
                checksSent: report.statistics.requestsSent, checksAnswered: report.statistics.responsesReceived,
                checksReceived: report.statistics.requestsReceived)
        }
        facts.localCandidates = ice.agent.localCandidates.map(\.fact)
        facts.remoteCandidates = ice.agent.remoteCandidates.map(\.fact)
        facts.namesLeftOut = ice.pending.namesLeftOut.count
        // The agent counts those that were not asked for as well: they too may come forward.
        facts.unresolvedNames =
            ice.pending.unresolvedNames.count + ice.agent.statistics.remoteNamesUnresolved - facts.namesLeftOut
        facts.isRelayOnly = configuration.iceTransportPolicy == .relay
        facts.servers = ice.agent.serverReports().map(\.fact)
        return facts
    }
}

extension RTCShareICE.Candidate {
    fileprivate var fact: ConnectivityFacts.Candidate {
        ConnectivityFacts.Candidate(ConnectivityFacts.CandidateType(rawValue: type.rawValue) ?? .host, address)
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

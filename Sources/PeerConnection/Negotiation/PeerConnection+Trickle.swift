internal import RTCShareICE
package import RTCShareSDP
package import RTCShareWireFormat

/// Candidates that are exchanged one by one, in both directions (RFC 8838, RFC 8840).
extension PeerConnection {
    /// What became of a candidate of the peer.
    package enum RemoteCandidateFate: Sendable, Hashable {
        /// It is checked, unless it is of a kind that is of no use here, or names a host that is not asked for.
        case taken
        /// It names a host: ``addRemoteCandidate(_:at:now:)`` is to follow with its addresses.
        case named(CandidateAttribute)
        /// It waits for the description that it belongs to.
        case kept
        /// It belongs to a description that another one has replaced, and is ignored.
        case stale
        /// It was the mark that no more will come.
        case end
    }

    /// Takes a candidate that the peer told apart from its description: the value of an `a=candidate` line, with or
    /// without `candidate:` or `a=candidate:` before it. An empty text says that no more will come, as browsers do.
    ///
    /// `mid` is the `a=mid` of a section; all share one transport. `ufrag` is the peer's user name fragment in the
    /// description that the candidate belongs to; where it is nil, what the candidate itself says of it holds.
    @discardableResult
    package mutating func addRemoteCandidate(
        _ line: String, mid: String? = nil, ufrag: String? = nil, now: Instant
    ) throws(RemoteCandidateError) -> RemoteCandidateFate {
        guard !state.isOver else { throw .ended }
        var text = Substring(line)
        while let last = text.last, last.isWhitespace { text.removeLast() }
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        if text.hasPrefix("a=") { text = text.dropFirst(2) }
        if text.isEmpty || text == "candidate:" || text == "end-of-candidates" {
            guard negotiated != nil else { throw .noDescription }
            endRemoteCandidates(ufrag: ufrag, now: now)
            return .end
        }
        guard let candidate = CandidateAttribute(text) else { throw .malformed(String(text.prefix(200))) }
        return try addRemoteCandidate(candidate, mid: mid, ufrag: ufrag, now: now)
    }

    /// Takes a candidate that the peer told apart from its description; see
    /// ``addRemoteCandidate(_:mid:ufrag:now:)-(String,_,_,_)``.
    @discardableResult
    package mutating func addRemoteCandidate(
        _ candidate: CandidateAttribute, mid: String? = nil, ufrag: String? = nil, now: Instant
    ) throws(RemoteCandidateError) -> RemoteCandidateFate {
        guard !state.isOver else { throw .ended }
        let fragment = ufrag ?? candidate.extensionValue("ufrag")
        if let fragment, fragment != negotiated?.remoteICE.usernameFragment {
            guard !ice.pending.isFormer(fragment) else { return .stale }
            guard ice.pending.keep(candidate, for: fragment) else {
                throw .tooMany(limit: PendingCandidates.maximumEarly)
            }
            return .kept
        }
        guard let negotiated else { throw .noDescription }
        if let mid, !negotiated.sections.contains(where: { $0.mid == mid }) { throw .unknownSection(mid) }
        // Another component than the one of a multiplexed session is of no use, and of no name that is worth asking for.
        guard candidate.component == 1, !negotiated.remoteCandidates.contains(candidate) else { return .taken }
        let limit = ice.agent.maximumRemoteCandidates
        guard negotiated.remoteCandidates.count < limit else { throw .tooMany(limit: limit) }
        self.negotiated?.remoteCandidates.append(candidate)
        switch candidate.host {
        case .address(let ip):
            ice.add(candidate, at: ip, now: now)
            advance(now: now)
            return .taken
        case .name(let name):
            guard candidate.isCheckable else { return .taken }
            ice.note(name: name)
            return ice.pending.isResolved(name) ? .named(candidate) : .taken
        }
    }

    /// Whether the peer will tell of more candidates than its newest description has.
    package var expectsRemoteCandidates: Bool {
        configuration.trickles && peerTrickles && negotiated?.remoteHasAllCandidates == false
    }

    /// How many batches of the peer's names are worth resolving at once.
    package var maximumResolutions: Int { PendingCandidates.maximumEarly }

    /// The user name fragment of the peer's newest description; nil before there is one.
    package var remoteUsernameFragment: String? { negotiated?.remoteICE.usernameFragment }

    /// Whether the peer takes candidates one by one; supposed of one that has said nothing yet.
    var peerTrickles: Bool { negotiated?.remoteICEOptions.contains("trickle") ?? true }

    /// Whether a description says that its writer trickles.
    static func trickles(_ description: SessionDescription) -> Bool {
        description.iceOptions().contains("trickle")
            || description.media.contains { $0.iceOptions().contains("trickle") }
    }

    /// Tells the peer of a candidate, through the owner.
    mutating func trickle(_ candidate: Candidate) {
        let attribute = CandidateAttribute(candidate)
        guard configuration.trickles, peerTrickles, ice.shouldSignal(attribute), let mid = ice.mid else { return }
        events.append(.localCandidate(attribute, mid: mid, ufrag: (ice.offered ?? ice.local).usernameFragment))
    }

    /// Every server has answered or was given up.
    mutating func signalEndOfCandidates() {
        ice.noteGatheringComplete()
        guard configuration.trickles, peerTrickles, ice.shouldSignalEnd() else { return }
        events.append(.localCandidatesEnded)
    }

    /// The candidates that came before the description that was just taken.
    mutating func takeEarlyCandidates() -> [CandidateAttribute] {
        guard let fragment = negotiated?.remoteICE.usernameFragment else { return [] }
        let new = ice.pending.takeEarly(of: fragment).filter { candidate in
            negotiated?.remoteCandidates.contains(candidate) == false && candidate.component == 1
        }
        negotiated?.remoteCandidates += new
        return new
    }
}

/// Why a candidate that the peer told apart from its description is refused.
public enum RemoteCandidateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no description of the peer yet, and the candidate doesn't say to which one it belongs.
    case noDescription
    /// It is not written as RFC 8839 §5.1 wants.
    case malformed(String)
    /// No section has this `a=mid`.
    case unknownSection(String)
    /// As many are known already as are remembered.
    case tooMany(limit: Int)
    /// The connection has ended.
    case ended

    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .noDescription:
            "this candidate came before the peer's description and has no user name fragment; hand over the description "
                + "first"
        case .malformed(let text):
            "\"\(text)\" is not a candidate; expected: candidate:<foundation> <component> udp <priority> <address> <port> "
                + "typ <type> … (RFC 8839 §5.1)"
        case .unknownSection(let mid):
            "no section has a=mid:\(mid); check that the candidate is of this session's peer"
        case .tooMany(let limit):
            "the peer has told \(limit) candidates, and no more are remembered"
        case .ended:
            "the connection has ended; make a new offer for a new one"
        }
    }
}

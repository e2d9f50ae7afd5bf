internal import RTCShareICE
package import RTCShareSDP
package import RTCShareWireFormat

/// Trickle ICE: candidates that are exchanged one by one, in both directions (RFC 8838, RFC 8840).
extension PeerConnection {
    /// The result of adding a candidate of the peer.
    package enum RemoteCandidateFate: Sendable, Hashable {
        /// It is checked, unless its type is unsupported, or it has a host name that is not resolved.
        case taken
        /// It has a host name. Call ``addRemoteCandidate(_:at:now:)`` for each of its addresses.
        case named(CandidateAttribute)
        /// It waits for its description.
        case kept
        /// It belongs to a former description, and is ignored.
        case stale
        /// It was the end of candidates.
        case end
    }

    /// Adds a trickled candidate of the peer: the value of an `a=candidate` line, with or without `candidate:` or
    /// `a=candidate:` before it. An empty text is the end of candidates, as in browsers.
    ///
    /// `mid` is the `a=mid` of a section; all sections share one transport. `ufrag` is the peer's user name fragment in
    /// the candidate's description. If it is nil, the `ufrag` in the candidate itself applies.
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

    /// Adds a trickled candidate of the peer; see ``addRemoteCandidate(_:mid:ufrag:now:)-(String,_,_,_)``.
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
        // A multiplexed session has one component: candidates of others are ignored, and their names are not resolved.
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

    /// Whether the peer will send more candidates than its latest description has.
    package var expectsRemoteCandidates: Bool {
        configuration.trickles && peerTrickles && negotiated?.remoteHasAllCandidates == false
    }

    /// The maximum number of batches of the peer's names that are resolved at the same time.
    package var maximumResolutions: Int { PendingCandidates.maximumEarly }

    /// The user name fragment of the peer's latest description; nil before there is one.
    package var remoteUsernameFragment: String? { negotiated?.remoteICE.usernameFragment }

    /// Whether the peer accepts trickled candidates; true for a peer without a description.
    var peerTrickles: Bool { negotiated?.remoteICEOptions.contains("trickle") ?? true }

    /// Whether a description announces trickling.
    static func trickles(_ description: SessionDescription) -> Bool {
        description.iceOptions().contains("trickle")
            || description.media.contains { $0.iceOptions().contains("trickle") }
    }

    /// Sends a candidate to the peer through the owner.
    mutating func trickle(_ candidate: Candidate) {
        let attribute = CandidateAttribute(candidate)
        guard configuration.trickles, peerTrickles, ice.shouldSignal(attribute), let mid = ice.mid else { return }
        events.append(.localCandidate(attribute, mid: mid, ufrag: (ice.offered ?? ice.local).usernameFragment))
    }

    /// Sends the end of candidates, after every server has answered or timed out.
    mutating func signalEndOfCandidates() {
        ice.noteGatheringComplete()
        guard configuration.trickles, peerTrickles, ice.shouldSignalEnd() else { return }
        events.append(.localCandidatesEnded)
    }

    /// Returns the candidates that arrived before the description that was just applied.
    mutating func takeEarlyCandidates() -> [CandidateAttribute] {
        guard let fragment = negotiated?.remoteICE.usernameFragment else { return [] }
        let new = ice.pending.takeEarly(of: fragment).filter { candidate in
            negotiated?.remoteCandidates.contains(candidate) == false && candidate.component == 1
        }
        negotiated?.remoteCandidates += new
        return new
    }
}

/// The reason why a trickled candidate of the peer is rejected.
public enum RemoteCandidateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no description of the peer yet, and the candidate has no user name fragment.
    case noDescription
    /// The candidate does not have the format of RFC 8839 §5.1.
    case malformed(String)
    /// No section has this `a=mid`.
    case unknownSection(String)
    /// The maximum number of candidates is reached.
    case tooMany(limit: Int)
    /// The connection has ended.
    case ended

    /// The error and its remedy.
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

public import RTCSharePeerConnection
package import RTCShareSDP
internal import RTCShareWireFormat

/// The peer's candidates: those in its descriptions, and those that it sends one by one (RFC 8838).
extension Connection {
    /// Adds a candidate that the peer sent apart from its description (W3C `addIceCandidate()`). A host name is
    /// resolved first.
    ///
    /// `usernameFragment` is that of the candidate's description, if the candidate does not contain it. A candidate
    /// that is nil or empty, as browsers send it, ends the candidates, after the names that are being resolved.
    public func addICECandidate(
        _ candidate: String?, sdpMid: String? = nil, usernameFragment: String? = nil
    ) throws(RemoteCandidateError) {
        guard let candidate, !candidate.isEmpty else {
            guard peer.remoteUsernameFragment != nil else { throw .noDescription }
            return endRemoteCandidates(ufrag: usernameFragment)
        }
        handle(
            try peer.addRemoteCandidate(candidate, mid: sdpMid, ufrag: usernameFragment, now: MonotonicClock.now))
    }

    /// Adds a candidate that the peer sent apart from its description.
    package func addICECandidate(
        _ candidate: CandidateAttribute, sdpMid: String? = nil, usernameFragment: String? = nil
    ) throws(RemoteCandidateError) {
        handle(
            try peer.addRemoteCandidate(candidate, mid: sdpMid, ufrag: usernameFragment, now: MonotonicClock.now))
    }

    private func handle(_ fate: PeerConnection.RemoteCandidateFate) {
        if case .named(let candidate) = fate { resolve([candidate]) }
        drain()
    }

    /// Ends the candidates of the peer's description with this user name fragment, or of the newest one, after the
    /// names that are being resolved.
    package func endRemoteCandidates(ufrag: String? = nil) {
        guard ufrag == nil || ufrag == peer.remoteUsernameFragment else { return }
        resolutions.endingFragment = peer.remoteUsernameFragment
        finishRemoteCandidates()
    }

    /// Resolves the host names, usually `.local` ones, of candidates in a description. Each name that resolves is
    /// another pair to check.
    func resolveRemoteNames() {
        let candidates = peer.namedCandidates
        if !candidates.isEmpty { resolve(candidates) }
        if !peer.expectsRemoteCandidates { endRemoteCandidates() }
    }

    private func resolve(_ candidates: [CandidateAttribute]) {
        guard resolutions.count < peer.maximumResolutions else { return }
        let names = Set(candidates.map(\.host.description))
        let resolver = HostNameResolver(eventLoop: eventLoop, logger: logger)
        let ufrag = peer.remoteUsernameFragment
        resolutions.begin { number in
            Task { [weak self] in
                for await (name, address) in resolver.resolve(names) {
                    await self?.add(address, to: candidates.filter { $0.host.description == name }, of: ufrag)
                }
                await self?.finishResolution(number)
            }
        }
    }

    private func add(_ address: IPAddress, to candidates: [CandidateAttribute], of ufrag: String?) {
        guard ufrag == peer.remoteUsernameFragment else { return }
        for candidate in candidates { peer.addRemoteCandidate(candidate, at: address, now: MonotonicClock.now) }
        drain()
    }

    private func finishResolution(_ number: Int) {
        resolutions.end(number)
        finishRemoteCandidates()
    }

    private func finishRemoteCandidates() {
        guard let ufrag = resolutions.takeEnding() else { return }
        peer.endRemoteCandidates(ufrag: ufrag, now: MonotonicClock.now)
        drain()
    }
}

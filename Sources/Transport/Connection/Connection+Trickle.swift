public import RTCSharePeerConnection
public import RTCShareSDP
internal import RTCShareWireFormat

/// The peer's candidates: those in its descriptions, and those that it sends one by one (RFC 8838).
extension Connection {
    /// Adds a candidate that the peer sent separately from its description; a name is resolved first. An empty text
    /// means the end of candidates. `mid` is the `a=mid` of its section, and `ufrag` the user name fragment of its
    /// description, if the candidate does not have one itself.
    public func addRemoteCandidate(
        _ line: String, mid: String? = nil, ufrag: String? = nil
    ) throws(RemoteCandidateError) {
        handle(try peer.addRemoteCandidate(line, mid: mid, ufrag: ufrag, now: MonotonicClock.now))
    }

    /// Adds a candidate that the peer sent separately from its description; a name is resolved first.
    public func addRemoteCandidate(
        _ candidate: CandidateAttribute, mid: String? = nil, ufrag: String? = nil
    ) throws(RemoteCandidateError) {
        handle(try peer.addRemoteCandidate(candidate, mid: mid, ufrag: ufrag, now: MonotonicClock.now))
    }

    private func handle(_ fate: PeerConnection.RemoteCandidateFate) {
        if case .named(let candidate) = fate { resolve([candidate]) }
        drain()
    }

    /// Ends the candidates of the peer's description with this user name fragment, or of the newest one, after the
    /// names that are being resolved.
    public func endRemoteCandidates(ufrag: String? = nil) {
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

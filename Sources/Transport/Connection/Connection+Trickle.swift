public import RTCSharePeerConnection
public import RTCShareSDP
internal import RTCShareWireFormat

/// Candidates of the peer: those that its descriptions hold, and those that it tells one by one (RFC 8838).
extension Connection {
    /// Takes a candidate that the peer told apart from its description; a name is resolved first. An empty text says that
    /// no more will come. `mid` is the `a=mid` of its section, `ufrag` the user name fragment of the description that it
    /// belongs to, where the candidate does not say it itself.
    public func addRemoteCandidate(
        _ line: String, mid: String? = nil, ufrag: String? = nil
    ) throws(RemoteCandidateError) {
        handle(try peer.addRemoteCandidate(line, mid: mid, ufrag: ufrag, now: MonotonicClock.now))
    }

    /// Takes a candidate that the peer told apart from its description; a name is resolved first.
    public func addRemoteCandidate(
        _ candidate: CandidateAttribute, mid: String? = nil, ufrag: String? = nil
    ) throws(RemoteCandidateError) {
        handle(try peer.addRemoteCandidate(candidate, mid: mid, ufrag: ufrag, now: MonotonicClock.now))
    }

    private func handle(_ fate: PeerConnection.RemoteCandidateFate) {
        if case .named(let candidate) = fate { resolve([candidate]) }
        drain()
    }

    /// No candidate of the peer's description with this user name fragment, or of the newest one, will follow. Names that
    /// are being resolved are waited for.
    public func endRemoteCandidates(ufrag: String? = nil) {
        guard ufrag == nil || ufrag == peer.remoteUsernameFragment else { return }
        resolutions.endingFragment = peer.remoteUsernameFragment
        finishRemoteCandidates()
    }

    /// After a description: candidates may name hosts, `.local` ones above all; each that resolves is one more pair to
    /// check.
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

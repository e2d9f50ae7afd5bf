internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The places of viewers, and which clients may take one.
extension ViewerServer {
    /// Viewers without a connection yet; more are told to come back.
    static let maximumConnecting = 128
    /// Of those, the ones from one network.
    static let maximumConnectingOfNetwork = maximumConnecting / 4

    /// Whether new viewers are let in at all.
    func checkOpen() throws(ProblemDetails) {
        guard !hasEnded else { throw ProblemDetails(.gone, "the share has ended", type: "urn:rtcshare:ended") }
        guard !isLocked else {
            throw ProblemDetails(
                .forbidden, "the share is locked, and no new viewers can join", type: "urn:rtcshare:locked")
        }
    }

    /// Takes a place for a client whose session is about to begin; the caller gives it back from ``beginning``. Nothing is
    /// waited for between the check and that.
    func takePlace(for client: IPAddress?) throws(ProblemDetails) -> Int {
        try checkOpen()
        let limit = configuration.maximumViewers
        if sessions.count + beginning.count >= limit { makeRoom() }
        guard sessions.count + beginning.count < limit else {
            throw .full("the share is full: it allows \(limit) \(limit == 1 ? "viewer" : "viewers")")
        }
        let connecting = sessions.values.filter { !$0.state.hasConnected }
        guard connecting.count + beginning.count < Self.maximumConnecting else { throw .crowded }
        // Behind this machine's own address a proxy or a tunnel may have everybody.
        if let network = client?.clientNetwork, !network.isLoopback {
            let others = beginning.values.count { $0 == network }
            guard connecting.count(where: { $0.network == network }) + others < Self.maximumConnectingOfNetwork else {
                throw .crowded
            }
            // The last quarter of the places is for viewers from elsewhere.
            guard sessions.values.count(where: { $0.network == network }) + others < limit - limit / 4 else {
                throw .full("the share is full for viewers from this network")
            }
        }
        placesTaken += 1
        beginning.updateValue(client?.clientNetwork, forKey: placesTaken)
        return placesTaken
    }

    /// Removes the viewer who has not answered for the longest time, where that is too long. Otherwise all are asked whether
    /// they are still there, so that the place of one who is not is free in a few seconds.
    private func makeRoom() {
        let now = MonotonicClock.now
        let gone = sessions.values.filter { $0.makesRoom(at: now) }
        if let longest = gone.min(by: { ($0.awaySince ?? now) < ($1.awaySince ?? now) }) { return remove(longest) }
        for session in sessions.values where session.state.hasConnected {
            let connection = session.viewer.session.connection
            Task { await connection.checkConsent() }
        }
    }

    /// Ends a session whose viewer has left, or made room.
    func remove(_ session: ViewerSession) {
        sessions[session.key] = nil
        finishListeners(of: session)
        // The request that causes this does not wait until what is queued has left.
        let ended = session.viewer.session
        Task { await ended.leave() }
        refresh()
    }
}

extension ProblemDetails {
    fileprivate static func full(_ detail: String) -> ProblemDetails {
        ProblemDetails(.serviceUnavailable, detail, type: "urn:rtcshare:full", retryAfter: .seconds(5))
    }

    fileprivate static let crowded = ProblemDetails(
        .serviceUnavailable, "too many viewers are connecting at this moment", type: "urn:rtcshare:crowded",
        retryAfter: .seconds(2))
}

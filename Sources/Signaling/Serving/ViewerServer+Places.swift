internal import NIOCore
internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The assignment of places to viewers.
extension ViewerServer {
    /// The minimum interval between two checks whether the viewers of a full share still answer.
    private static let consentInterval = Duration.seconds(1)

    /// Throws if the share is over or locked.
    func checkOpen() throws(ProblemDetails) {
        guard !hasEnded else { throw ProblemDetails(.gone, "the share has ended", type: "urn:rtcshare:ended") }
        guard !isLocked else {
            throw ProblemDetails(
                .forbidden, "the share is locked, and no new viewers can join", type: "urn:rtcshare:locked")
        }
    }

    /// Checks that there is a place for a client. Returns the session to replace, if there is one.
    func checkPlace(for client: IPAddress?) throws(ProblemDetails) -> ViewerSession? {
        try checkOpen()
        do throws(ViewerPlaces.Refusal) {
            var holders = sessions.mapValues(\.holder)
            for (number, network) in offerNetworks {
                holders["offer \(number)"] = ViewerPlaces.Holder(network: network, hasConnected: false)
            }
            let replaced = try places.check(for: client?.clientNetwork, among: holders, now: MonotonicClock.now)
            return replaced.flatMap { sessions[$0] }
        } catch {
            // The place of a viewer who has left is free a few seconds after this check.
            if error == .full { checkConsent() }
            throw ProblemDetails(error, limit: places.limit)
        }
    }

    private func checkConsent() {
        let now = MonotonicClock.now
        guard lastConsentCheck.map({ now - $0 >= Self.consentInterval }) ?? true else { return }
        lastConsentCheck = now
        for session in sessions.values where session.state.hasConnected {
            let connection = session.connection
            connection.eventLoop.execute { connection.assumeIsolated { $0.checkConsent() } }
        }
    }
}

extension ProblemDetails {
    init(_ refusal: ViewerPlaces.Refusal, limit: Int) {
        let (name, detail, seconds) =
            switch refusal {
            case .full: ("full", "the share is full: it allows \(limit) \(limit == 1 ? "viewer" : "viewers")", 5)
            case .networkFull: ("full", "the share is full for viewers from this network", 5)
            case .crowded: ("crowded", "too many viewers are connecting at this moment", 2)
            }
        self.init(.serviceUnavailable, detail, type: "urn:rtcshare:\(name)", retryAfter: .seconds(seconds))
    }
}

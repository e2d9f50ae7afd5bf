internal import RTCShareWireFormat

/// The rules by which clients take the places of a share.
struct ViewerPlaces {
    /// A viewer who has a session, as far as that decides about places.
    struct Holder {
        /// The network of its client.
        var network: IPAddress?
        var hasConnected = true
        /// Since when it does not answer; nil while it does.
        var awaySince: Instant?
        /// Whether its page is connected to the server.
        var isPageOpen = false

        /// Whether it makes room for another viewer. A viewer whose page is still connected is likely to come back.
        fileprivate func makesRoom(at now: Instant) -> Bool {
            awaySince.map { now - $0 >= .seconds(isPageOpen ? 5 : 2) } ?? false
        }
    }

    /// Why a client gets no place.
    enum Refusal: Error, Hashable {
        /// All places are taken.
        case full
        /// The places that the client's network can have are taken.
        case networkFull
        /// Too many viewers are connecting.
        case crowded
    }

    /// Viewers without a connection yet; more are told to come back.
    static let maximumConnecting = 128
    /// Of those, the ones from one network.
    static let maximumConnectingOfNetwork = maximumConnecting / 4

    /// The most viewers at a time.
    let limit: Int

    /// Checks that there is a place for one more client. If all are taken, it is that of the viewer who has not answered for the
    /// longest time, where that is too long: the key of that viewer among `holders` is returned.
    func check(
        for network: IPAddress?, among holders: [String: Holder], now: Instant
    ) throws(Refusal) -> String? {
        var holders = holders
        var replaced: String?
        if holders.count >= limit {
            let away = holders.filter { $0.value.makesRoom(at: now) }
            replaced = away.min { ($0.value.awaySince ?? now) < ($1.value.awaySince ?? now) }?.key
            guard let replaced else { throw .full }
            holders[replaced] = nil
        }
        let connecting = holders.values.filter { !$0.hasConnected }
        guard connecting.count < Self.maximumConnecting else { throw .crowded }
        // Behind this machine's own address a proxy or a tunnel may have everybody.
        if let network, !network.isLoopback {
            guard connecting.count(where: { $0.network == network }) < Self.maximumConnectingOfNetwork else {
                throw .crowded
            }
            // The last quarter of the places is for viewers from elsewhere.
            guard holders.values.count(where: { $0.network == network }) < limit - limit / 4 else {
                throw .networkFull
            }
        }
        return replaced
    }
}

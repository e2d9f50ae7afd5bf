internal import RTCShareWireFormat

/// The rules by which clients get places of viewers in a share.
struct ViewerPlaces {
    /// A viewer with a session, with the facts that determine whether it keeps its place.
    struct Holder {
        /// The network of the viewer's client.
        var network: IPAddress?
        var hasConnected = true
        /// The time since which the viewer does not answer. Nil if it answers.
        var awaySince: Instant?
        /// Whether the viewer's page is connected to the server.
        var isPageOpen = false

        /// Returns whether the viewer's place can be given to another one. A viewer whose page is connected is more
        /// likely to return, and keeps it longer.
        fileprivate func makesRoom(at now: Instant) -> Bool {
            awaySince.map { now - $0 >= .seconds(isPageOpen ? 5 : 2) } ?? false
        }
    }

    /// The reason why a client gets no place.
    enum Refusal: Error, Hashable {
        /// All places are taken.
        case full
        /// All places that the client's network can have are taken.
        case networkFull
        /// Too many viewers are connecting.
        case crowded
    }

    /// The maximum number of viewers that are connecting. Others must retry.
    static let maximumConnecting = 128
    /// The maximum number of viewers of one network that are connecting.
    static let maximumConnectingOfNetwork = maximumConnecting / 4

    /// The smallest number of places of which some are reserved.
    static let smallestReservingLimit = 16

    /// The maximum number of viewers.
    let limit: Int

    /// The number of places that a single network can't take: the last quarter. A share of few places reserves none,
    /// because all its viewers can be in one home or office.
    private var reserve: Int { limit < Self.smallestReservingLimit ? 0 : limit / 4 }

    /// Checks that there is a place for a new client. If all places are taken, returns the key of the holder to
    /// replace: of those who have not answered for too long, the one with the longest time.
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
        // A loopback address can be that of a proxy or a tunnel, which has clients of many networks.
        if let network, !network.isLoopback {
            guard connecting.count(where: { $0.network == network }) < Self.maximumConnectingOfNetwork else {
                throw .crowded
            }
            guard holders.values.count(where: { $0.network == network }) < limit - reserve else {
                throw .networkFull
            }
        }
        return replaced
    }
}

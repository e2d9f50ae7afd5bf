internal import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCShareSDP

/// Hears what a session at a server has to know of its connection.
final class EndpointListener: AttendeeSessionObserver {
    enum Event: Sendable {
        case connected
        case away
        case back
        case needsRestart
        case found(CandidateAttribute, mid: String, ufrag: String)
        case ended((any Error)?)
    }

    private let hear: @Sendable (Event) -> Void

    init(_ hear: @escaping @Sendable (Event) -> Void) { self.hear = hear }

    func sessionDidConnect() { hear(.connected) }
    func sessionDidDisconnect() { hear(.away) }
    func sessionDidReconnect() { hear(.back) }
    func sessionNeedsRestart() { hear(.needsRestart) }
    func sessionDidFind(_ candidate: CandidateAttribute, mid: String, ufrag: String) {
        hear(.found(candidate, mid: mid, ufrag: ufrag))
    }
    func sessionDidEnd(error: (any Error)?) { hear(.ended(error)) }
}

extension Connection.Configuration {
    /// The same for a connection whose peer a server can be asked to find again.
    var mending: Self {
        var configuration = self
        configuration.trickles = true
        // There is a way to restart while this lasts.
        configuration.restartPatience = .seconds(30)
        return configuration
    }
}

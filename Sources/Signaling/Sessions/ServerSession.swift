internal import RTCShareContentShare
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A session at a server, through which a connection's two ends exchange descriptions and candidates.
@SharingActor protocol ServerSession: Sendable {
    /// Starts the session; returns the server's maximum bitrate, if it names one. If this throws, there may still be a
    /// session at the server, which ``end()`` ends.
    func begin() async throws -> DataRate?

    /// Passes the server's events of the session to `take`, in order, until there are no more.
    func receiveNotices(_ take: @Sendable (SessionNotice) async -> Void) async

    /// Requests an ICE restart. Until there is another route, media continues on the old one.
    func restart() async -> SessionRestart

    /// Sends a candidate to the server.
    func send(_ candidate: CandidateAttribute, mid: String, ufrag: String) async

    /// Notifies the server of the end. A rejection has no effect.
    func end() async
}

/// An event of a session from the server.
enum SessionNotice: Sendable {
    /// So many packets were lost, at most 65536.
    case losses(Int)
    /// The session has ended, with an error if it failed, without one if the server ended it.
    case ended((any Error)?)
}

/// The outcome of a request for an ICE restart.
enum SessionRestart: Sendable {
    /// The server supports it: a route is being searched.
    case begun
    /// The server does not support it.
    case refused
    /// The server does not know the session.
    case gone
    /// The server could not be reached.
    case unreachable
}

extension SessionDescription {
    /// Reads a description of a server, which can be a megabyte long, on Swift's thread pool.
    @concurrent
    static func reading(_ text: some Sequence<UInt8> & Sendable) async throws -> SessionDescription {
        try parse(utf8: Array(text))
    }
}

extension Connection.Configuration {
    /// The configuration for a connection whose ICE can be restarted through a server.
    var mending: Self {
        var configuration = self
        configuration.usesTrickleICE = true
        // ICE can be restarted during this time.
        configuration.restartTimeout = .seconds(30)
        return configuration
    }
}

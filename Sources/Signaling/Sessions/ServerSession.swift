internal import RTCShareContentShare
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A session as a server has it: what a connection's two ends have to tell each other goes through it.
@SharingActor protocol ServerSession: Sendable {
    /// Meets the server; returns what it takes at most, where it says so. If that throws, there may be a session at the
    /// server all the same: ``end()`` ends it.
    func begin() async throws -> DataRate?

    /// Hands on what the server says of the session by itself, in order, until it says no more.
    func receiveNotices(_ take: @Sendable (SessionNotice) async -> Void) async

    /// Asks for another way. Until there is one, media go on as they did.
    func restart() async -> SessionRestart

    /// Tells the server of a candidate.
    func send(_ candidate: CandidateAttribute, mid: String, ufrag: String) async

    /// Tells the server the end. Its refusal changes nothing.
    func end() async
}

/// What a server says of a session by itself.
enum SessionNotice: Sendable {
    /// So many packets did not come through, 65536 at most.
    case losses(Int)
    /// It is over: with an error where it failed, without where the other side took its leave.
    case ended((any Error)?)
}

/// What became of it that another way was asked for.
enum SessionRestart: Sendable {
    /// The server takes part: it is looked for.
    case begun
    /// The server takes no part in it.
    case refused
    /// The server knows of no such session.
    case gone
    /// The server could not be asked.
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
    /// The same for a connection whose peer a server can be asked to find again.
    var mending: Self {
        var configuration = self
        configuration.trickles = true
        // There is a way to restart while this lasts.
        configuration.restartPatience = .seconds(30)
        return configuration
    }
}

/// Messages of a Janus that wait for their reader, which is always faster than an honest server.
let mostMessagesWaiting = 256

/// How a Janus is spoken to.
protocol JanusTransport: Sendable {
    /// What it says, until it can be heard no more; one reader.
    var arrivals: AsyncThrowingStream<JanusMessage, any Error> { get }
    /// How often a session has to be heard of that nothing else is asked of; nil where hearing it is enough.
    var keepalivePause: Duration? { get }

    /// Sends a request. What is said to it arrives as all else. Messages are coded off the sharing actor: a hostile server's are
    /// a megabyte.
    @concurrent func send(_ request: JanusRequest) async throws

    /// Hears what comes of a session by itself.
    func poll(session: UInt64)

    /// Ends it.
    func close()
}

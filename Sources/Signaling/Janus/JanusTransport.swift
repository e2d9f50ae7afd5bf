/// The maximum number of Janus messages that wait for their reader, which is always faster than an honest server.
let mostMessagesWaiting = 256

/// The transport of Janus messages.
protocol JanusTransport: AnyObject, Sendable {
    /// The received messages, until the connection ends, for one reader.
    var arrivals: AsyncThrowingStream<JanusMessage, any Error> { get }
    /// The interval of keepalive requests; nil if receiving messages is sufficient.
    var keepalivePause: Duration? { get }

    /// Sends a request. Its response is one of the ``arrivals``. Messages are encoded and decoded off the sharing
    /// actor, because those of a hostile server can have a megabyte.
    @concurrent func send(_ request: JanusRequest) async throws

    /// Receives the events of a session.
    func poll(session: UInt64)

    /// Closes the transport.
    func close()
}

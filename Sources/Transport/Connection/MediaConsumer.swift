internal import NIOCore
package import RTCSharePeerConnection

/// Takes the media that the peer of a connection sends. The connection owns it and calls it on its event loop.
package protocol MediaConsumer: AnyObject {
    /// Takes a frame or a packet, in the order of decoding.
    func receive(_ received: PeerConnection.Received, from connection: isolated Connection)
    /// Takes note of an event, after everything that was received before it.
    func handle(_ event: PeerConnection.Event, from connection: isolated Connection)
    /// Adds its counts to a report of the connection's.
    func add(to report: inout StatisticsReport)
    /// Takes note that the connection is over.
    func finish()
}

extension Connection {
    /// Gives what the peer sends to the consumer that `make` returns, from now on; from any thread. Before the first consumer it
    /// is thrown away.
    package nonisolated func setConsumer(_ make: @escaping @Sendable () -> any MediaConsumer) {
        eventLoop.execute { self.assumeIsolated { $0.begin(with: make()) } }
    }

    private func begin(with consumer: any MediaConsumer) {
        self.consumer = consumer
        if isNegotiated { consumer.handle(.remoteMediaChanged, from: self) }
        if isOver { consumer.finish() }
    }

    /// Gives the consumer what arrived.
    func passOnReceived() {
        while let received = peer.nextReceived() { consumer?.receive(received, from: self) }
    }
}

internal import NIOCore
package import RTCSharePeerConnection

/// A receiver of the media that a connection's peer sends. The connection owns it and calls it on its event loop.
package protocol MediaConsumer: AnyObject {
    /// Receives a frame or a packet, in decoding order.
    func receive(_ received: PeerConnection.Received, from connection: isolated Connection)
    /// Handles an event, after everything that was received before it.
    func handle(_ event: PeerConnection.Event, from connection: isolated Connection)
    /// Adds its counts to a report of the connection.
    func add(to report: inout StatisticsReport)
    /// Handles the end of the connection.
    func finish()
}

extension Connection {
    /// Sets the consumer of the peer's media, which `make` returns. Any thread can call it. Media before the first
    /// consumer is discarded.
    package nonisolated func setConsumer(_ make: @escaping @Sendable () -> any MediaConsumer) {
        eventLoop.execute { self.assumeIsolated { $0.begin(with: make()) } }
    }

    private func begin(with consumer: any MediaConsumer) {
        self.consumer = consumer
        if isNegotiated { consumer.handle(.remoteMediaChanged, from: self) }
        if isOver { consumer.finish() }
    }

    /// Passes received media to the consumer.
    func passOnReceived() {
        while let received = peer.nextReceived() { consumer?.receive(received, from: self) }
    }
}

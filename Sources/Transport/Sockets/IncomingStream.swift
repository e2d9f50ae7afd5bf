internal import Glibc
package import NIOCore
internal import RTCShareICE
internal import RTCShareSTUN
internal import RTCShareWireFormat

/// A TCP connection that a peer has opened (RFC 6544), with the first bytes that it sent: a STUN request in the framing
/// of RFC 4571.
///
/// It belongs to no event loop, so that it can go to that of the connection which the request names. Its owner closes it
/// or moves it.
struct IncomingStream: Sendable {
    /// The descriptor of the connection, in addition to that of ``former``.
    let descriptor: CInt
    /// The channel that accepted the connection, which reads nothing more.
    let former: any Channel
    /// The bytes that were received so far, with the whole first message.
    let received: ByteBuffer
    /// The peer's address.
    let source: TransportAddress
    /// The address that the peer connected to.
    let local: TransportAddress
    /// The observer of the connection's progress.
    let observer: IncomingStreamObserver

    /// The user name fragment of the side that the request is for (RFC 8445 §7.2.2); nil if this is no such request.
    var localFragment: String? {
        var framer = RFC4571Framer()
        framer.append(received.readableBytesSpan)
        guard let first = framer.next(), let message = try? STUNMessage(parsing: first.span.bytes),
            message.messageClass == .request
        else { return nil }
        return message.username?.split(separator: ":", maxSplits: 1).first.map(String.init)
    }

    /// Closes the connection.
    func close() {
        Glibc.close(descriptor)
        former.close(promise: nil)
    }

    /// Leaves the connection to another channel.
    func move(to channel: any Channel) {
        observer.didMove(channel)
        former.close(promise: nil)
    }
}

/// The functions that learn what becomes of a connection of a peer, called on its event loop.
package struct IncomingStreamObserver: Sendable {
    /// Called when the connection has another channel.
    package var didMove: @Sendable (any Channel) -> Void
    /// Called when the peer has shown that it knows the ICE password.
    package var isProven: @Sendable (any Channel) -> Void

    package init(
        didMove: @escaping @Sendable (any Channel) -> Void, isProven: @escaping @Sendable (any Channel) -> Void
    ) {
        self.didMove = didMove
        self.isProven = isProven
    }
}

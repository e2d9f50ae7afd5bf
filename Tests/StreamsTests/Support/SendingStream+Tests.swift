import NIOCore
import NIOPosix
import RTCSharePeerConnection
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

/// Reports of connections on their senders, made by a test: the connections do not know these senders.
extension SendingStream {
    /// Sends over a connection, whose peer accepts the media with these parameters.
    func attach(
        _ connection: Connection, media: Int, limits: SendingLimits = SendingLimits(), opus: OpusParameters? = nil
    ) {
        let known = sender(on: connection)
        let sender = known ?? makeSender(over: connection, media: [media])
        if known == nil { addFromOutside(sender, isActive: true) }
        var agreement = SenderAgreement()
        agreement.media = .agreed
        agreement.limits = limits
        agreement.opus = opus
        sender.receive(.negotiated(agreement))
    }

    func detach(_ connection: Connection) { remove(connection) }

    /// Adds a sender on its connection's event loop, and returns then.
    func addFromOutside(_ sender: Sender, isActive: Bool) {
        let eventLoop = sender.connection.eventLoop
        if eventLoop.inEventLoop { return add(sender, isActive: isActive) }
        #expect(throws: Never.self) { try eventLoop.submit { self.add(sender, isActive: isActive) }.wait() }
    }

    func keep(to limits: SendingLimits, of connection: Connection) { attach(connection, media: 0, limits: limits) }

    func keep(to parameters: OpusParameters, of connection: Connection) {
        attach(connection, media: 0, opus: parameters)
    }

    func keep(to target: BitrateTarget, of connection: Connection) { sender(on: connection)?.receive(.target(target)) }

    func requestKeyFrame(for connection: Connection) { sender(on: connection)?.receive(.keyFrameRequested) }

    func note(loss: Double, of connection: Connection) { sender(on: connection)?.receive(.lossReported(loss)) }
}

extension AudioSendStream {
    /// Returns after all earlier events are processed.
    func settle() {
        // Of a function that does nothing, the compiler leaves out the visit of the loop.
        eventLoop.preconditionInEventLoop()
    }
}

extension HomeLoop {
    /// The event loop of a connection, or another one.
    init(of connection: Connection, isOwn: Bool) {
        let loops = MultiThreadedEventLoopGroup.singleton.makeIterator()
        let other = loops.first { $0 !== connection.eventLoop } ?? connection.eventLoop
        self = isOwn ? HomeLoop(of: connection) : HomeLoop(eventLoop: other)
    }
}

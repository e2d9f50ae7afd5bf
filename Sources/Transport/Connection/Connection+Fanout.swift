internal import NIOCore
internal import RTCSharePeerConnection
package import RTCShareRTP
internal import RTCShareWireFormat

/// The transmission of one frame to a whole room.
extension Connection {
    /// Sends an encoded frame through any number of senders, from any thread. Each list has the senders of one event
    /// loop: their connections are visited in one step, and their packets leave in one batch. Those of the calling
    /// event loop are visited last, and before this returns.
    package static func send<Sender: RTPSender>(_ frame: PacketizedFrame, through lists: [[Sender]]) {
        send(through: lists) { $0.send(frame, media: $1, now: $2) }
    }

    /// Sends encoded audio through any number of senders, as ``send(_:through:)`` does with frames.
    package static func send<Sender: RTPSender>(_ frame: EncodedAudioFrame, through lists: [[Sender]]) {
        send(through: lists) { $0.send(frame, media: $1, now: $2) }
    }

    private static func send<Sender: RTPSender>(
        through lists: [[Sender]],
        _ body: @escaping @Sendable (inout PeerConnection, _ media: Int, _ now: Instant) -> Void
    ) {
        var own: [Sender] = []
        for senders in lists {
            guard let eventLoop = senders.first?.connection.eventLoop else { continue }
            if eventLoop.inEventLoop {
                own = senders
            } else {
                eventLoop.execute { send(through: [senders], body) }
            }
        }
        guard let eventLoop = own.first?.connection.eventLoop else { return }
        let loop = ConnectionLoop.of(eventLoop)
        loop.beginGathering()
        for sender in own {
            sender.connection.assumeIsolated {
                let now = MonotonicClock.now
                body(&$0.peer, sender.media, now)
                $0.drain(now: now)
            }
        }
        loop.endGathering()
    }
}

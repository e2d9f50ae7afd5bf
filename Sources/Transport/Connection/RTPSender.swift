package import RTCSharePeerConnection

/// Sends one medium over one connection (W3C `RTCRtpSender`).
package protocol RTPSender: AnyObject, Sendable {
    /// The connection that it sends over.
    var connection: Connection { get }
    /// The media's index on the connection.
    var media: Int { get }

    /// Takes feedback of the connection, on the connection's event loop. Must not wait.
    func receive(_ feedback: SenderFeedback)
}

extension RTPSender {
    /// The connection's event loop. One closure sends a frame over all connections of a loop.
    package var loop: ObjectIdentifier { ObjectIdentifier(connection.eventLoop) }

    // MARK: On the connection's event loop

    /// Sends the media, or holds it back for now, from the next description on that has a place for it.
    package func begin(isSending: Bool, isHeldBack: Bool, on connection: isolated Connection) {
        let now = MonotonicClock.now
        if isHeldBack { connection.peer.setHeldBack(true, media: media, now: now) }
        if isSending { connection.peer.setSending(true, media: media, now: now) }
        connection.drain(now: now)
    }

    // MARK: From any thread

    /// Sends the media, or stops sending it, and notifies the peer. The next offer says so too. Media that the peer has not agreed
    /// to keep their place in the descriptions.
    package func setSending(_ isSending: Bool) {
        connection.onEventLoop { [media] peer in
            guard isSending || peer.agreement(media: media) == .agreed else { return }
            peer.setSending(isSending, media: media, now: MonotonicClock.now)
        }
    }

    /// Holds the media back, or sends it again, and notifies the peer. Its place in the descriptions stays as it is.
    package func setHeldBack(_ isHeldBack: Bool) {
        connection.onEventLoop { [media] in $0.setHeldBack(isHeldBack, media: media, now: MonotonicClock.now) }
    }

    /// Notifies the peer that the media is shared to a subgroup, or with nil to everybody.
    package func setSubgroup(_ subgroup: String?) {
        connection.onEventLoop { [media] in $0.setSubgroup(subgroup, media: media, now: MonotonicClock.now) }
    }

    /// Sets what the encoder could use, by which the path's rate is divided.
    package func setDemand(_ demand: BitrateDemand) {
        connection.onEventLoop { [media] in $0.setDemand(demand, media: media, now: MonotonicClock.now) }
    }
}

/// What a connection reports to one of its senders.
package enum SenderFeedback: Sendable {
    /// The newest descriptions' agreement, once media can flow. It may be the same as before.
    case negotiated(SenderAgreement)
    /// What the path has for it.
    case target(BitrateTarget)
    /// The peer needs a key frame.
    case keyFrameRequested
    /// The peer's newest report misses this share of its packets, 0 to 1.
    case lossReported(Double)
    /// The peer stopped answering and may come back, or it answers again.
    case unresponsive(Bool)
    /// The connection is over.
    case ended
}

/// What the descriptions say of one sender.
package struct SenderAgreement: Sendable, Hashable {
    /// Whether the peer takes it.
    package var media = MediaAgreement.pending
    /// The peer's limits.
    package var limits = SendingLimits()
    /// The peer's parameters of audio. Nil for video.
    package var opus: OpusParameters?

    /// Nothing is known before the peer's description.
    package init() {}
}

/// Sends over connections, through a sender for each.
package protocol SenderOwner: AnyObject, Sendable {
    associatedtype Sender: RTPSender

    /// Makes the sender for the media of this index.
    func makeSender(over connection: Connection, media: Int) -> Sender
}

package import RTCSharePeerConnection

/// A connection's place for one of its media, as W3C's `RTCRtpSender` is: what a pipeline sends through.
///
/// What the peer and the path say of it goes from the connection's event loop straight to its owner, the pipeline.
package final class RTPSender: Sendable {
    /// What it sends over.
    package let connection: Connection
    /// The media's index on the connection.
    package let media: Int
    let kind: LocalIdentity.MediaKind
    private let owner: @Sendable () -> (any SenderOwner)?

    init(connection: Connection, media: Int, kind: LocalIdentity.MediaKind, owner: any SenderOwner) {
        self.connection = connection
        self.media = media
        self.kind = kind
        self.owner = { [weak owner] in owner }
    }

    /// Whether it was made for `owner`.
    func isOf(_ owner: any SenderOwner) -> Bool { self.owner() === owner }

    /// Hands on what the connection says.
    func tell(_ feedback: SenderFeedback) { owner()?.receive(feedback, of: self) }

    // MARK: From any thread

    /// Sends the media, or stops sending it, which the peer is told; the next offer says so too.
    func setSending(_ isSending: Bool) {
        connection.onEventLoop { [media] in $0.setSending(isSending, media: media, now: MonotonicClock.now) }
    }

    /// Holds the media back, which the peer is told, or sends it again. Its place in the descriptions is left as it is.
    func setHeldBack(_ isHeldBack: Bool) {
        connection.onEventLoop { [media] in $0.setHeldBack(isHeldBack, media: media, now: MonotonicClock.now) }
    }

    /// Tells the peer that the media is shared to a subgroup, or nil to everybody.
    package func setSubgroup(_ subgroup: String?) {
        connection.onEventLoop { [media] in $0.setSubgroup(subgroup, media: media, now: MonotonicClock.now) }
    }

    /// Says what the encoder could use, for the path's rate to be divided by.
    package func setDemand(_ demand: BitrateDemand) {
        connection.onEventLoop { [media] in $0.setDemand(demand, media: media, now: MonotonicClock.now) }
    }
}

extension RTPSender: Hashable {
    /// A sender is itself alone.
    package static func == (left: RTPSender, right: RTPSender) -> Bool { left === right }

    /// By which one it is.
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What a connection says of one of its senders.
package enum SenderFeedback: Sendable {
    /// What the newest descriptions say, from when media can flow; maybe no more than was told before.
    case negotiated(SenderAgreement)
    /// What the path has for it.
    case target(BitrateTarget)
    /// The peer needs a key frame.
    case keyFrameRequested
    /// The peer's newest report misses this share of its packets, 0 to 1.
    case lossReported(Double)
    /// The peer does not answer, and may come back; or it answers again.
    case away(Bool)
    /// The connection is over.
    case ended
}

/// What the descriptions say of one sender.
package struct SenderAgreement: Sendable, Hashable {
    /// Whether the peer takes it.
    package var media = MediaAgreement.pending
    /// What the peer asks of it.
    package var limits = SendingLimits()
    /// What the peer asks of sound; nil for pictures.
    package var opus: OpusParameters?

    /// Nothing is known before the peer's description.
    package init() {}
}

/// Who sends through a sender.
package protocol SenderOwner: AnyObject, Sendable {
    /// Takes what a connection says of a sender, on the connection's event loop: without waiting for anything.
    func receive(_ feedback: SenderFeedback, of sender: RTPSender)
}

/// What sends one media of ours to any number of connections, each through a sender.
package protocol SendingPipeline: SenderOwner {
    /// Sends through this sender too, once its peer takes it; `isIncluded`: it is to be sent what there is now.
    func add(_ sender: RTPSender, isIncluded: Bool)

    /// Sends nothing more over a connection.
    func remove(_ connection: Connection)

    /// Has the peer at a connection be sent what there is, or not: who goes out is told that it is gone.
    func setIncluded(_ isIncluded: Bool, on connection: Connection)

    /// The sender on a connection.
    func sender(on connection: Connection) -> RTPSender?

    /// Records what is sent, or would be if anybody took it, until `source` records nothing any more: in a track of this
    /// name, which players show first where it is a main one. Of two recordings the later holds.
    func record(to source: RecordingSource, name: String, isMain: Bool)
}

package import RTCSharePeerConnection
package import RTCShareRTP

/// A sender of one medium over one connection (W3C `RTCRtpSender`).
package protocol RTPSender: AnyObject, Sendable {
    /// The connection that it uses.
    var connection: Connection { get }
    /// The media's index on the connection.
    var media: Int { get }
    /// The senders of the further layers of its simulcast, which start, pause and end with it; usually none.
    var layers: [Self] { get }

    /// Handles feedback of the connection, on the connection's event loop. Must not wait.
    func receive(_ feedback: SenderFeedback)

    /// Handles the agreement of the descriptions while the connection is being established, on the connection's event
    /// loop. Must not wait.
    func expectConnection(_ agreement: SenderAgreement)
}

extension RTPSender {
    package var layers: [Self] { [] }

    package func expectConnection(_ agreement: SenderAgreement) {}

    /// The media of the sender and of its layers.
    private var allMedia: [Int] { [media] + layers.map(\.media) }

    /// The connection's event loop. One closure sends a frame over all connections of a loop.
    package var loop: ObjectIdentifier { ObjectIdentifier(connection.eventLoop) }

    // MARK: On the connection's event loop

    /// Starts sending the media, or pauses it for now, from the next description on that has a section for it.
    package func begin(isSending: Bool, isHeldBack: Bool, on connection: isolated Connection) {
        let now = MonotonicClock.now
        for media in allMedia {
            if isHeldBack { connection.peer.setHeldBack(true, media: media, now: now) }
            if isSending { connection.peer.setSending(true, media: media, now: now) }
        }
        connection.drain(now: now)
    }

    // MARK: From any thread

    /// Starts or stops sending the media, and notifies the peer. The next offer has the same state. Media to which the
    /// peer has not agreed keep their section in the descriptions.
    package func setSending(_ isSending: Bool) {
        connection.onEventLoop { [allMedia] peer in
            guard isSending || allMedia.contains(where: { peer.agreement(media: $0) == .agreed }) else { return }
            for media in allMedia { peer.setSending(isSending, media: media, now: MonotonicClock.now) }
        }
    }

    /// Pauses or resumes the media, and notifies the peer. Its section in the descriptions does not change.
    package func setHeldBack(_ isHeldBack: Bool) {
        connection.onEventLoop { [allMedia] peer in
            for media in allMedia { peer.setHeldBack(isHeldBack, media: media, now: MonotonicClock.now) }
        }
    }

    /// Sets the codecs in the next description, in order of preference (W3C `setCodecPreferences`); empty for all.
    package func setCodecPreferences(_ formats: [any VideoPayloadFormat]) {
        connection.onEventLoop { [media] in $0.setCodecPreferences(formats, media: media) }
    }

    /// Notifies the peer of the subgroup with which the media is shared, or with nil that there is none.
    package func setSubgroup(_ subgroup: String?) {
        connection.onEventLoop { [allMedia] peer in
            for media in allMedia { peer.setSubgroup(subgroup, media: media, now: MonotonicClock.now) }
        }
    }

    /// Sets the bitrate that the encoder could use, by which the route's bitrate is divided.
    package func setDemand(_ demand: BitrateDemand) {
        connection.onEventLoop { [media] in $0.setDemand(demand, media: media, now: MonotonicClock.now) }
    }
}

/// The feedback of a connection to one of its senders.
package enum SenderFeedback: Sendable {
    /// The agreement of the newest descriptions, when media can flow. It may be unchanged.
    case negotiated(SenderAgreement)
    /// The target bitrate for it.
    case target(BitrateTarget)
    /// The peer needs a key frame.
    case keyFrameRequested
    /// The fraction of packets that the peer reported as lost, 0 to 1.
    case lossReported(Double)
    /// Whether the peer has stopped answering, and may return.
    case unresponsive(Bool)
    /// The connection is over.
    case ended
}

/// The agreement of the descriptions on one sender.
package struct SenderAgreement: Sendable, Hashable {
    /// Whether the peer accepts it.
    package var media = MediaAgreement.pending
    /// The peer's limits.
    package var limits = SendingLimits()
    /// The peer's parameters of audio. Nil for video.
    package var opus: OpusParameters?
    /// The codecs of video that the peer accepts, in its order of preference. A frame of any of them can be sent.
    package var formats: [NegotiatedFormat] = []

    /// Creates the state before the peer's description.
    package init() {}
}

/// An owner of senders, one for each connection.
package protocol SenderOwner: AnyObject, Sendable {
    associatedtype Sender: RTPSender

    /// The codecs of its video, in order of preference; empty for all in the connection's order.
    var codecPreferences: [any VideoPayloadFormat] { get }

    /// Creates the sender for the media of these indices: one, or the layers of a simulcast, the best first.
    func makeSender(over connection: Connection, media: [Int]) -> Sender
}

extension SenderOwner {
    package var codecPreferences: [any VideoPayloadFormat] { [] }
}

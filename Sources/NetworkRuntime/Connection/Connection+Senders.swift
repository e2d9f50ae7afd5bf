package import RTCSharePeerConnection

/// Those who send over a connection.
extension Connection {
    /// A sender that is not kept alive: the place of one that nobody has any more can be taken.
    struct SenderReference {
        weak var sender: RTPSender?
    }

    /// The sender of a kind of media for one owner alone: what the descriptions have and nobody took yet, or new media,
    /// which take effect with the next offer and its answer. The owner that has one gets the same again, and another in its
    /// place once the peer rejected it for good. At most `limit` of the same nature (pictures or sound, content or
    /// not) are given out.
    package func sender(
        of kind: LocalIdentity.MediaKind, for owner: any SenderOwner, atMost limit: Int
    ) throws(SenderError) -> RTPSender {
        guard !isClosed else { throw .closed }
        // What the peer rejected is nobody's any more: it can be offered anew.
        senders = senders.filter { $0.value.sender != nil && !peer.hasEnded(media: $0.key) }
        let present = senders.values.compactMap(\.sender)
        if let known = present.first(where: { $0.kind == kind }) {
            guard known.isOf(owner) else { throw .taken }
            return known
        }
        let alike = present.filter { $0.kind.isVideo == kind.isVideo && $0.kind.isContent == kind.isContent }
        guard alike.count < limit else { throw .limit(limit) }
        let sender = RTPSender(connection: self, media: try index(of: kind), kind: kind, owner: owner)
        senders[sender.media] = SenderReference(sender: sender)
        return sender
    }

    private func index(of kind: LocalIdentity.MediaKind) throws(SenderError) -> Int {
        let media = peer.localMedia
        if let known = media.indices.first(where: { media[$0].kind == kind && !peer.hasEnded(media: $0) }) {
            return known
        }
        do {
            return try peer.addMedia(kind)
        } catch {
            throw .limit(PeerConnection.maximumMedia)
        }
    }

    /// Tells a sender's owner what is known of it by now.
    package func report(to sender: RTPSender) {
        guard hasConnected, !isClosed else { return }
        sender.tell(.negotiated(agreement(of: sender)))
    }

    /// What the descriptions say of a sender.
    func agreement(of sender: RTPSender) -> SenderAgreement {
        var agreement = SenderAgreement()
        agreement.media = peer.agreement(media: sender.media)
        agreement.limits = peer.mediaLimits(media: sender.media)
        agreement.opus = peer.opusParameters(media: sender.media)
        return agreement
    }

    /// Tells a sender's owner what is of no interest to anybody else, and all of them what follows for them from the rest;
    /// returns whether it is for everybody.
    func tellSenders(_ event: PeerConnection.Event) -> Bool {
        switch event {
        case .targetBitrateChanged(let target, let media): senders[media]?.sender?.tell(.target(target))
        case .keyFrameRequested(let media): senders[media]?.sender?.tell(.keyFrameRequested)
        case .lossReported(let fraction, let media): senders[media]?.sender?.tell(.lossReported(fraction))
        case .connected:
            hasConnected = true
            reportToSenders()
            return true
        case .remoteMediaChanged:
            reportToSenders()
            return true
        case .disconnected:
            tellAll(.away(true))
            return true
        case .reconnected:
            tellAll(.away(false))
            return true
        case .feedbackStopped(let isSilent):
            tellAll(.away(isSilent))
        case .closedByPeer, .failed:
            endSenders()
            return true
        default: return true
        }
        return false
    }

    private func tellAll(_ feedback: SenderFeedback) {
        for reference in senders.values { reference.sender?.tell(feedback) }
    }

    private func reportToSenders() {
        for reference in senders.values { if let sender = reference.sender { report(to: sender) } }
    }

    /// Tells those who send that there is nothing to send over any more.
    func endSenders() {
        let ended = senders.values.compactMap(\.sender)
        senders = [:]
        for sender in ended { sender.tell(.ended) }
    }
}

package import RTCSharePeerConnection

/// The senders of a connection.
extension Connection {
    /// A weak reference to a sender. After its release, its media can be used by another.
    struct SenderReference {
        weak var sender: (any RTPSender)?
        /// Whether the media is a layer of another media's simulcast.
        var isLayer = false
        let kind: LocalIdentity.MediaKind
        weak var owner: AnyObject?
    }

    /// Returns the sender of a kind of media for one owner: through media of the descriptions that are not in use, or
    /// through new media, which take effect with the next offer and its answer. An owner that has a sender gets the
    /// same one, and another one if the peer has permanently rejected it. At most `limit` of the same nature (video or
    /// audio, content or not) can be in use.
    package func sender<Owner: SenderOwner>(
        of kind: LocalIdentity.MediaKind, for owner: Owner, atMost limit: Int
    ) throws(SenderError) -> Owner.Sender {
        guard !isClosed else { throw .closed }
        // Media that the peer has rejected are not in use any more and can be offered again.
        senders = senders.filter { $0.value.sender != nil && !peer.hasEnded(media: $0.key) }
        let leading = senders.values.filter { !$0.isLayer }
        if let known = leading.first(where: { $0.kind == kind }) {
            guard known.owner === owner, let sender = known.sender as? Owner.Sender else { throw .taken }
            return sender
        }
        let alike = leading.filter { $0.kind.isVideo == kind.isVideo && $0.kind.isContent == kind.isContent }
        guard alike.count < limit else { throw .limit(limit) }
        let sender = owner.makeSender(over: self, media: peer.layers(ofMedia: try index(of: kind)))
        senders[sender.media] = SenderReference(sender: sender, kind: kind, owner: owner)
        for layer in sender.layers {
            senders[layer.media] = SenderReference(sender: layer, isLayer: true, kind: kind, owner: owner)
        }
        peer.setCodecPreferences(owner.codecPreferences, media: sender.media)
        return sender
    }

    private func index(of kind: LocalIdentity.MediaKind) throws(SenderError) -> Int {
        let media = peer.localMedia
        if let known = media.indices.first(where: { media[$0].kind == kind && !peer.hasEnded(media: $0) }) {
            return known
        }
        do {
            return try peer.addMedia(kind, layers: configuration.peer.layers(of: kind))
        } catch {
            throw .limit(PeerConnection.maximumMedia)
        }
    }

    /// Reports the current state to a sender.
    package func report(to sender: some RTPSender) {
        guard !isClosed else { return }
        let agreement = agreement(of: sender)
        if hasConnected { sender.receive(.negotiated(agreement)) } else { sender.expectConnection(agreement) }
    }

    /// Returns the agreement of the descriptions on a sender.
    package func agreement(of sender: some RTPSender) -> SenderAgreement {
        var agreement = SenderAgreement()
        agreement.media = peer.agreement(media: sender.media)
        agreement.limits = peer.mediaLimits(media: sender.media)
        agreement.opus = peer.opusParameters(media: sender.media)
        agreement.formats = peer.videoFormats(media: sender.media)
        return agreement
    }

    /// Reports an event to the sender that it concerns, and its consequences to all of them. Returns whether the event
    /// concerns others too.
    func notifySenders(_ event: PeerConnection.Event) -> Bool {
        switch event {
        case .targetBitrateChanged(let target, let media): senders[media]?.sender?.receive(.target(target))
        case .keyFrameRequested(let media): senders[media]?.sender?.receive(.keyFrameRequested)
        case .lossReported(let fraction, let media): senders[media]?.sender?.receive(.lossReported(fraction))
        case .stateChanged(.connected):
            if hasConnected {
                notifyAll(.unresponsive(false))
            } else {
                hasConnected = true
                reportToSenders()
            }
            return true
        case .remoteMediaChanged:
            reportToSenders()
            return true
        case .stateChanged(.disconnected):
            notifyAll(.unresponsive(true))
            return true
        case .feedbackStopped(let isSilent):
            notifyAll(.unresponsive(isSilent))
        case .stateChanged(.closed), .stateChanged(.failed):
            end()
            return true
        default: return true
        }
        return false
    }

    private func notifyAll(_ feedback: SenderFeedback) {
        for reference in senders.values { reference.sender?.receive(feedback) }
    }

    private func reportToSenders() {
        // Media that nobody sends, such as audio that may be shared later, need no bitrate.
        for media in peer.localMedia.indices where senders[media]?.sender == nil {
            peer.setDemand(.zero, media: media, now: MonotonicClock.now)
        }
        for reference in senders.values { if let sender = reference.sender { report(to: sender) } }
    }

    /// Notifies the senders and the consumer that the connection is over.
    func end() {
        isOver = true
        consumer?.finish()
        let ended = senders.values.compactMap(\.sender)
        senders = [:]
        for sender in ended { sender.receive(.ended) }
    }
}

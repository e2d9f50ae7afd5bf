internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The receivers of a connection. Each begins with the first frame that arrives for it.
extension Connection {
    /// Passes what arrived on to its receivers.
    func passOnReceived() {
        while let received = peer.nextReceived() {
            switch received {
            case .frame(let frame, let index):
                let receiver = videoReceiver(index)
                if let size = receiver.receive(frame) { pendingMedia.append(.frameSizeChanged(size, receiver)) }
            case .packet(let packet, let index):
                let receiver =
                    audioReceivers[index] ?? AudioReceiver(index: index, of: peer.remoteMedia[index].streamID)
                receiver.receive(packet)
                if audioReceivers.updateValue(receiver, forKey: index) == nil {
                    pendingMedia.append(.soundBegan(receiver))
                }
            }
        }
    }

    private func videoReceiver(_ index: Int) -> VideoReceiver {
        if let receiver = videoReceivers[index] { return receiver }
        let receiver = VideoReceiver(index: index) { [weak self] in
            self?.onEventLoop { $0.requestKeyFrame(ofReceiver: index, now: MonotonicClock.now) }
        }
        videoReceivers[index] = receiver
        return receiver
    }

    /// Reports what changes about the media that the peer sends.
    func reportMedia(_ event: PeerConnection.Event) {
        switch event {
        case .remoteMediaChanged:
            let media = peer.remoteMedia
            videoReceivers = videoReceivers.filter { media[$0.key].isActive }
            audioReceivers = audioReceivers.filter { $0.value.receives(media[$0.key]) }
            pendingMedia.append(.remoteMediaChanged(media))
        case .activityChanged(let activity, let index):
            if activity == .ended { (videoReceivers[index], audioReceivers[index]) = (nil, nil) }
            pendingMedia.append(.activityChanged(activity, receiver: index))
        case .closedByPeer, .failed: pendingMedia.finish()
        default: break
        }
    }

    /// Completes a report with what the receivers count.
    func completeReceivers(_ report: inout [StatisticsObject]) {
        for receiver in peer.remoteMedia.indices {
            let id = StatisticsObject.inboundID(receiver: receiver)
            guard let place = report.firstIndex(where: { $0.id == id }) else { continue }
            videoReceivers[receiver]?.complete(&report[place])
            audioReceivers[receiver]?.complete(&report[place])
        }
    }
}

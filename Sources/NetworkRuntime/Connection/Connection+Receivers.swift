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
        case .stateChanged(.closed), .stateChanged(.failed): pendingMedia.finish()
        default: break
        }
    }

    /// Adds the counts of the receivers to a report.
    func addReceivers(to report: inout StatisticsReport) {
        for (index, receiver) in videoReceivers {
            report.inboundRTP[index]?.video?.framesDropped += receiver.framesDropped
            report.inboundRTP[index]?.decoder = receiver.statistics
        }
        for (index, receiver) in audioReceivers {
            report.inboundRTP[index]?.packetsDiscarded = receiver.packetsDiscarded
            report.inboundRTP[index]?.jitterBuffer = receiver.statistics
        }
    }
}

internal import RTCSharePeerConnection
package import RTCShareTransport

extension Connection {
    /// Passes the peer's media to new receivers from now on, which replace those of an earlier call. Any thread can
    /// call it. Media before the first call is discarded.
    ///
    /// Returns the changes of the media, in order, until the connection is over. There must be one reader; of states
    /// that were not read in time, only the newest is kept.
    package nonisolated func receiveMedia() -> PendingEvents<MediaEvent>.Stream {
        let events = PendingEvents<MediaEvent>()
        setConsumer { MediaReceivers(events) }
        return events.stream
    }
}

/// The receivers of a connection. Each starts with the first frame that arrives for it.
private final class MediaReceivers: MediaConsumer {
    private let events: PendingEvents<MediaEvent>
    /// The receivers of video, by the indices of the peer's media.
    private var video: [Int: VideoReceiver] = [:]
    /// The receivers of audio, by the indices of the peer's media.
    private var audio: [Int: AudioReceiver] = [:]

    init(_ events: PendingEvents<MediaEvent>) { self.events = events }

    deinit { events.finish() }

    func receive(_ received: PeerConnection.Received, from connection: isolated Connection) {
        switch received {
        case .frame(let frame, let index):
            let receiver = videoReceiver(index, of: connection)
            if let size = receiver.receive(frame) { events.append(.frameSizeChanged(size, receiver)) }
        case .packet(let packet, let index):
            let receiver =
                audio[index] ?? AudioReceiver(index: index, of: connection.remoteMedia[index].streamID)
            receiver.receive(packet)
            if audio.updateValue(receiver, forKey: index) == nil { events.append(.soundBegan(receiver)) }
        }
    }

    private func videoReceiver(_ index: Int, of connection: Connection) -> VideoReceiver {
        if let receiver = video[index] { return receiver }
        let receiver = VideoReceiver(index: index) { [weak connection] in
            connection?.requestKeyFrame(ofReceiver: index)
        }
        video[index] = receiver
        return receiver
    }

    func handle(_ event: PeerConnection.Event, from connection: isolated Connection) {
        switch event {
        case .remoteMediaChanged:
            let media = connection.remoteMedia
            video = video.filter { media[$0.key].isActive }
            audio = audio.filter { $0.value.receives(media[$0.key]) }
            events.append(.remoteMediaChanged(media))
        case .activityChanged(let activity, let index):
            if activity == .ended { (video[index], audio[index]) = (nil, nil) }
            events.append(.activityChanged(activity, receiver: index))
        default: break
        }
    }

    func add(to report: inout StatisticsReport) {
        for (index, receiver) in video {
            report.inboundRTP[index]?.video?.framesDropped += receiver.framesDropped
            report.inboundRTP[index]?.decoder = receiver.statistics
        }
        for (index, receiver) in audio {
            report.inboundRTP[index]?.packetsDiscarded = receiver.packetsDiscarded
            report.inboundRTP[index]?.jitterBuffer = receiver.statistics
        }
    }

    func finish() { events.finish() }
}

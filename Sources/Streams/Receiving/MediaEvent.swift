package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareTransport

/// What changes about the media that a peer sends. The media themselves go to their receivers.
package enum MediaEvent: Sendable {
    /// What the peer sends by its newest descriptions. The index of each is its receiver's.
    case remoteMediaChanged([RemoteMedia])
    /// The pictures of a receiver have this size from now on, upright. A receiver that is not known yet takes the place of the
    /// one that had its index, and keeps its frames until ``VideoReceiver/announced()``.
    case frameSizeChanged(PixelSize, VideoReceiver)
    /// A receiver got its first packet of sound. It takes the place of the one that had its index, and keeps its packets until
    /// ``AudioReceiver/announced()``.
    case soundBegan(AudioReceiver)
    /// Media began to come, or ceased to. After ``ReceiverActivity/ended`` another receiver takes what comes.
    case activityChanged(ReceiverActivity, receiver: Int)
}

extension MediaEvent: QueuedEvent {
    package func outdates(_ old: MediaEvent) -> Bool {
        switch (old, self) {
        case (.remoteMediaChanged, .remoteMediaChanged): true
        case (.frameSizeChanged(_, let receiver), .frameSizeChanged(_, let other)): receiver.index == other.index
        // A receiver that ended has ended, whatever another one gets in its place.
        case (.activityChanged(let activity, let receiver), .activityChanged(let next, let other)):
            receiver == other && (activity != .ended || next == .ended)
        case (.soundBegan(let receiver), .soundBegan(let other)): receiver.index == other.index
        default: false
        }
    }

    /// The reader knows of media before it knows of what comes of them.
    package var keepsPlace: Bool {
        if case .remoteMediaChanged = self { true } else { false }
    }
}

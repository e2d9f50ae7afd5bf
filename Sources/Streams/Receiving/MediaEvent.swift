package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareTransport

/// A change of the media that a peer sends. The media themselves go to their receivers.
package enum MediaEvent: Sendable {
    /// The media that the peer sends by its newest descriptions. The index of each is its receiver's.
    case remoteMediaChanged([RemoteMedia])
    /// The size of a receiver's upright frames from now on. A new receiver replaces the one with the same index, and
    /// keeps its frames until ``VideoReceiver/announced()``.
    case frameSizeChanged(PixelSize, VideoReceiver)
    /// A receiver has its first audio packet. It replaces the one with the same index, and keeps its packets until
    /// ``AudioReceiver/announced()``.
    case soundBegan(AudioReceiver)
    /// Media started or stopped to arrive. After ``ReceiverActivity/ended`` another receiver replaces it.
    case activityChanged(ReceiverActivity, receiver: Int)
}

extension MediaEvent: QueuedEvent {
    package func outdates(_ old: MediaEvent) -> Bool {
        switch (old, self) {
        case (.remoteMediaChanged, .remoteMediaChanged): true
        case (.frameSizeChanged(_, let receiver), .frameSizeChanged(_, let other)): receiver.index == other.index
        // The end of a receiver remains valid, whatever replaces it.
        case (.activityChanged(let activity, let receiver), .activityChanged(let next, let other)):
            receiver == other && (activity != .ended || next == .ended)
        case (.soundBegan(let receiver), .soundBegan(let other)): receiver.index == other.index
        default: false
        }
    }

    /// Whether it keeps its position: the reader must know of media before their events.
    package var keepsPlace: Bool {
        if case .remoteMediaChanged = self { true } else { false }
    }
}

internal import RTCShareLocks
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareRecording
internal import RTCShareWireFormat

/// Records the sounds of a peer, each from when it is announced: it is silent until something is heard.
final class SoundRecording: Sendable {
    private struct Track {
        let attendee: AttendeeID
        let take: @Sendable ([UInt8], MediaTimes) -> Void
    }

    private let source: RecordingSource
    /// By receiver.
    private let tracks = Locked<[Int: Track]>([:])

    init(to source: RecordingSource) {
        self.source = source
    }

    /// Whether anything is still recorded.
    var isOpen: Bool { source.recorder.isOpen }

    /// Whose sound each receiver's is now; nil for what is no sound, or not sent any more.
    func announce(_ attendees: [AttendeeID?]) {
        for (receiver, attendee) in attendees.enumerated() {
            if let attendee { _ = track(of: attendee, receiver: receiver) } else { end(receiver: receiver) }
        }
    }

    /// A sound is over. What comes back goes on in the same track.
    func end(receiver: Int) { tracks.withLock { $0[receiver] = nil } }

    /// Records a packet of an attendee's sound.
    func receive(_ packet: ReceivedAudioPacket, of attendee: AttendeeID, receiver: Int) {
        let times = MediaTimes(
            media: .seconds(1) * packet.timestamp / EncodedAudioFrame.clockRate, capture: packet.captureTime,
            arrival: .nanoseconds(packet.arrival.nanoseconds))
        track(of: attendee, receiver: receiver).take(packet.payload, times)
    }

    private func track(of attendee: AttendeeID, receiver: Int) -> Track {
        if let track = tracks.withLock({ $0[receiver] }), track.attendee == attendee { return track }
        let track = Track(
            attendee: attendee,
            take: source.sound(name: attendee.rawValue, isMain: attendee.modality == .content))
        tracks.withLock { $0[receiver] = track }
        return track
    }
}

package import RTCShareRecording
internal import RTCShareVideoCoding

/// The media of one sender, for a recording.
package struct RecordingSource: Sendable {
    /// The recorder.
    package let recorder: WebMRecorder
    let sender: Int

    /// Restarts the clocks of the sender, before its media are added again over a new connection.
    package func restart() {
        let sender = sender
        recorder.enqueue { $0.restart(sender: sender) }
    }

    /// Returns a function that records the frames of a video, in decoding order. Video of the same name and codec
    /// continues in the same track. `requestKeyFrame` is called when a key frame would be useful for seeking.
    package func picture(
        name: String, isMain: Bool, requestKeyFrame: @escaping @Sendable () -> Void
    ) -> @Sendable (RecordedFrame, MediaTimes) -> Void {
        let (id, sender, recorder) = (recorder.nextID(), sender, recorder)
        recorder.enqueue { $0.addPicture(id, of: sender, name: name, isMain: isMain) }
        return { [weak recorder] frame, times in
            recorder?.enqueue(frame.data.count) { muxer throws(MediaFileError) in
                let asks = try muxer.receive(frame: frame, times, ofPicture: id)
                if asks { requestKeyFrame() }
            }
        }
    }

    /// Returns a function that records the Opus packets of an audio stream. Audio of the same name continues in the
    /// same track.
    package func sound(name: String, isMain: Bool) -> @Sendable ([UInt8], MediaTimes) -> Void {
        let (id, sender, recorder) = (recorder.nextID(), sender, recorder)
        recorder.enqueue { muxer throws(MediaFileError) in
            try muxer.addSound(id, of: sender, name: name, isMain: isMain)
        }
        return { [weak recorder] packet, times in
            recorder?.enqueue(packet.count) { muxer throws(MediaFileError) in
                try muxer.receive(packet: packet, times, ofSound: id)
            }
        }
    }
}

internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareTransport
package import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Receives one video over one connection (W3C `RTCRtpReceiver`): decodes its frames on a thread of its own while there
/// are sinks, so that the network never waits for a decoder.
package final class VideoReceiver: Sendable {
    /// Its index among the media that the peer sends: ``Connection/remoteMedia``.
    package let index: Int
    /// Requests a key frame from the sender.
    package let requestKeyFrame: @Sendable () -> Void
    private let inbox = Mailbox(VideoInbox())
    private let broadcaster = VideoBroadcaster()
    private let thread = Locked<WorkerThread?>(nil)

    init(index: Int, requestKeyFrame: @escaping @Sendable () -> Void) {
        self.index = index
        self.requestKeyFrame = requestKeyFrame
    }

    deinit {
        inbox.post { $0.finish() }
    }

    /// Receives a frame, on the connection's event loop, in decoding order. Returns the size of upright frames from
    /// this one on, if it has changed.
    func receive(_ frame: AssembledFrame) -> PixelSize? {
        let reception = inbox.change { $0.receive(frame) }
        for record in reception.recorders { record(frame) }
        if reception.needsKeyFrame { requestKeyFrame() }
        return reception.size
    }

    // MARK: From any thread

    /// Records that the program knows of the video: sinks and recorders that were added before receive all frames from
    /// the first on. Without a sink nothing is decoded.
    package func announced() {
        while let (frame, recorders) = inbox.change({ $0.announced() }) {
            for record in recorders { record(frame) }
        }
    }

    /// Adds a sink, which receives the decoded frames: from the next one on if decoding is active, otherwise from the
    /// next key frame on, which this requests. A sink that is added after the end is notified of the end.
    package func add(_ sink: any VideoSink) throws(VideoCodingError) {
        try thread.withLock { thread throws(VideoCodingError) in
            guard thread == nil, inbox.read({ $0.stage != .ended }) else { return }
            do throws(WorkerThreadError) {
                // The thread does not hold the receiver, which ends it.
                thread = try WorkerThread(named: "video decoder") { [inbox, broadcaster, requestKeyFrame] in
                    Decoding(inbox: inbox, broadcaster: broadcaster, requestKeyFrame: requestKeyFrame).run()
                }
            } catch {
                throw .threadFailed(reason: systemMessage(error.errorNumber))
            }
        }
        broadcaster.add(sink)
        sinksChanged()
    }

    /// Updates the inbox after a change of the sinks. It reads their current state, whichever of several callers is the
    /// last.
    private func sinksChanged() {
        if inbox.change({ $0.setWatched(broadcaster.hasSinks) }) { requestKeyFrame() }
    }

    /// Removes a sink. A frame that it is receiving on the decoder's thread now is its last.
    package func remove(_ sink: any VideoSink) {
        broadcaster.remove(sink)
        sinksChanged()
    }

    /// Notifies the sinks of the end, and removes them. A frame that they are receiving on the decoder's thread now is
    /// their last.
    package func removeSinks() {
        broadcaster.endSinks(closing: false)
        sinksChanged()
    }

    /// Passes each encoded frame to `body` as it arrives, on the connection's event loop, from the next key frame on,
    /// until the returned function is called.
    @discardableResult
    package func record(_ body: @escaping @Sendable (AssembledFrame) -> Void) -> @Sendable () -> Void {
        let (number, needsKeyFrame) = inbox.post { $0.add(body) }
        if needsKeyFrame { requestKeyFrame() }
        return { [weak inbox] in inbox?.post { $0.removeRecorder(number) } }
    }

    /// Pauses or resumes. During a pause, frames are neither decoded nor recorded. Afterwards it continues with a key
    /// frame.
    package func setPaused(_ isPaused: Bool) {
        if inbox.change({ $0.setPaused(isPaused) }) { requestKeyFrame() }
    }

    /// Notifies the sinks that the video is muted or unmuted.
    package func setMuted(_ isMuted: Bool) { broadcaster.isMuted = isMuted }

    /// Ends reception. Returns when the sinks have received the waiting frames and the end.
    package func finish() async {
        inbox.change { $0.finish() }
        // A decoder that is being started is inside the lock, and ends too.
        if let thread = thread.withLock({ $0 }) { await thread.finish() } else { broadcaster.endSinks(closing: true) }
    }

    /// The number of frames that could not be decoded, or for which there was no time or no key frame.
    package var framesDropped: Int { inbox.read { $0.framesDropped } }

    /// The counts of the decoder; nil if nothing is decoded.
    package var statistics: VideoDecoderStatistics? { inbox.read { $0.decoderStatistics } }
}

extension Mailbox<VideoInbox> {
    /// Changes the inbox. Frames that it drops are freed after the lock was released.
    fileprivate func change<Result>(_ body: (inout VideoInbox) -> Result) -> Result {
        let (result, released) = post { (body(&$0), $0.takeReleased()) }
        withExtendedLifetime(released) {}
        return result
    }
}

/// The decoder's thread.
private struct Decoding {
    /// The codec of the last frame, and its decoder. Nil until the first.
    private var current: (codec: VideoCodec, decoder: any PictureDecoder)?
    private let inbox: Mailbox<VideoInbox>
    private let broadcaster: VideoBroadcaster
    private let requestKeyFrame: @Sendable () -> Void

    init(
        inbox: Mailbox<VideoInbox>, broadcaster: VideoBroadcaster, requestKeyFrame: @escaping @Sendable () -> Void
    ) {
        self.inbox = inbox
        self.broadcaster = broadcaster
        self.requestKeyFrame = requestKeyFrame
    }

    consuming func run() {
        while let frame = inbox.take({ $0.next() }) { decode(frame) }
        broadcaster.endSinks(closing: true)
    }

    private mutating func decode(_ frame: AssembledFrame) {
        let start = MonotonicClock.now
        do {
            let decoder = try decoder(of: frame)
            guard let picture = try decoder.decode(frame.data.span) else { return }
            let (end, quantizer) = (MonotonicClock.now, decoder.lastQuantizer)
            inbox.post { $0.didDecode(frame, size: picture.size, quantizer: quantizer, from: start, to: end) }
            broadcaster.send(
                VideoFrame(
                    buffer: picture, timestamp: .nanoseconds(frame.completion.nanoseconds),
                    rotation: VideoRotation(rawValue: frame.quarterTurns * 90) ?? .upright,
                    captureTime: frame.captureTime))
        } catch {
            if inbox.change({ $0.didNotDecode() }) { requestKeyFrame() }
        }
    }

    /// Returns the decoder of a frame's codec. A sender can change that with each key frame.
    private mutating func decoder(of frame: AssembledFrame) throws -> any PictureDecoder {
        if let current, current.codec.format === frame.format { return current.decoder }
        guard let codec = VideoCodec(of: frame.format) else { throw VideoCodingError.keyFrameNeeded }
        let decoder = try codec.makeDecoder()
        current = (codec, decoder)
        inbox.post { $0.setDecoder(codec.implementation.decoder) }
        return decoder
    }
}

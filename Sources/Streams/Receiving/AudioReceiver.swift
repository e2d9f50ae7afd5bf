internal import RTCShareAudioCoding
internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Receives one audio stream over one connection (W3C `RTCRtpReceiver`): a jitter buffer and a decoder, with playout on
/// a thread of its own from the first sink on.
///
/// Each block of 20 ms reaches the sinks when it is due, with concealment of lost ones. A block's timestamp is its
/// arrival time, comparable to the timestamps of received frames.
package final class AudioReceiver: Sendable {
    /// Its index among the media that the peer sends: ``Connection/remoteMedia``.
    package let index: Int
    /// The id of the media stream at its start.
    private let streamID: String?
    private let inbox = Mailbox(AudioInbox())
    private let broadcaster = AudioBroadcaster()
    private let thread = Locked<WorkerThread?>(nil)

    init(index: Int, of streamID: String? = nil) {
        (self.index, self.streamID) = (index, streamID)
    }

    deinit {
        inbox.post { $0.finish() }
    }

    /// Whether the peer still sends this audio: another attendee's audio counts as another one, for instance if a
    /// conference server forwards another speaker.
    func receives(_ media: RemoteMedia) -> Bool { media.isActive && media.streamID == streamID }

    /// Receives a packet, on the connection's event loop, in order of arrival.
    func receive(_ packet: ReceivedAudioPacket) {
        for record in inbox.post({ $0.receive(packet) }) { record(packet) }
    }

    // MARK: From any thread

    /// Records that the program knows of the audio: sinks and recorders that were added before receive all packets from
    /// the first on.
    package func announced() {
        while let (packet, recorders) = inbox.post({ $0.announced() }) {
            for record in recorders { record(packet) }
        }
    }

    /// Adds a sink, which receives the audio from now on: 48 kHz, in stereo. A sink that is added after the end is
    /// notified of the end.
    package func add(_ sink: any AudioSink) throws {
        try thread.withLock { thread in
            guard thread == nil, inbox.read({ $0.stage != .ended }) else { return }
            let player = Player(playout: try AudioPlayout(channels: 2), broadcaster: broadcaster, inbox: inbox)
            thread = try WorkerThread(named: "audio decoder") { player.run() }
        }
        broadcaster.add(sink)
        inbox.post { $0.play() }
    }

    /// Removes a sink. A block that it is receiving on the player's thread now is its last.
    package func remove(_ sink: any AudioSink) { broadcaster.remove(sink) }

    /// Passes each packet to `body` as it arrives, on the connection's event loop, until the returned function is
    /// called.
    @discardableResult
    package func record(_ body: @escaping @Sendable (ReceivedAudioPacket) -> Void) -> @Sendable () -> Void {
        let number = inbox.post { $0.add(body) }
        return { [weak inbox] in inbox?.post { $0.removeRecorder(number) } }
    }

    /// Sets the minimum delay of the audio, whatever the jitter is (W3C webrtc-extensions `jitterBufferTarget`).
    package func setJitterBufferTarget(_ target: Duration) { inbox.post { $0.jitterBufferTarget = target } }

    /// Ends reception and playout. Returns when the sinks have been notified of the end.
    package func finish() async {
        inbox.post { $0.finish() }
        // A player that is being started is inside the lock, and ends too.
        if let thread = thread.withLock({ $0 }) { await thread.finish() } else { broadcaster.close() }
    }

    /// The number of packets for which there was no room before the jitter buffer; nil if there are none.
    var packetsDiscarded: Int? { inbox.read { $0.packetsDiscarded > 0 ? $0.packetsDiscarded : nil } }

    /// The counts of the jitter buffer; nil if nothing is played.
    package var statistics: JitterBufferStatistics? { inbox.read { $0.statistics } }
}

/// The playout and its timing, for the thread.
private final class Player: Sendable {
    /// Used only by the thread.
    private nonisolated(unsafe) let playout: AudioPlayout
    private let broadcaster: AudioBroadcaster
    private let inbox: Mailbox<AudioInbox>

    /// The capture time of the sample with an RTP timestamp.
    private struct Reference {
        let timestamp: Int64
        let captureTime: Duration
    }

    /// The interval of checks, half a block: due blocks are played at most this late.
    private static let tick = Duration.milliseconds(10)

    init(playout: AudioPlayout, broadcaster: AudioBroadcaster, inbox: Mailbox<AudioInbox>) {
        self.playout = playout
        self.broadcaster = broadcaster
        self.inbox = inbox
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    func run() {
        /// The reference from the newest packet that has one.
        var reference: Reference?
        var nextTick: Duration?
        while case .play(let packets, let target) = inbox.take({ $0.next(at: nextTick, now: Self.now) }) {
            if let target { playout.minimumDelay = target }
            for packet in packets {
                reference = packet.captureTime.map { Reference(timestamp: packet.timestamp, captureTime: $0) }
                playout.insert(
                    sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payload: packet.payload,
                    now: .nanoseconds(packet.arrival.nanoseconds))
            }
            let now = Self.now
            guard let tick = nextTick ?? (packets.isEmpty ? nil : now), tick <= now else { continue }
            nextTick = max(tick + Self.tick, now)
            play(reference, now: now)
        }
        broadcaster.close()
    }

    private func play(_ reference: Reference?, now: Duration) {
        // Packets that can't be decoded are concealed; if even that fails, there is silence until the next packet.
        while let frame = try? playout.pull(now: now) {
            let statistics = playout.statistics
            inbox.post { $0.statistics = statistics }
            // Frames are shown when they arrive, so audio is also stamped with its arrival time: without its wait.
            broadcaster.send(
                AudioFrame(
                    samples: frame.samples, channels: frame.channels, sampleRate: frame.sampleRate,
                    timestamp: frame.timestamp - playout.currentDelay, captureTime: captureTime(reference)))
        }
    }

    /// Returns the capture time of the first sample that was pulled last.
    private func captureTime(_ reference: Reference?) -> Duration? {
        guard let reference, let played = playout.playedTimestamp else { return nil }
        return reference.captureTime + .nanoseconds((played - reference.timestamp) * 1_000_000_000 / 48_000)
    }
}

internal import RTCShareAudioCoding
internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Receives one sound over one connection (W3C `RTCRtpReceiver`): a jitter buffer and a decoder, played in time on a thread of
/// its own from the first sink on.
///
/// Each block of 20 ms reaches the sinks when it is due, lost ones concealed. A block's timestamp is when it arrived, so that
/// it stands beside the timestamps of received pictures.
package final class AudioReceiver: Sendable {
    /// Its index among what the peer sends: ``Connection/remoteMedia``.
    package let index: Int
    /// The media stream's id when it began.
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

    /// Whether this is still what the peer sends: another attendee's sound is another sound, for instance if a conference server
    /// forwards another speaker.
    func receives(_ media: RemoteMedia) -> Bool { media.isActive && media.streamID == streamID }

    /// Takes a packet, on the connection's event loop, in the order of arrival.
    func receive(_ packet: ReceivedAudioPacket) {
        for record in inbox.post({ $0.receive(packet) }) { record(packet) }
    }

    // MARK: From any thread

    /// The program knows of the sound: sinks and recorders that it has by now get the packets from the first on.
    package func announced() {
        while let (packet, recorders) = inbox.post({ $0.announced() }) {
            for record in recorders { record(packet) }
        }
    }

    /// Gives `sink` the audio from now on: 48 kHz, in stereo. A sink that comes after the end gets its end.
    package func add(_ sink: any AudioSink) throws {
        try thread.withLock { thread in
            guard thread == nil, inbox.read({ $0.stage != .ended }) else { return }
            let player = Player(playout: try AudioPlayout(channels: 2), broadcaster: broadcaster, inbox: inbox)
            thread = try WorkerThread(named: "audio decoder") { player.run() }
        }
        broadcaster.add(sink)
        inbox.post { $0.play() }
    }

    /// Gives `sink` nothing more. A block that it takes on the player's thread at this moment is its last.
    package func remove(_ sink: any AudioSink) { broadcaster.remove(sink) }

    /// Gives `body` each packet as it arrives, on the connection's event loop, until the returned function is called.
    @discardableResult
    package func record(_ body: @escaping @Sendable (ReceivedAudioPacket) -> Void) -> @Sendable () -> Void {
        let number = inbox.post { $0.add(body) }
        return { [weak inbox] in inbox?.post { $0.removeRecorder(number) } }
    }

    /// Delays sound by `target` at least, whatever the jitter is (W3C webrtc-extensions `jitterBufferTarget`).
    package func setJitterBufferTarget(_ target: Duration) { inbox.post { $0.jitterBufferTarget = target } }

    /// Takes and plays nothing more. Returns when the sinks have their end.
    package func finish() async {
        inbox.post { $0.finish() }
        // A player that is being started is in the lock, and ends too.
        if let thread = thread.withLock({ $0 }) { await thread.finish() } else { broadcaster.close() }
    }

    /// Packets for which there was no room before the jitter buffer; nil if there are none.
    var packetsDiscarded: Int? { inbox.read { $0.packetsDiscarded > 0 ? $0.packetsDiscarded : nil } }

    /// The counts of the jitter buffer; nil if nothing is played.
    package var statistics: JitterBufferStatistics? { inbox.read { $0.statistics } }
}

/// The thread's own side: the playout and its time.
private final class Player: Sendable {
    /// Only the thread uses it.
    private nonisolated(unsafe) let playout: AudioPlayout
    private let broadcaster: AudioBroadcaster
    private let inbox: Mailbox<AudioInbox>

    /// When the sender took the sample with this timestamp.
    private struct Reference {
        let timestamp: Int64
        let captureTime: Duration
    }

    /// Half a block: what is due is found at most this late.
    private static let tick = Duration.milliseconds(10)

    init(playout: AudioPlayout, broadcaster: AudioBroadcaster, inbox: Mailbox<AudioInbox>) {
        self.playout = playout
        self.broadcaster = broadcaster
        self.inbox = inbox
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    func run() {
        /// By the newest packet that says it.
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
        // What can't be decoded is concealed; should even that fail, there is silence until the next packet.
        while let frame = try? playout.pull(now: now) {
            let statistics = playout.statistics
            inbox.post { $0.statistics = statistics }
            // A picture is shown when it has arrived, so sound is told as of its arrival too: without its wait.
            broadcaster.send(
                AudioFrame(
                    samples: frame.samples, channels: frame.channels, sampleRate: frame.sampleRate,
                    timestamp: frame.timestamp - playout.currentDelay, captureTime: captureTime(reference)))
        }
    }

    /// When the sender took the first sample of what was pulled last.
    private func captureTime(_ reference: Reference?) -> Duration? {
        guard let reference, let played = playout.playedTimestamp else { return nil }
        return reference.captureTime + .nanoseconds((played - reference.timestamp) * 1_000_000_000 / 48_000)
    }
}

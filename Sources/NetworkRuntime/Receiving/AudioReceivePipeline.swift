internal import RTCShareAudioCoding
internal import RTCShareLocks
package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareWireFormat

/// From received packets to audio: a jitter buffer and a decoder, played out in time on a thread of its own.
///
/// A source like any other: each block of 20 ms reaches the sinks when it is due, lost ones concealed. A block's timestamp
/// is when it arrived, so that it stands beside the timestamps of received pictures.
package final class AudioReceivePipeline: BroadcastingAudioSource {
    /// The sinks and observers.
    package let broadcaster = AudioBroadcaster()
    private let inbox = Mailbox(Inbox())
    private let thread: WorkerThread

    /// The thread's mail.
    fileprivate struct Inbox {
        var packets: [ReceivedAudioPacket] = []
        var jitterBufferTarget: Duration?
        var statistics = AudioJitterBuffer.Statistics()
        var hasEnded = false

        /// Some ten seconds: what comes beyond is as lost.
        private static let maximumPackets = 1000

        mutating func append(_ packet: ReceivedAudioPacket) {
            if packets.count < Self.maximumPackets { packets.append(packet) }
        }
    }

    /// A pipeline at rest, until its first packet comes.
    package init(channels: Int = 2) throws {
        let player = Player(playout: try AudioPlayout(channels: channels), broadcaster: broadcaster, inbox: inbox)
        thread = try WorkerThread(named: "audio decoder") { player.run() }
    }

    deinit {
        end()
    }

    /// Takes a packet, from any thread, in the order of arrival.
    package func decode(_ packet: ReceivedAudioPacket) { inbox.post { $0.append(packet) } }

    /// Has sound wait for as long at least, whatever the jitter is (W3C webrtc-extensions `jitterBufferTarget`).
    package func setJitterBufferTarget(_ target: Duration) { inbox.post { $0.jitterBufferTarget = target } }

    /// Ends the thread, without waiting for a block that it plays.
    package func end() { inbox.post { $0.hasEnded = true } }

    /// Returns when the thread has ended, which ``end()`` asks for: nothing is played after this.
    package func finish() async { await thread.finish() }

    /// Completes a connection's report with what was played of its receiver of this index.
    package func complete(_ report: [StatisticsObject], receiver: Int) -> [StatisticsObject] {
        let statistics = inbox.read { $0.statistics }
        return report.map { object in
            guard object.id == StatisticsObject.inboundID(receiver: receiver) else { return object }
            var object = object
            object.set("totalSamplesReceived", statistics.totalSamplesReceived)
            object.set("concealedSamples", statistics.concealedSamples)
            object.set("silentConcealedSamples", statistics.silentConcealedSamples)
            object.set("concealmentEvents", statistics.concealmentEvents)
            object.set("jitterBufferDelay", seconds: statistics.jitterBufferDelay)
            object.set("jitterBufferEmittedCount", statistics.jitterBufferEmittedCount)
            object.set("fecPacketsReceived", statistics.fecPacketsReceived)
            object.set("packetsDiscarded", statistics.packetsDiscarded)
            return object
        }
    }
}

/// The thread's own side: the playout and its time.
private final class Player: Sendable {
    /// Only the thread uses it.
    private nonisolated(unsafe) let playout: AudioPlayout
    private let broadcaster: AudioBroadcaster
    private let inbox: Mailbox<AudioReceivePipeline.Inbox>

    /// When the sender took the sample with this timestamp.
    private struct Reference {
        let timestamp: Int64
        let captureTime: Duration
    }

    private enum Work {
        case play([ReceivedAudioPacket], jitterBufferTarget: Duration?)
        case end
    }

    /// Half a block: what is due is found at most this late.
    private static let tick = Duration.milliseconds(10)

    init(playout: AudioPlayout, broadcaster: AudioBroadcaster, inbox: Mailbox<AudioReceivePipeline.Inbox>) {
        self.playout = playout
        self.broadcaster = broadcaster
        self.inbox = inbox
    }

    private static var now: Duration { .nanoseconds(MonotonicClock.now.nanoseconds) }

    func run() {
        /// By the newest packet that says it.
        var reference: Reference?
        var nextTick: Duration?
        while case .play(let packets, let target) = nextWork(at: nextTick) {
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
    }

    private func nextWork(at tick: Duration?) -> Work {
        inbox.take { inbox in
            if inbox.hasEnded { return .done(.end) }
            let isDue = tick.map { $0 <= Self.now } ?? false
            guard isDue || !inbox.packets.isEmpty || inbox.jitterBufferTarget != nil else { return .wait(until: tick) }
            defer { (inbox.packets, inbox.jitterBufferTarget) = ([], nil) }
            return .done(.play(inbox.packets, jitterBufferTarget: inbox.jitterBufferTarget))
        }
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

internal import Dispatch
internal import RTCShareAudioCoding
package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareWireFormat
internal import Synchronization

/// From received packets to sound: a jitter buffer and a decoder, played out in time on a queue of its own.
///
/// A source like any other: each block of 20 ms reaches the sinks when it is due, lost ones concealed. A block's timestamp
/// is when it arrived, so that it stands beside the timestamps of received pictures.
package final class AudioReceivePipeline: BroadcastingAudioSource {
    /// The sinks and observers.
    package let broadcaster = AudioBroadcaster()
    private let player: QueueBound<Player>

    /// A pipeline at rest, until its first packet comes.
    package init(channels: Int = 2) throws {
        player = QueueBound(
            Player(playout: try AudioPlayout(channels: channels), broadcaster: broadcaster),
            to: DispatchQueue(label: "rtcshare.audio-decoder", qos: .userInitiated))
    }

    /// Takes a packet, from any thread, in the order of arrival.
    package func decode(_ packet: ReceivedAudioPacket) {
        player.queue.async { [player] in player.value.insert(packet, on: player.queue) }
    }

    /// Has sound wait for as long at least, whatever the jitter is (W3C webrtc-extensions `jitterBufferTarget`).
    package func setJitterBufferTarget(_ target: Duration) {
        player.queue.async { [player] in player.value.setJitterBufferTarget(target) }
    }

    /// Plays nothing more.
    package func stop() {
        player.queue.sync { player.value.stop() }
    }

    /// Completes a connection's report with what was played of its receiver of this index.
    package func complete(_ report: [StatisticsObject], receiver: Int) -> [StatisticsObject] {
        let statistics = player.queue.sync { player.value.statistics }
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

/// The playout and its timer.
private final class Player {
    private let playout: AudioPlayout
    private let broadcaster: AudioBroadcaster
    private var timer: (any DispatchSourceTimer)?
    /// When the sender took the sample with this timestamp, by the newest packet that says it.
    private var reference: (timestamp: Int64, captureTime: Duration)?

    /// Half a block: what is due is found at most this late.
    private static let tick = DispatchTimeInterval.milliseconds(10)

    init(playout: AudioPlayout, broadcaster: AudioBroadcaster) {
        self.playout = playout
        self.broadcaster = broadcaster
    }

    deinit {
        timer?.cancel()
    }

    var statistics: AudioJitterBuffer.Statistics { playout.statistics }

    func setJitterBufferTarget(_ target: Duration) { playout.minimumDelay = target }

    func insert(_ packet: ReceivedAudioPacket, on queue: DispatchQueue) {
        reference = packet.captureTime.map { (packet.timestamp, $0) }
        playout.insert(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payload: packet.payload,
            now: .nanoseconds(packet.arrival.nanoseconds))
        guard timer == nil else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: Self.tick, leeway: .milliseconds(1))
        timer.setEventHandler { [weak self] in self?.play() }
        timer.resume()
        self.timer = timer
    }

    func stop() {
        timer?.cancel()
        timer = nil
    }

    private func play() {
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        // What can't be decoded is concealed; should even that fail, there is silence until the next packet.
        while let frame = try? playout.pull(now: now) {
            // A picture is shown when it has arrived, so sound is told as of its arrival too: without its wait.
            broadcaster.send(
                AudioFrame(
                    samples: frame.samples, channels: frame.channels, sampleRate: frame.sampleRate,
                    timestamp: frame.timestamp - playout.currentDelay, captureTime: captureTime))
        }
    }

    /// When the sender took the first sample of what was pulled last.
    private var captureTime: Duration? {
        guard let reference, let played = playout.playedTimestamp else { return nil }
        return reference.captureTime + .nanoseconds((played - reference.timestamp) * 1_000_000_000 / 48_000)
    }
}

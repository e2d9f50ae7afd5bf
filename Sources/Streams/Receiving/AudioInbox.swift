internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection

/// The packets that wait for playout, with the current stage.
///
///     announcing ─announced─▶ idle ─first sink─▶ playing
///         └─announced, with a sink─────────────────▲
///     ended: after all of them
///
/// While it is announcing, the first packets are kept: the program doesn't know of the audio yet, and its sinks receive
/// all of them.
struct AudioInbox {
    enum Stage: Hashable { case announcing, idle, playing, ended }

    typealias Recorder = @Sendable (ReceivedAudioPacket) -> Void

    /// The next task of the player's thread.
    enum Work {
        case play([ReceivedAudioPacket], jitterBufferTarget: Duration?)
        case end
    }

    private(set) var stage = Stage.announcing
    private(set) var packetsDiscarded = 0
    /// The counts of the jitter buffer; nil if nothing is played.
    var statistics: JitterBufferStatistics?
    var jitterBufferTarget: Duration?
    private var packets: [ReceivedAudioPacket] = []
    /// The number of kept packets that the recorders have received.
    private var recordedCount = 0
    private var recorders: [(number: Int, body: Recorder)] = []
    private var recordersSoFar = 0
    /// Whether there was a sink.
    private var isHeard = false

    /// The maximum number of packets: twenty seconds of 20 ms each. Beyond that, the oldest is discarded.
    static let maximumPackets = 1000

    // MARK: On the connection's event loop

    /// Adds a packet, and returns the recorders that must receive it.
    mutating func receive(_ packet: ReceivedAudioPacket) -> [Recorder] {
        guard stage == .announcing || stage == .playing else { return recorders.map(\.body) }
        if packets.count >= Self.maximumPackets {
            packets.removeFirst()
            packetsDiscarded += 1
            recordedCount = max(0, recordedCount - 1)
        }
        packets.append(packet)
        return stage == .announcing ? [] : recorders.map(\.body)
    }

    // MARK: From the program

    /// Records that the program knows of the audio. Call it again while it returns a kept packet, which recorders must
    /// receive.
    mutating func announced() -> (ReceivedAudioPacket, [Recorder])? {
        guard stage == .announcing else { return nil }
        if !recorders.isEmpty, recordedCount < packets.count {
            recordedCount += 1
            return (packets[recordedCount - 1], recorders.map(\.body))
        }
        stage = isHeard ? .playing : .idle
        if !isHeard { packets = [] }
        return nil
    }

    /// Records that there is a sink, and a player.
    mutating func play() {
        isHeard = true
        if stage == .idle { stage = .playing }
    }

    /// Adds a recorder, and returns its number.
    mutating func add(_ recorder: @escaping Recorder) -> Int {
        recordersSoFar += 1
        if stage != .ended { recorders.append((recordersSoFar, recorder)) }
        return recordersSoFar
    }

    mutating func removeRecorder(_ number: Int) { recorders.removeAll { $0.number == number } }

    /// Ends reception and playout.
    mutating func finish() {
        stage = .ended
        packets = []
        recorders = []
    }

    // MARK: On the player's thread

    /// Returns the next task, with the packets and the tick that is due.
    mutating func next(at tick: Duration?, now: Duration) -> Mailbox<AudioInbox>.Found<Work> {
        if stage == .ended { return .done(.end) }
        guard stage == .playing else { return .wait(until: nil) }
        let isDue = tick.map { $0 <= now } ?? false
        guard isDue || !packets.isEmpty || jitterBufferTarget != nil else { return .wait(until: tick) }
        defer { (packets, jitterBufferTarget) = ([], nil) }
        return .done(.play(packets, jitterBufferTarget: jitterBufferTarget))
    }
}

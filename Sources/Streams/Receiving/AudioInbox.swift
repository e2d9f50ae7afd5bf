internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection

/// The packets that wait to be played, and for what they wait.
///
///     announcing ─announced─▶ idle ─first sink─▶ playing
///         └─announced, with a sink─────────────────▲
///     ended: after all of them
///
/// While it is announcing, the first packets are kept: the program doesn't know of them yet, and its sinks get them all.
struct AudioInbox {
    enum Stage: Hashable { case announcing, idle, playing, ended }

    typealias Recorder = @Sendable (ReceivedAudioPacket) -> Void

    /// What the player's thread does next.
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
    /// How many of the kept packets the recorders have.
    private var recordedCount = 0
    private var recorders: [(number: Int, body: Recorder)] = []
    private var recordersSoFar = 0
    /// Whether there was a sink.
    private var isHeard = false

    /// Twenty seconds of 20 ms each. If more wait, the oldest is discarded.
    static let maximumPackets = 1000

    // MARK: On the connection's event loop

    /// Returns the recorders that get the packet.
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

    /// The program knows of the sound. To be repeated while it returns a kept packet, which recorders get.
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

    /// There is a sink, and a player.
    mutating func play() {
        isHeard = true
        if stage == .idle { stage = .playing }
    }

    /// Returns the recorder's number.
    mutating func add(_ recorder: @escaping Recorder) -> Int {
        recordersSoFar += 1
        if stage != .ended { recorders.append((recordersSoFar, recorder)) }
        return recordersSoFar
    }

    mutating func removeRecorder(_ number: Int) { recorders.removeAll { $0.number == number } }

    /// Nothing more is taken or played.
    mutating func finish() {
        stage = .ended
        packets = []
        recorders = []
    }

    // MARK: On the player's thread

    /// What is to be done, with what is due at `tick`.
    mutating func next(at tick: Duration?, now: Duration) -> Mailbox<AudioInbox>.Found<Work> {
        if stage == .ended { return .done(.end) }
        guard stage == .playing else { return .wait(until: nil) }
        let isDue = tick.map { $0 <= now } ?? false
        guard isDue || !packets.isEmpty || jitterBufferTarget != nil else { return .wait(until: tick) }
        defer { (packets, jitterBufferTarget) = ([], nil) }
        return .done(.play(packets, jitterBufferTarget: jitterBufferTarget))
    }
}

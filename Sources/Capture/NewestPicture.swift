import RTCShareMedia

/// The newest picture of a source that gives few, or none at times: a sink that has not seen it is given it again.
struct NewestPicture {
    private let broadcaster: VideoBroadcaster
    private var frame: VideoFrame?

    /// How often sinks are asked whether they have seen it.
    static let interval = Duration.milliseconds(100)

    init(of broadcaster: VideoBroadcaster) {
        self.broadcaster = broadcaster
    }

    /// Gives a frame to every sink, and keeps it.
    mutating func send(_ frame: VideoFrame) {
        keep(frame)
        broadcaster.send(frame)
    }

    /// Keeps a frame that is given to the sinks.
    mutating func keep(_ frame: VideoFrame) { self.frame = frame }

    /// Gives the newest picture again where a sink has not seen it.
    func sendAgainIfAwaited() {
        guard let frame, broadcaster.demand == .picture else { return }
        broadcaster.send(
            VideoFrame(
                buffer: frame.buffer, timestamp: monotonicNow(), rotation: frame.rotation, damage: [],
                outputSize: frame.outputSize))
    }

    /// Waits until `deadline`, and gives the newest picture again meanwhile; false where the signal was raised first.
    func wait(until deadline: Duration, signal: StopSignal) -> Bool {
        while true {
            let next = monotonicNow() + Self.interval
            guard next < deadline else { return signal.wait(until: deadline) }
            guard signal.wait(until: next) else { return false }
            sendAgainIfAwaited()
        }
    }
}

import RTCShareMedia

/// The newest frame of a source that sends few, or none at times: it is sent again to a sink that has not received it.
struct NewestPicture {
    private let broadcaster: VideoBroadcaster
    private var frame: VideoFrame?

    /// The interval at which sinks are asked whether they need it.
    static let interval = Duration.milliseconds(100)

    init(of broadcaster: VideoBroadcaster) {
        self.broadcaster = broadcaster
    }

    /// Sends a frame to every sink, and keeps it.
    mutating func send(_ frame: VideoFrame) {
        keep(frame)
        broadcaster.send(frame)
    }

    /// Keeps a frame that was sent to the sinks.
    mutating func keep(_ frame: VideoFrame) { self.frame = frame }

    /// Sends the newest frame again if a sink has not received it.
    func sendAgainIfAwaited() {
        guard let frame, broadcaster.demand == .picture else { return }
        broadcaster.send(
            VideoFrame(
                buffer: frame.buffer, timestamp: monotonicNow(), rotation: frame.rotation, damage: [],
                outputSize: frame.outputSize))
    }

    /// Waits until `deadline`, and sends the newest frame again when it is needed. Returns false if the signal was
    /// raised first.
    func wait(until deadline: Duration, signal: StopSignal) -> Bool {
        while true {
            let next = monotonicNow() + Self.interval
            guard next < deadline else { return signal.wait(until: deadline) }
            guard signal.wait(until: next) else { return false }
            sendAgainIfAwaited()
        }
    }
}

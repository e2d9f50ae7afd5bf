/// A device of a sound server whose audio can be shared.
public struct AudioDevice: Sendable, Hashable {
    /// The server's name of the device.
    public let name: String
    /// The description for people.
    public let description: String
    /// Whether it is an input, or an output whose audio is captured.
    public let kind: SoundDeviceKind
    /// Whether it is the default of its kind.
    public let isDefault: Bool

    /// Creates a device.
    public init(name: String, description: String, kind: SoundDeviceKind, isDefault: Bool) {
        self.name = name
        self.description = description
        self.kind = kind
        self.isDefault = isDefault
    }
}

extension PulseSource {
    /// Returns the devices of `server` (in the form of `PULSE_SERVER`; nil for the session's): microphones and other
    /// inputs, then outputs. Monitors of outputs are not among the inputs. Waits at most five seconds for the server.
    public static func devices(server: String? = nil) throws(CaptureError) -> [AudioDevice] {
        let session = try PulseSession(server: server, signal: nil)
        _ = try session.connect()
        // Without a signal there is always an answer.
        return try session.devices()?.listed ?? []
    }

    /// Returns the devices of `server`, and again whenever one is added or removed or the default changes, until the
    /// stream is canceled. A server that can't be reached, or has ended, is an error, and is tried again.
    package static func deviceUpdates(
        server: String?
    ) throws(CaptureError) -> AsyncStream<Result<[AudioDevice], CaptureError>> {
        try deviceUpdates(server: server, retryInterval: CaptureThread.retryInterval)
    }

    static func deviceUpdates(
        server: String?, retryInterval: Duration
    ) throws(CaptureError) -> AsyncStream<Result<[AudioDevice], CaptureError>> {
        try CaptureThread.updates(retryInterval: retryInterval, failed: { .failure($0) }) {
            signal, tell throws(CaptureError) in
            try follow(server, until: signal) { tell(.success($0)) }
        }
    }

    private static func follow(
        _ server: String?, until signal: StopSignal, tell: ([AudioDevice]) -> Void
    ) throws(CaptureError) {
        let session = try PulseSession(server: server, signal: signal)
        guard try session.connect(), try session.watchDevices() else { return }
        while true {
            let changes = session.deviceChanges
            guard let devices = try session.devices() else { return }
            tell(devices.listed)
            guard try session.rest(atMost: nil, until: { session.deviceChanges != changes }) else { return }
        }
    }
}

extension PulseDevices {
    /// The devices whose audio can be shared.
    fileprivate var listed: [AudioDevice] {
        sources.filter { !$0.isMonitor }.map {
            AudioDevice(
                name: $0.name, description: $0.description, kind: .source, isDefault: $0.name == defaultSource)
        }
            + sinks.map {
                AudioDevice(
                    name: $0.name, description: $0.description, kind: .sink, isDefault: $0.name == defaultSink)
            }
    }
}

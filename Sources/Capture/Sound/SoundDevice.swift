/// A device of a sound server whose sound can be shared.
public struct SoundDevice: Sendable, Hashable {
    /// The server's name of it.
    public let name: String
    /// What people call it.
    public let description: String
    /// Whether it is an input, or an output whose sound is taken.
    public let kind: SoundDeviceKind
    /// Whether it is the one that is used where none is named.
    public let isDefault: Bool

    /// A device with all that is known of it.
    public init(name: String, description: String, kind: SoundDeviceKind, isDefault: Bool) {
        self.name = name
        self.description = description
        self.kind = kind
        self.isDefault = isDefault
    }
}

extension PulseSource {
    /// The devices of `server` (as `PULSE_SERVER` names one; nil: the session's): microphones and other inputs, then
    /// outputs. What gives the sound of an output is not among the inputs. Waits for the server five seconds at most.
    public static func devices(server: String? = nil) throws(CaptureError) -> [SoundDevice] {
        let session = try PulseSession(server: server, signal: nil)
        _ = try session.connect()
        // Without a signal there is always an answer.
        guard let devices = try session.devices() else { return [] }
        return devices.sources.filter { !$0.isMonitor }.map {
            SoundDevice(
                name: $0.name, description: $0.description, kind: .source, isDefault: $0.name == devices.defaultSource)
        }
            + devices.sinks.map {
                SoundDevice(
                    name: $0.name, description: $0.description, kind: .sink, isDefault: $0.name == devices.defaultSink)
            }
    }
}

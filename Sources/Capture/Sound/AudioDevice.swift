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
        guard let devices = try session.devices() else { return [] }
        return devices.sources.filter { !$0.isMonitor }.map {
            AudioDevice(
                name: $0.name, description: $0.description, kind: .source, isDefault: $0.name == devices.defaultSource)
        }
            + devices.sinks.map {
                AudioDevice(
                    name: $0.name, description: $0.description, kind: .sink, isDefault: $0.name == devices.defaultSink)
            }
    }
}

/// A source or a sink of the sound server.
struct PulseDevice: Sendable, Hashable {
    let name: String
    /// The server's description for people.
    var description = ""
    /// The source that records a sink; nil for a source.
    let monitor: String?
    /// Whether it is a source that records a sink.
    var isMonitor = false
}

/// The devices of a sound server at one time.
struct PulseDevices: Sendable, Hashable {
    var sources: [PulseDevice] = []
    var sinks: [PulseDevice] = []
    /// The names of the default source and the default sink.
    var defaultSource: String?
    var defaultSink: String?

    /// Returns the name of the source that records `input`.
    ///
    /// It is never of another kind. A monitor, which records a sink, is not a microphone: neither if it was named, nor
    /// as the default source of a server without microphones.
    /// - Throws: ``CaptureError/unknownSoundDevice(name:kind:devices:)`` if there is none, and
    ///   ``CaptureError/monitorIsNotMicrophone(name:sink:)``.
    func source(for input: PulseSource.Input) throws(CaptureError) -> String {
        switch input {
        case .microphone(let name):
            let microphones = sources.filter { !$0.isMonitor }
            if let microphone = microphones.first(where: { $0.name == name ?? defaultSource }) {
                return microphone.name
            }
            if let name, sources.contains(where: { $0.name == name }) {
                throw .monitorIsNotMicrophone(name: name, sink: sinks.first { $0.monitor == name }?.name)
            }
            throw .unknownSoundDevice(name: name, kind: .source, devices: microphones.map(\.name))
        case .system(let name):
            guard let monitor = sinks.first(where: { $0.name == name ?? defaultSink })?.monitor else {
                throw .unknownSoundDevice(name: name, kind: .sink, devices: sinks.map(\.name))
            }
            return monitor
        }
    }
}

internal import RTCShareCapture

/// The audio devices of a machine. The names of the properties are those in JSON.
struct SoundListing: Encodable, Sendable {
    struct Sound: Encodable, Sendable {
        let spec: String
        let name: String
        let description: String
        /// The kind: `source` for an input, `sink` for an output.
        let kind: String
        let isDefault: Bool

        private enum CodingKeys: String, CodingKey {
            case spec, name, description, kind
            case isDefault = "default"
        }
    }

    let sounds: [Sound]
    /// The reason why there is none, by the part's name.
    private(set) var problems: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case sounds, problems
    }

    /// Lists the devices of a sound server (in the form of `PULSE_SERVER`; nil for the session's).
    init(server: String?) {
        self.init(Result { () throws(CaptureError) in try PulseSource.devices(server: server) })
    }

    /// Returns the sound server in the environment; nil for the session's.
    static func server(_ environment: [String: String]) -> String? {
        environment["PULSE_SERVER"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Lists these devices, or the reason why there is none.
    init(_ found: Result<[AudioDevice], CaptureError>) {
        sounds = ((try? found.get()) ?? []).map { device in
            Sound(
                spec: device.specification.description, name: device.name, description: device.description,
                kind: device.kind == .source ? "source" : "sink", isDefault: device.isDefault)
        }
        if case .failure(let error) = found {
            problems[CodingKeys.sounds.stringValue] = MachineDiagnosis.reason(for: error)
        } else if sounds.isEmpty {
            problems[CodingKeys.sounds.stringValue] = "the audio server has no device"
        }
    }
}

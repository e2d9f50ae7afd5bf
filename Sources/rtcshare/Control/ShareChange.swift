internal import ArgumentParser
internal import RTCShareMedia
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// A change of a share, in the format of `PATCH /v1/share`: a merge patch (RFC 7396) of the members of
/// ``ControlledShare``, and of `isMuted`, which is for all audio.
struct ShareChange: Codable, Hashable {
    struct Camera: Codable, Hashable {
        /// The camera; `none` turns it off.
        var spec: String?
        var isLightOn: Bool?
    }

    /// The value that a member gets.
    enum Choice<Value: Codable & Hashable>: Codable, Hashable {
        case value(Value)
        /// Null, which removes the member: the share chooses the value.
        case automatic

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = container.decodeNil() ? .automatic : .value(try container.decode(Value.self))
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if let value { try container.encode(value) } else { try container.encodeNil() }
        }

        fileprivate var value: Value? { if case .value(let value) = self { value } else { nil } }
    }

    var isPaused: Bool?
    var isSlateShown: Bool?
    var source: String?
    var camera: Camera?
    /// The maximum bitrate in kbit/s.
    var maxBitrate: Choice<Int>?
    var maxFramerate: Double?
    var maxWidth: Int?
    var maxHeight: Int?
    var hint: Choice<SharingOptions.Hint>?
    var isAudioMuted: Bool?
    var isMicrophoneMuted: Bool?
    /// Mutes all audio, or unmutes the audio that this has silenced.
    var isMuted: Bool?
    var destination: String?
    var isLocked: Bool?
    /// Whether new viewers wait until they are admitted.
    var needsApproval: Bool?
    var isRecording: Bool?

    /// The request for it. A share applies one change after the other, each completely or not at all.
    var request: ControlRequest {
        get throws {
            let asked = [
                try pausing, try source.map { .source(try SourceSpecification($0)) },
                try camera?.spec.map { .camera(try CameraSpecification($0)) },
                camera?.isLightOn.map { .light(isOn: $0) }, try limiting, try muting,
                destination.map { .destination(name: $0) }, isLocked.map { $0 ? .lock : .unlock },
                needsApproval.map { .setApproval(isNeeded: $0) }, isRecording.map { .record($0) },
            ].compactMap { $0 }
            guard let request = asked.first, asked.count == 1 else {
                throw ValidationError(
                    asked.isEmpty ? "the request changes nothing" : "a request makes one change: send one for each")
            }
            return request
        }
    }

    private var pausing: ControlRequest? {
        get throws {
            switch (isPaused, isSlateShown) {
            case (nil, nil): return nil
            case (true?, let slate): return .pause(slate: slate ?? false)
            case (false?, nil): return .resume
            case (_, _?): throw ValidationError("isSlateShown: only with an isPaused of true")
            }
        }
    }

    private var limiting: ControlRequest? {
        get throws {
            let parameters = VideoEncodingParameters(
                kilobitsPerSecond: maxBitrate?.value, maxFramerate: maxFramerate, width: maxWidth, height: maxHeight,
                hint: hint?.value)
            var automatic: Set<AutomaticParameter> = []
            if maxBitrate == .automatic { automatic.insert(.maxBitrate) }
            if hint == .automatic || hint == .value(.auto) { automatic.insert(.contentHint) }
            guard (maxWidth == nil) == (maxHeight == nil) else {
                throw ValidationError("maxWidth and maxHeight: only both together")
            }
            if let problem = parameters.problem { throw ValidationError(problem) }
            guard parameters != VideoEncodingParameters() || !automatic.isEmpty else { return nil }
            return .set(parameters, automatic: automatic)
        }
    }

    private var muting: ControlRequest? {
        get throws {
            if let isMuted {
                guard isAudioMuted == nil, isMicrophoneMuted == nil else {
                    throw ValidationError("isMuted: only without isAudioMuted and isMicrophoneMuted")
                }
                return isMuted ? .mute(.all) : .unmuteSilenced
            }
            let sounds: ControlledSounds =
                isAudioMuted == nil ? .microphone : isMicrophoneMuted == nil ? .audio : .all
            guard let isMuted = isAudioMuted ?? isMicrophoneMuted else { return nil }
            guard isMuted == isMicrophoneMuted ?? isMuted else {
                throw ValidationError("isAudioMuted and isMicrophoneMuted: send a request for each")
            }
            return isMuted ? .mute(sounds) : .unmute(sounds)
        }
    }
}

extension ShareChange {
    /// Creates the change of a request; without members for other requests.
    init(_ request: ControlRequest) {
        switch request {
        case .pause(let slate): self.init(isPaused: true, isSlateShown: slate)
        case .resume: self.init(isPaused: false)
        case .source(let source): self.init(source: source.description)
        case .camera(let camera): self.init(camera: Camera(spec: camera.description))
        case .light(let isOn): self.init(camera: Camera(isLightOn: isOn))
        case .set(let parameters, let automatic):
            let bitrate = parameters.maxBitrate.map { Int($0.bitsPerSecond / 1000) }
            let hint = parameters.contentHint.flatMap(SharingOptions.Hint.init)
            self.init(
                maxBitrate: automatic.contains(.maxBitrate) ? .automatic : bitrate.map(Choice.value),
                maxFramerate: parameters.maxFramerate, maxWidth: parameters.maxSize?.width,
                maxHeight: parameters.maxSize?.height,
                hint: automatic.contains(.contentHint) ? .automatic : hint.map(Choice.value))
        case .mute(let sounds): self.init(muting: sounds, true)
        case .unmute(let sounds): self.init(muting: sounds, false)
        case .unmuteSilenced: self.init(isMuted: false)
        case .destination(let name): self.init(destination: name)
        case .lock: self.init(isLocked: true)
        case .unlock: self.init(isLocked: false)
        case .setApproval(let isNeeded): self.init(needsApproval: isNeeded)
        case .record(let isOn): self.init(isRecording: isOn)
        default: self.init()
        }
    }

    private init(muting sounds: ControlledSounds, _ isMuted: Bool) {
        self.init(
            isAudioMuted: sounds == .microphone ? nil : isMuted, isMicrophoneMuted: sounds == .audio ? nil : isMuted)
    }
}

extension KeyedDecodingContainer {
    /// Decodes null as a choice: the general function takes it for a member that is missing.
    func decodeIfPresent<Value>(
        _ type: ShareChange.Choice<Value>.Type, forKey key: Key
    ) throws -> ShareChange.Choice<Value>? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

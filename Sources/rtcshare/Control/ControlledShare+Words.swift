internal import FoundationEssentials
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareStreams
internal import RTCShareWireFormat

/// The output of `rtcshare status` for people.
extension ControlledShare {
    /// A line for each property: its name, and its value.
    var lines: [String] {
        let size = width.flatMap { width in height.map { "\(width)x\($0), " } } ?? ""
        let muted = [isAudioMuted ? "audio" : nil, isMicrophoneMuted ? "microphone" : nil].compactMap { $0 }
        let audio = (sounds ?? []).map(\.words).joined(separator: ", ")
        var rows = [
            ("name", name),
            ("presenter", attendee),
            ("pid", "\(pid)"),
            ("state", stateInWords),
            ("source", source + (interruption.map { " (\($0))" } ?? "")),
            ("audio", audio.isEmpty ? "none" : audio),
            ("microphone", microphone?.words ?? "none"),
            ("camera", camera?.words ?? "none"),
            ("sent", size + String(printing: "%.0f fps, %.0f kbit/s", framesPerSecond, bitrate) + limitation),
            ("quality", "at most \(limits.words)"),
            ("muted", muted.isEmpty ? "none" : muted.joined(separator: ", ")),
            ("destination", destination),
        ]
        if let codec { rows.append(("codec", codec.words(isRefused: isCodecRefused))) }
        if !subgroups.isEmpty { rows.append(("subgroups", subgroups.joined(separator: ", "))) }
        if let isLocked { rows.append(("link", isLocked ? "locked, new viewers can't join" : openLink)) }
        if let recording {
            rows.append(("recording", "\(recording.file), \(recording.seconds.clock)"))
        }
        for place in servers {
            rows.append(("server \(place.id)", place.words))
            for (index, layer) in (place.layers ?? []).enumerated() {
                rows.append(("layer \(index + 1)", layer.parts.joined(separator: ", ")))
            }
        }
        for viewer in viewers { rows.append(("viewer \(viewer.id)", viewer.words)) }
        rows.append(("running for", uptime.clock))
        return rows.map { name, value in "\(name):".padded(to: 14) + value }
    }

    private var limitation: String {
        switch qualityLimitationReason {
        case .cpu: ", limited by CPU"
        case .bandwidth: ", limited by the bitrate"
        default: ""
        }
    }

    /// Whether a viewer or a server is sent another codec than the preferred one.
    private var isCodecRefused: Bool {
        (viewers.compactMap(\.codec) + servers.compactMap(\.codec)).contains { $0 != codec?.name }
    }

    private var openLink: String { "open" + (needsApproval == true ? ", viewers need approval" : "") }

    private var stateInWords: String {
        switch state {
        case .waiting:
            viewers.contains { $0.isWaiting && $0.state == .connected }
                ? "waiting for you to admit a viewer" : "waiting for viewers"
        case .connecting where !viewers.isEmpty && viewers.allSatisfy { $0.state == .new }:
            "waiting for the answers of invited viewers"
        case .connecting, .sharing: state.rawValue
        case .paused: "paused, viewers see \(isSlateShown ? "a slate" : "the last frame")"
        }
    }

    private var limits: VideoEncodingParameters {
        VideoEncodingParameters(
            kilobitsPerSecond: maxBitrate, maxFramerate: maxFramerate, width: maxWidth, height: maxHeight, hint: hint)
    }
}

extension VideoEncodingParameters {
    /// Creates the parameters from those of the control interface.
    init(kilobitsPerSecond: Int?, maxFramerate: Double?, width: Int?, height: Int?, hint: SharingOptions.Hint?) {
        self.init(
            maxBitrate: kilobitsPerSecond.map(DataRate.kilobitsPerSecond), maxFramerate: maxFramerate,
            maxSize: width.flatMap { width in height.map { PixelSize(width: width, height: $0) } },
            contentHint: hint?.contentHint)
    }

    /// The text `3000 kbit/s per viewer, 15 frames per second, 640x360 pixels, hint motion`.
    var words: String {
        [
            maxBitrate.map { "\($0) per viewer" }, maxFramerate.map { "\($0.words) frames per second" },
            maxSize.map { "\($0) pixels" }, contentHint.map { "hint \($0.rawValue)" },
        ].compactMap { $0 }.joined(separator: ", ")
    }
}

extension ControlledShare.Camera {
    fileprivate var words: String {
        spec + (interruption.map { " (\($0))" } ?? "") + (isLightOn.map { ", light \($0 ? "on" : "off")" } ?? "")
    }
}

extension ControlledShare.Sound {
    fileprivate var words: String { spec + (interruption.map { " (\($0))" } ?? "") }
}

extension ControlledShare.Codec {
    /// Returns the codec and the reason for it. `isRefused` tells whether a viewer is sent another one.
    fileprivate func words(isRefused: Bool) -> String {
        let other = alternative ?? "another codec"
        let reason =
            switch reason {
            case .chosen: "which you chose"
            case .only: "the only one on this machine"
            case .recording: "which a recorded share keeps"
            case .processor: "since the processor is too slow for \(other)"
            case .scrolling: "since the text scrolls too fast for \(other)"
            case .failed: "since the encoder of \(other) failed"
            case .size: "since the video is too large for \(other)"
            case .sharpest: "which is sharper at this size and bitrate"
            case .quickest: "which is faster at this size and bitrate"
            }
        let retry = retryIn.map { String(printing: " (retry in %.0f s)", $0) } ?? ""
        return "\(name)\(isRefused ? " for viewers who accept it" : ""), \(reason)\(retry)"
    }
}

extension ControlledShare.Viewer {
    fileprivate var words: String {
        let words =
            switch state {
            case .new: "invited"
            case .connected where isWaiting: "waiting to be admitted"
            default: state.rawValue
            }
        var parts = [words]
        if !groups.isEmpty { parts.append("in \(groups.joined(separator: ", "))") }
        parts += [browser, address].compactMap { $0 }
        if let since { parts.append("since \(since.timeOfDay)") }
        parts += wordsForPath(codec, bitrate, fractionLost, roundTripTime, path)
        switch trouble {
        case .stuck: parts.append("keeps asking for key frames")
        case .slow: parts.append("slow connection")
        case .silent, .lossy, .late, nil: break
        }
        return parts.joined(separator: ", ")
    }
}

extension ControlledShare.Server {
    fileprivate var words: String {
        var parts = ["\(state.rawValue) since \(since.timeOfDay)"]
        if count > 1 { parts.append("published \(count) times") }
        parts += wordsForPath(codec, bitrate, fractionLost, roundTripTime, path)
        if let nextAttempt { parts.append("next attempt at \(nextAttempt.timeOfDayWithSeconds)") }
        // The first line of a report names its subject.
        let reason = failure?.split(whereSeparator: \.isNewline).first
        return "\(kind) \(name), " + parts.joined(separator: ", ") + (reason.map { ": \($0)" } ?? "")
    }
}

extension ControlledShare.Layer {
    /// The size, the frame rate and the bitrate, or the reason why it is paused.
    var parts: [String] {
        switch pauseReason {
        case .bitrate: ["paused (not enough bitrate)"]
        case .requested: ["paused (the server requested it)"]
        case .refused: ["paused (the server does not accept it)"]
        case .encoder: ["paused (its encoder failed)"]
        case .inactive: ["paused (nothing to send)"]
        case nil:
            [
                width.flatMap { width in height.map { "\(width)x\($0)" } },
                String(printing: "%.0f fps", framesPerSecond), String(printing: "%.0f kbit/s", bitrate),
            ].compactMap { $0 }
        }
    }
}

/// Returns the route to a viewer or a server, for people.
private func wordsForPath(
    _ codec: String?, _ bitrate: Double?, _ fractionLost: Double?, _ roundTripTime: Double?,
    _ path: SendingSummary.Route?
) -> [String] {
    [
        codec, bitrate.map { String(printing: "%.0f kbit/s", $0) },
        fractionLost.map { String(printing: "%.1f %% lost", $0 * 100) },
        roundTripTime.map { String(printing: "%.0f ms round trip", $0 * 1000) },
        path.map { $0 == .tcp ? "over TCP" : $0.rawValue },
    ].compactMap { $0 }
}

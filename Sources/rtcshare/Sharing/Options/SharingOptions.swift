internal import ArgumentParser
internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareCongestionControl
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The options for the sources, quality and duration of a share. Each command places these groups in its own help.
struct SharingOptions {
    var sources: SourceOptions
    var output: OutputOptions
    var quality: QualityOptions
    var special: SpecialSourceOptions

    /// A value of `--hint`. With `auto`, the share chooses by the content.
    enum Hint: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
        case auto, text, detail, motion

        init?(_ hint: ContentHint) {
            self.init(rawValue: hint.rawValue)
        }

        /// The hint; nil for `auto`.
        var contentHint: ContentHint? { ContentHint(rawValue: rawValue) }
    }

    /// Returns the configuration of a connection with these media. `--max-bitrate` applies to the content, and the
    /// bitrates of other media are added. Without it, the share raises the maximum to that for the content's size.
    func connectionConfiguration(for media: Set<SharedMedia>) -> Connection.Configuration {
        var configuration = Connection.Configuration()
        configuration.maxBitrate = maximumBitrate(
            for: media, content: parameters.maxBitrate ?? SharedMedia.content.defaultBitrate)
        configuration.peer.congestionDeviations = Deviations(without: quality.congestionWithout) ?? .all
        // A room can have many viewers.
        configuration.releasesHandshake = true
        return configuration
    }

    /// Returns the maximum bitrate of a connection on which the content has the bitrate `content`.
    func maximumBitrate(for media: Set<SharedMedia>, content: DataRate) -> DataRate {
        media.subtracting([.content]).reduce(content) { sum, media in
            let own = media == .contentAudio ? quality.audioBitrate.map(DataRate.kilobitsPerSecond) : nil
            return sum + (own ?? media.defaultBitrate)
        }
    }

    func open(_ selection: SourceSelection, audioRemedy: String = "add AUDIO") throws -> OpenedSources {
        try OpenedSources(
            selection, maximumFrameRate: quality.maxFramerate,
            broadcastTokens: try selection.source.flatMap { try tokens(for: $0) }, choosesAnew: special.choose,
            audioRemedy: audioRemedy
        )
    }

    /// Creates the recording, if one is requested. A restarted service can't ask for another name, so its recordings
    /// are numbered and none is overwritten.
    func openFilm() throws(CommandFailure) -> FilmFile? {
        guard let record = output.record else { return nil }
        return try FilmFile(path: record, activity: "the share", isNumbered: ServiceManager.isPresent)
    }

    /// Rejects a recording that can't contain the preferred codec, which is recorded.
    func validate() throws {
        guard let path = output.record, let codec = quality.encoding.codecs?.first,
            let problem = WebMRecorder.problem(withCodec: codec, in: path)
        else { return }
        let failure = CommandFailure(explaining: problem)
        throw ValidationError(
            failure.problem.joined(separator: "\n") + (failure.remedy.map { ParserWords.remedyMark + $0 } ?? ""))
    }

    /// Returns the tokens for a source that needs them. Nil for any other source.
    func tokens(
        for source: SourceSpecification, remedy: String = BroadcastTokens.remedy
    ) throws -> BroadcastTokens? {
        if case .broadcast = source { try special.tokens.tokens(remedy: remedy) } else { nil }
    }

    var parameters: VideoEncodingParameters {
        var parameters = VideoEncodingParameters(
            maxBitrate: quality.maxBitrate.map(DataRate.kilobitsPerSecond), maxFramerate: quality.maxFramerate,
            maxSize: quality.size, contentHint: quality.hint?.contentHint,
            usesPartialUpdates: !quality.encoding.noPartialUpdates, codecs: quality.encoding.codecs)
        parameters.heuristics = EncoderHeuristics(without: quality.encoderWithout) ?? .all
        return parameters
    }
}

/// The options for recording, statistics and the duration of a share.
struct OutputOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Record everything that is sent to a WebM or Matroska (.mkv) file, which must not exist. A restarted \
            service writes FILE-2.webm.
            """, valueName: "file.webm"), completion: .file(extensions: ["webm", "mkv"]))
    var record: String?

    @Option(help: ArgumentHelp("Stop after this many seconds.", valueName: "s"), transform: OptionValue.duration)
    var duration: Double?

    @Option(
        help: ArgumentHelp(
            "Write statistics to this file every second (JSON Lines, - for standard output). See rtcshare report.",
            valueName: "file"), completion: .file())
    var stats: String?

    func validate() throws { try FilmFile.validate(record) }
}

/// The options that only some sources need.
struct SpecialSourceOptions: ParsableArguments {
    @Flag(help: "Choose the screen or window again, even if a choice was saved (Wayland).")
    var choose = false

    @OptionGroup var tokens: BroadcastTokenOptions
}

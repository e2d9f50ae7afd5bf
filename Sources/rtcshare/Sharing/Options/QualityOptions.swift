internal import ArgumentParser
internal import RTCShareCapture
internal import RTCShareCongestionControl
internal import RTCShareMedia
internal import RTCShareWireFormat

/// The options for bitrate, frame rate and size, and for the property to keep at a low bitrate.
struct QualityOptions: ParsableArguments {
    /// Returns the help of `--hint`, with the default for a command that starts a share.
    static func hintHelp(default value: String? = nil) -> ArgumentHelp {
        ArgumentHelp(
            "What to keep when bandwidth is short: text and detail keep the video sharp, motion keeps it smooth, auto "
                + "follows the content."
                + (value.map { " Default: \($0)." } ?? ""), valueName: "hint")
    }

    /// Returns the help of `--size`, with the default in the same way.
    static func sizeHelp(default value: String? = nil) -> ArgumentHelp {
        ArgumentHelp(
            "Maximum video size, 16x16 to 16383x16383. Larger video is scaled down and keeps its shape."
                + (value.map { " Default: \($0)." } ?? ""), valueName: "WxH")
    }

    @Option(
        help: ArgumentHelp(
            """
            Maximum video bitrate for each viewer, in kbit/s. Default: at which a page of text of this size is sharp \
            within a second, and at least 2500.
            """, valueName: "kbps"), transform: OptionValue.videoBitrate)
    var maxBitrate: Int?

    @Option(help: ArgumentHelp("Maximum frame rate. Default: 30.", valueName: "n"), transform: OptionValue.frameRate)
    var maxFramerate = 30.0

    @Option(help: Self.sizeHelp(default: "3840x2160"), transform: OptionValue.size)
    var size: PixelSize?

    @Option(help: Self.hintHelp(default: "auto"))
    var hint: SharingOptions.Hint?

    @Option(
        help: ArgumentHelp("Maximum audio bitrate of the share, in kbit/s. Default: 128.", valueName: "kbps"),
        transform: OptionValue.audioBitrate)
    var audioBitrate: Int?

    @OptionGroup var encoding: EncodingOptions

    // These are for rtcbench, which measures the effect of each deviation.
    @Option(help: .hidden)
    var congestionWithout: [String] = []

    @Option(help: .hidden)
    var encoderWithout: [String] = []

    func validate() throws {
        guard Deviations(without: congestionWithout) != nil else {
            throw ValidationError("--congestion-without: use the names that rtcbench network --without has")
        }
        guard EncoderHeuristics(without: encoderWithout) != nil else {
            throw ValidationError(
                "--encoder-without: use \(EncoderHeuristics.named.map(\.key).joined(separator: ", "))")
        }
    }
}

/// The options for the encoder of all sent video.
struct EncodingOptions: ParsableArguments {
    @Flag(help: "Encode every frame with the codec's library. Takes several times the CPU. Only for troubleshooting.")
    var noPartialUpdates = false

    @Option(
        help: ArgumentHelp(
            "Preferred video codec: \(OptionValue.codecs.choice). Default: auto. Repeatable.",
            valueName: "codec"), transform: OptionValue.codec)
    var codec: [String] = []

    /// The codecs in the order of preference; nil for a choice by the route and the machine.
    var codecs: [String]? { codec.isEmpty || codec.contains(OptionValue.automaticCodec) ? nil : codec }

    func validate() throws {
        let automatic = OptionValue.automaticCodec
        let named = codec.filter { $0 != automatic }
        guard !named.isEmpty, named.count < codec.count else { return }
        throw ValidationError(
            "--codec \(automatic) chooses among all codecs, and can't be combined with others"
                + ParserWords.remedyMark + named.map { "--codec \($0.lowercased())" }.joined(separator: " "))
    }
}

internal import ArgumentParser
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareWireFormat

struct SetCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the video quality of a running share.",
        discussion: """
            Options that you leave out keep their values.

                rtcshare set --max-bitrate 1500 --hint text
            """)

    @Option(
        help: ArgumentHelp("Maximum video bitrate for each viewer, in kbit/s.", valueName: "kbps"),
        transform: OptionValue.videoBitrate)
    var maxBitrate: Int?

    @Option(help: QualityOptions.hintHelp())
    var hint: SharingOptions.Hint?

    @Option(help: QualityOptions.sizeHelp(), transform: OptionValue.size)
    var size: PixelSize?

    @Option(
        help: ArgumentHelp("Maximum frame rate, up to the frame rate of the source.", valueName: "n"),
        transform: OptionValue.frameRate)
    var maxFramerate: Double?

    @OptionGroup var share: ControlOptions

    func validate() throws {
        guard request != .set(VideoEncodingParameters()) else {
            throw ValidationError("nothing to change: give --max-bitrate, --hint, --size or --max-framerate")
        }
    }

    var parameters: VideoEncodingParameters {
        VideoEncodingParameters(
            maxBitrate: maxBitrate.map(DataRate.kilobitsPerSecond), maxFramerate: maxFramerate, maxSize: size,
            contentHint: hint?.contentHint)
    }

    var request: ControlRequest { .set(parameters, automatic: hint == .auto ? [.contentHint] : []) }

    func run() async throws { try await perform(request) }
}

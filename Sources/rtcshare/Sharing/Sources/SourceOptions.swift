internal import ArgumentParser

/// The options for the sources.
struct SourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            What to share: display, window:title=TEXT, region:WxH+X+Y, camera, file:PATH.y4m, test and others. Default: the \
            display, or a test pattern if there is none. All forms: rtcshare help sources.
            """, valueName: "spec"), completion: ShellCompletion.source, transform: OptionValue.specification)
    var source: SourceSpecification?

    @Option(
        help: ArgumentHelp(
            "Audio to share: system, microphone, file:PATH.wav, none and others. Several are mixed. Default: none. Repeatable.",
            valueName: "spec"), completion: ShellCompletion.sound, transform: OptionValue.specification)
    var audio: [AudioSpecification] = []

    @Option(
        help: ArgumentHelp(
            "Send your microphone as a separate track. Takes the same values as --audio. Default: none.",
            valueName: "spec"), completion: ShellCompletion.sound, transform: OptionValue.specification)
    var microphone: AudioSpecification?

    @Option(
        help: ArgumentHelp(
            "Send your camera as a separate track. Takes the same values as --source, or none. Default: none.",
            valueName: "spec"), completion: ShellCompletion.source, transform: OptionValue.specification)
    var camera: CameraSpecification?

    var selection: SourceSelection {
        SourceSelection(source: source, audio: audio, microphone: microphone, camera: camera)
    }
}

internal import ArgumentParser

/// The options that say what is shared.
struct SourceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("What to share: \(SourceSpecification.syntax).", valueName: "spec"),
        completion: ShellCompletion.source)
    var source: String?

    @Option(
        help: ArgumentHelp(
            "The sound of what is shared: \(AudioSpecification.syntax). Given again, each is mixed in.",
            valueName: "spec"), completion: ShellCompletion.sound)
    var audio: [String] = []

    @Option(
        help: ArgumentHelp("Your own voice, beside what is shared: a SPEC as for --audio.", valueName: "spec"),
        completion: ShellCompletion.sound)
    var microphone: String?

    @Option(
        help: ArgumentHelp(
            "Your own picture, beside what is shared: a SPEC as for --source, or none.", valueName: "spec"),
        completion: ShellCompletion.source)
    var camera: String?

    /// What they say.
    var selection: SourceSelection {
        SourceSelection(source: source, audio: audio, microphone: microphone, camera: camera)
    }
}

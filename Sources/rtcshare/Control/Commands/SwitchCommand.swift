internal import ArgumentParser

struct SwitchCommand: ControlCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch", abstract: "Switch a running share to another source.",
        discussion: """
            The new source is opened first. If that fails, the share does not change. If the share is paused, the new source
            appears when you resume.

                rtcshare switch window:title=Slides
                rtcshare switch display
            """)

    @Argument(
        help: ArgumentHelp(
            """
            What to share: display, window:title=TEXT, region:WxH+X+Y, camera, file:PATH.y4m, test and others. All forms: \
            rtcshare help sources.
            """, valueName: "spec"), completion: ShellCompletion.source, transform: OptionValue.specification)
    var source: SourceSpecification

    @OptionGroup var share: ControlOptions

    func run() async throws {
        try await perform(.source(source.withAbsolutePath))
    }
}

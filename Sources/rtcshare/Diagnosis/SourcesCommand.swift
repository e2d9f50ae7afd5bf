internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareCapture

struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: "List what can be shared: displays, windows, sound devices.",
        discussion: """
            Each entry begins with the SPEC that shares it: after --source, or for sound, after --audio or --microphone. \
            What is not there (no DISPLAY, no sound server) is said on standard error, and the rest is listed.

            Minimised windows have no picture to share until they are back, and are listed with --minimised; menus and \
            windows without pixels never are.
            """)

    @Flag(help: "Print it as JSON.")
    var json = false

    @Flag(help: "List minimised windows too.")
    var minimised = false

    func run() async throws {
        try await reportingFailure {
            let list = SourceListing(
                environment: ProcessInfo.processInfo.environment, includingMinimised: minimised)
            if json { try StandardStreams.writeJSON(list) } else { try StandardStreams.writeLines(list.table()) }
        }
    }
}

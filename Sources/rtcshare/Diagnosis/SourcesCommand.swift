internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareCapture

struct SourcesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: "List screens, windows, cameras and audio devices to share.",
        discussion: """
            Each line begins with the SPEC to give to --source or --camera, or to --audio or --microphone.

            Sources:

                display[:OUTPUT]         the whole screen, or one monitor
                window:ID                a window by its number
                window:title=TEXT        a window by a part of its title
                region:WxH+X+Y           a rectangle of the screen
                portal[:monitor|window]  ask the Wayland desktop
                camera[:NAME]            a camera
                file:PATH.y4m[:loop]     a video file
                file:-                   y4m video on standard input
                test[:WxH@FPS]           a test pattern
                process:PORT|PATH        what rtcshare capture sends here

            Audio:

                system[:SINK]            what the machine plays
                microphone[:DEVICE]      a microphone
                file:PATH.wav[:loop]     an audio file
                tone[:HZ]                a steady tone
                beep                     a beep every second
                process                  the audio of --source process:…
                none                     no audio
            """)

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "List minimized windows, too. They show nothing until they are restored.")
    var minimized = false

    func run() async throws {
        try await reportingFailure {
            let list = SourceListing(
                environment: ProcessInfo.processInfo.environment, includingMinimized: minimized)
            if json { try StandardStreams.writeJSON(list) } else { try StandardStreams.writeLines(list.table()) }
        }
    }
}

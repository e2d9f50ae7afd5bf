internal import RTCShareSecureTransport

/// Where the program begins.
@main
enum Main {
    static func main() async {
        StandardStreams.replaceClosed()
        OpenFiles.raiseLimit()
        SecurityLibraries.skipCleanupAtExit()
        await RTCShareCommand.main()
    }
}

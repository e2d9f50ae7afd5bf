internal import Glibc
internal import RTCShareSecureTransport

/// Where the program begins.
@main
enum Main {
    static func main() async {
        StandardStreams.replaceClosed()
        OpenFiles.raiseLimit()
        SecurityLibraries.skipCleanupAtExit()
        atexit { Terminal.shared.drain() }
        await RTCShareCommand.main()
    }
}

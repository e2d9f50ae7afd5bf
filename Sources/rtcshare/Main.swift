internal import Glibc
internal import RTCShareSecureTransport

/// Where the program begins.
@main
enum Main {
    static func main() async {
        StandardStreams.replaceClosed()
        OpenFiles.raiseLimit()
        SecurityLibraries.skipCleanupAtExit()
        atexit(drainTerminal)
        await RTCShareCommand.main()
    }
}

/// Any thread can end the process, and this runs on it: it is nobody's to be isolated to the main one.
private nonisolated func drainTerminal() { Terminal.shared.drain() }

internal import Glibc
internal import RTCShareSecureTransport

/// The start of the program.
@main
enum Main {
    static func main() async {
        StandardStreams.replaceClosed()
        OpenFiles.raiseLimit()
        SecurityLibraries.skipCleanupAtExit()
        ProcessMemory.shareArenas()
        atexit(drainTerminal)
        await RTCShareCommand.main()
    }
}

/// Drains the terminal on any thread that ends the process, so it must not be isolated to the main one.
private nonisolated func drainTerminal() { Terminal.shared.drain() }

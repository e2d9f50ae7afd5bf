internal import ArgumentParser
internal import Foundation

/// The programs that `viewer` and `rivals` start.
struct ViewerPrograms: ParsableArguments {
    @Option(help: ArgumentHelp("The rtcshare to measure. By default the one beside this program.", valueName: "path"))
    var executable: String?

    @Option(help: ArgumentHelp("The NetworkRelay to use. By default the one beside this program.", valueName: "path"))
    var relay: String?

    @Option(
        help: ArgumentHelp(
            "Where the senders' and receivers' scripts are. By default Tests/InteropTests/Peers here.",
            valueName: "folder"))
    var scripts = "Tests/InteropTests/Peers"

    @Option(
        help: ArgumentHelp(
            "The Python that runs them; with aiortc where that receives, and with websockets for pages.",
            valueName: "path"))
    var python = ProcessInfo.processInfo.environment["RTCSHARE_PYTHON"] ?? PeerCommands.systemPython

    @Option(help: ArgumentHelp("The program of Selkies. By default the one in PATH.", valueName: "path"))
    var selkies = "selkies"

    var tools: ViewerRun.Tools {
        ViewerRun.Tools(
            executable: executable ?? beside("rtcshare"), relay: relay ?? beside("NetworkRelay"), scripts: scripts,
            python: python, selkies: selkies)
    }

    private func beside(_ name: String) -> String {
        Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent(name).path ?? name
    }

    /// The commit of this program's sources, with a `+` if they were changed; nil outside of a clone.
    static var commit: String? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"]
        process.currentDirectoryURL = Bundle.main.executableURL?.deletingLastPathComponent()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}

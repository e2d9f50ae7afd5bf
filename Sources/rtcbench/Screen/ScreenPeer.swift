internal import ArgumentParser
internal import Foundation

/// A program that sends a screen. Each is started alike: it writes its offer to standard output and closes that, reads
/// the answer from standard input to its end, and sends until SIGTERM.
enum ScreenPeer: String, CaseIterable, Codable, ExpressibleByArgument {
    case ours
    case gstreamer
    case aiortc

    var name: String {
        switch self {
        case .ours: "rtcshare"
        case .gstreamer: "GStreamer"
        case .aiortc: "aiortc"
        }
    }
}

/// How the peers are found and started.
struct PeerCommands {
    /// The `rtcshare` that is measured.
    let executable: String
    /// Where the other peers' scripts are.
    let scripts: String
    /// A Python with aiortc; GStreamer's bindings come with the system's own.
    let python: String
    /// The most that a peer may send, in kbit/s.
    let bitrate: Int
    /// Further options for each peer.
    var more: [ScreenPeer: [String]] = [:]

    static let systemPython = "/usr/bin/python3"

    func command(for peer: ScreenPeer) -> [String] {
        let command =
            switch peer {
            case .ours:
                [executable, "send", "--source", "display", "--max-bitrate", "\(bitrate)", "--max-framerate", "30"]
            case .gstreamer:
                [Self.systemPython, "\(scripts)/gstreamer_sender.py", "--bitrate", "\(bitrate)", "--framerate", "30"]
            case .aiortc:
                [python, "\(scripts)/aiortc_sender.py", "--bitrate", "\(bitrate)", "--framerate", "30"]
            }
        return command + more[peer, default: []]
    }

    /// Why a peer can't be measured here; nil where it can.
    func obstacle(_ peer: ScreenPeer) -> String? {
        if peer == .ours {
            return FileManager.default.isExecutableFile(atPath: executable)
                ? nil : "there is no program \(executable): build it (swift build -c release), or give --executable"
        }
        let outcome = Self.run(command(for: peer) + ["--check"])
        return outcome.status == 0
            ? nil : outcome.text.split(separator: "\n").last.map(String.init) ?? "it does not run"
    }

    /// What exactly a peer is, and how it is set up.
    func description(of peer: ScreenPeer) -> String {
        peer == .ours
            ? "rtcshare " + command(for: peer).dropFirst().joined(separator: " ")
            : Self.run(command(for: peer) + ["--describe"]).text.split(separator: "\n").joined(separator: ": ")
    }

    /// Runs a program to its end.
    private static func run(_ arguments: [String]) -> (status: Int32, text: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return (-1, "\(arguments[0]) can't be started")
        }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}

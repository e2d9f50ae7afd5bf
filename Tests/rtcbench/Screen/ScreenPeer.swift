internal import ArgumentParser
internal import Foundation

/// A program that sends a screen. All are started in the same way: a program writes its offer to standard output and
/// closes that, reads the answer from standard input to its end, and sends until SIGTERM.
enum ScreenPeer: String, CaseIterable, Codable, ExpressibleByArgument {
    case ours
    /// This sender, with a separate capturing process that sends its frames over a socket.
    case broadcast
    /// This sender, with a separate capturing process that shares memory with it.
    case sharedMemory = "shared-memory"
    case gstreamer
    case aiortc

    /// Whether it is this project's sender, and not one for comparison.
    var isOurs: Bool { self == .ours || self == .broadcast || self == .sharedMemory }

    var name: String {
        switch self {
        case .ours: "rtcshare"
        case .broadcast: "rtcshare capture"
        case .sharedMemory: "rtcshare capture, shared memory"
        case .gstreamer: "GStreamer"
        case .aiortc: "aiortc"
        }
    }
}

/// The commands of the peers.
struct PeerCommands {
    /// The `rtcshare` to measure.
    let executable: String
    /// The directory of the other peers' scripts.
    let scripts: String
    /// A Python with aiortc; the system's Python has GStreamer's bindings.
    let python: String
    /// The maximum bitrate of a peer, in kbit/s.
    let bitrate: Int
    /// Further options for each peer.
    var more: [ScreenPeer: [String]] = [:]
    /// The directory of the socket of a capturing process.
    var folder = "."

    private var socket: String { "\(folder)/broadcast.sock" }

    static let systemPython = "/usr/bin/python3"

    func command(for peer: ScreenPeer) -> [String] {
        func send(_ source: String) -> [String] {
            [executable, "send", "--source", source, "--max-bitrate", "\(bitrate)", "--max-framerate", "30"]
        }
        let command =
            switch peer {
            case .ours: send("display")
            case .broadcast, .sharedMemory: send("process:\(socket)")
            case .gstreamer:
                [Self.systemPython, "\(scripts)/gstreamer_sender.py", "--bitrate", "\(bitrate)", "--framerate", "30"]
            case .aiortc:
                [python, "\(scripts)/aiortc_sender.py", "--bitrate", "\(bitrate)", "--framerate", "30"]
            }
        return command + more[peer, default: []]
    }

    /// Returns the capturing process of a peer, if it has a separate one.
    func companion(of peer: ScreenPeer) -> [String]? {
        guard peer == .broadcast || peer == .sharedMemory else { return nil }
        return [
            executable, "capture", "--source", "display", "--socket", socket, "--max-framerate", "30", "--transport",
            peer == .broadcast ? "tcp" : "shared-memory",
        ]
    }

    /// The tokens of the capturing and the sharing process.
    static let tokens = [
        "RTCSHARE_MY_TOKEN": "a benchmark's token", "RTCSHARE_PEER_TOKEN": "a benchmark's token",
    ]

    /// Returns the reason why a peer can't be measured here; nil if it can.
    func obstacle(_ peer: ScreenPeer) -> String? {
        if peer.isOurs {
            return FileManager.default.isExecutableFile(atPath: executable)
                ? nil : "there is no program \(executable): build it (swift build -c release), or give --executable"
        }
        let outcome = Self.run(command(for: peer) + ["--check"])
        return outcome.status == 0
            ? nil : outcome.text.split(separator: "\n").last.map(String.init) ?? "it does not run"
    }

    /// Returns a description of a peer and its configuration.
    func description(of peer: ScreenPeer) -> String {
        peer.isOurs
            ? "rtcshare " + command(for: peer).dropFirst().joined(separator: " ")
            : Self.run(command(for: peer) + ["--describe"]).text.split(separator: "\n").joined(separator: ": ")
    }

    /// Runs a program to its end.
    static func run(_ arguments: [String]) -> (status: Int32, text: String) {
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

internal import ArgumentParser
internal import Foundation
internal import RTCShareMedia

/// The common options of `encode` and `latency`.
struct ScreenOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The screen's sizes, separated by commas.", valueName: "WxH,…"))
    var sizes = "1920x1080,1280x720"

    @Option(
        help: ArgumentHelp(
            "Who sends: ours, broadcast, shared-memory, gstreamer, aiortc. What is not installed is left out.",
            valueName: "…"))
    var peers = "ours,gstreamer"

    @Option(help: ArgumentHelp("How long each run is measured.", valueName: "s"))
    var seconds = 8.0

    @Option(help: ArgumentHelp("How long each run goes on before it is measured.", valueName: "s"))
    var warmUp = 3.0

    @Option(help: "Rounds; each has every peer with every content.")
    var rounds = 3

    @Option(help: ArgumentHelp("The most that a sender may send.", valueName: "kbit/s"))
    var maxBitrate = 2500

    @Option(help: "Where randomness begins: texts, times, pictures.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The rtcshare to measure. By default the one beside this program.", valueName: "path"))
    var executable: String?

    @Option(
        help: ArgumentHelp(
            "Where gstreamer_sender.py and aiortc_sender.py are. By default Tests/InteropTests/Peers here.",
            valueName: "folder"))
    var scripts = "Tests/InteropTests/Peers"

    @Option(help: ArgumentHelp("A Python with aiortc.", valueName: "path"))
    var python = ProcessInfo.processInfo.environment["RTCSHARE_PYTHON"] ?? PeerCommands.systemPython

    @Option(help: ArgumentHelp("More options for rtcshare send, separated by spaces.", valueName: "options"))
    var oursWith = ""

    @Option(help: ArgumentHelp("More options for gstreamer_sender.py, separated by spaces.", valueName: "options"))
    var gstreamerWith = ""

    @Flag(inversion: .prefixedNo, help: "Give senders a core of their own, where there are two.")
    var pin = true

    @Option(help: ArgumentHelp("Write all figures as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write a picture of the figures.", valueName: "file"))
    var svg: String?

    @Option(help: ArgumentHelp("Keep the last picture that each viewer decoded.", valueName: "folder"))
    var pictures: String?

    func validate() throws {
        _ = try screenSizes()
        _ = try chosenPeers()
        guard seconds >= 1, warmUp >= 0.5, rounds >= 1 else {
            throw ValidationError("give at least one second, half a second of warming up, and one round")
        }
        guard (100...50_000).contains(maxBitrate) else {
            throw ValidationError("--max-bitrate \(maxBitrate): give 100 to 50000 kbit/s")
        }
    }

    func screenSizes() throws -> [PixelSize] {
        try sizes.split(separator: ",").map { try Self.size($0, option: "--sizes") }
    }

    /// Returns the size of a screen.
    static func size(_ text: some StringProtocol, option: String) throws -> PixelSize {
        let sides = text.split(separator: "x").compactMap { Int($0) }
        // The videos, the menus and the windows around them need space.
        guard sides.count == 2, (1024...8192).contains(sides[0]), (600...4320).contains(sides[1]) else {
            throw ValidationError("\(option) \(text): give 1024x600 to 8192x4320")
        }
        return PixelSize(width: sides[0], height: sides[1])
    }

    func chosenPeers() throws -> [ScreenPeer] {
        try Self.choose(peers, option: "--peers")
    }

    /// Returns the cases in a list.
    static func choose<Choice>(_ list: String, option: String) throws -> [Choice]
    where Choice: RawRepresentable<String> & CaseIterable {
        try list.split(separator: ",").map { name in
            guard let choice = Choice(rawValue: String(name)) else {
                let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("\(option) \(name): choose among \(names)")
            }
            return choice
        }
    }

    var commands: PeerCommands {
        let beside = Bundle.main.executableURL?.deletingLastPathComponent().appendingPathComponent("rtcshare").path
        func parts(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
        return PeerCommands(
            executable: executable ?? beside ?? "rtcshare", scripts: scripts, python: python, bitrate: maxBitrate,
            more: [.ours: parts(oursWith), .gstreamer: parts(gstreamerWith)])
    }
}

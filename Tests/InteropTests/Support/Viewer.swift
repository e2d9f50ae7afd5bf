import Foundation
import Testing
import TestSupport

/// A receiver that other people wrote.
enum Viewer: String {
    case aiortc
    case chromium
    case firefox
    case gstreamer

    /// GStreamer's bindings come with Debian's own Python and are not in a virtual environment.
    static let systemPythonHasGStreamer: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [Peers.script("gstreamer_viewer.py"), "--check"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.runAlone()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Starts the viewer. It answers `offer.sdp` with `answer.sdp` and leaves its report in `NAME/report.json`.
    func start(
        duration: Int, snapshotAt: String, _ more: [String] = [], in folder: TemporaryFolder
    ) throws -> RunningProgram {
        let options = [
            "--offer", folder.file("offer.sdp").path, "--answer", folder.file("answer.sdp").path,
            "--out", folder.file(rawValue).path, "--duration", "\(duration)", "--snapshot-at", snapshotAt,
        ]
        let command: (URL?, [String]) =
            switch self {
            case .aiortc: (Peers.python, [Peers.script("aiortc_viewer.py")])
            case .chromium: (RunningProgram.find("python3"), [Peers.script("chromium_viewer.py")])
            case .firefox: (RunningProgram.find("python3"), [Peers.script("chromium_viewer.py"), "--firefox"])
            case .gstreamer: (URL(fileURLWithPath: "/usr/bin/python3"), [Peers.script("gstreamer_viewer.py")])
            }
        return try RunningProgram(try #require(command.0), command.1 + options + more, in: folder)
    }

    /// The program and the arguments that play a link by WHEP until they are interrupted, if it is not a browser.
    func player(of link: String, in folder: TemporaryFolder) throws -> (program: URL, arguments: [String]) {
        switch self {
        case .aiortc:
            let parts = link.split(separator: "#").map(String.init)
            let options = ["--use-servers", "--sections", "video", "--pictures", "1000"]
            return (
                try #require(Peers.python),
                [Peers.script("whep_player.py"), "--url", parts[0] + "whep", "--token", parts[1]] + options
            )
        case .gstreamer:
            return (
                URL(fileURLWithPath: "/usr/bin/python3"),
                [
                    Peers.script("gstreamer_viewer.py"), "--offer", link, "--answer", folder.file("answer.sdp").path,
                    "--out", folder.file(rawValue).path, "--snapshot-at", "",
                ]
            )
        case .chromium, .firefox: return try #require(nil, "a browser loads the page of a link")
        }
    }

    func report(in folder: TemporaryFolder) throws -> ViewerReport {
        let file = folder.file("\(rawValue)/report.json")
        return try JSONDecoder.forViewerReports.decode(ViewerReport.self, from: Data(contentsOf: file))
    }
}

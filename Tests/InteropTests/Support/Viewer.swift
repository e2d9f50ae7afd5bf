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

    func report(in folder: TemporaryFolder) throws -> ViewerReport {
        let file = folder.file("\(rawValue)/report.json")
        return try JSONDecoder.forViewerReports.decode(ViewerReport.self, from: Data(contentsOf: file))
    }
}

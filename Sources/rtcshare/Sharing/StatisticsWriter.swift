internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCSharePeerConnection

/// Writes statistics reports as JSON Lines, one report (an array of objects) a line.
struct StatisticsWriter: Sendable {
    private let file: OpenFile
    private let path: String

    /// Writes to a file, in place of what it held, or to standard output for `-`.
    init(path: String) throws(CommandFailure) {
        self.path = path
        if path == "-" {
            file = .standardOutput
        } else {
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else {
                throw CommandFailure(
                    .cannotCreate, "can't write statistics to \(path): \(String(cString: strerror(errno)))")
            }
            file = OpenFile(descriptor)
        }
    }

    /// Appends a report.
    func write(_ report: [StatisticsObject]) throws(CommandFailure) {
        do {
            try file.write(try JSONText.encode(report) + Data([UInt8(ascii: "\n")]))
        } catch {
            throw CommandFailure(
                .inputOutput, "can't write statistics to \(path): \(StandardStreams.reason(of: error))")
        }
    }
}

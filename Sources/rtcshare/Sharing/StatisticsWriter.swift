internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection

/// Writes statistics reports as JSON Lines, one report (an array of objects) a line. Where no more can be written, that is
/// said once, and all else continues.
final class StatisticsWriter: Sendable {
    private let file: OpenFile
    private let name: String
    private let activity: String
    private let failure = Locked<CommandFailure?>(nil)

    /// Writes to a file, in place of what it held, or to standard output for `-`; `activity` is what continues without it.
    init(path: String, activity: String) throws(CommandFailure) {
        self.activity = activity
        if path == "-" {
            name = "standard output"
            file = .standardOutput
        } else {
            name = path
            // To open a pipe that nobody reads would wait for a reader.
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o644)
            guard descriptor >= 0 else {
                let reason = errno == ENXIO ? "no program reads this pipe" : systemMessage(errno, path: path)
                throw CommandFailure(
                    .cannotCreate, "can't write statistics to \(path): \(reason)",
                    try: "choose a file in a directory in which you can write")
            }
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
            file = OpenFile(descriptor)
        }
    }

    /// Appends a report, unless an earlier one could not be written.
    func write(_ report: StatisticsReport) {
        guard failure.withLock({ $0 == nil }) else { return }
        do {
            try file.write(try JSONText.encode(report.objects) + Data([UInt8(ascii: "\n")]))
        } catch {
            let reason = "can't write statistics to \(name): \(StandardStreams.reason(of: error))"
            failure.withLock { $0 = CommandFailure(.inputOutput, reason) }
            Terminal.shared.say("Warning: the statistics have ended, and \(activity) continues: \(reason).")
        }
    }

    /// Ends the statistics.
    /// - Throws: why they ended before.
    func close() throws(CommandFailure) {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

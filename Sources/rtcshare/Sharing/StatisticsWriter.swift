internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSignaling

/// A writer of statistics reports as JSON Lines, with one report (an array of objects) per line. It uses a separate
/// thread, because writing to a pipe can block. If writing fails, that is printed once, and the share continues.
final class StatisticsWriter: Sendable {
    private struct State {
        /// The reports of each second that are not written yet.
        var waiting: [[StatisticsReport]] = []
        var hasOmission = false
        /// Whether no more reports follow.
        var isClosed = false
        /// Whether the thread has ended.
        var hasEnded = false
        var failure: CommandFailure?
    }

    private let mailbox = Mailbox(State())
    private let thread: WorkerThread
    private let name: String
    private let say: @Sendable (String) -> Void

    /// The maximum number of seconds whose reports wait to be written.
    static let limit = 8
    /// The timeout for writing the last reports.
    private static let closingTime = Duration.seconds(3)

    /// Opens a file for writing, which is truncated, or standard output for `-`. `activity` names in messages the work
    /// that continues without statistics.
    init(
        path: String, activity: String, say: @escaping @Sendable (String) -> Void = { Terminal.shared.say($0) }
    ) throws(CommandFailure) {
        let isOutput = path == "-"
        name = isOutput ? "standard output" : path
        self.say = say
        let file = isOutput ? .standardOutput : try Self.open(path)
        do throws(WorkerThreadError) {
            thread = try WorkerThread(named: "statistics") { [mailbox, name] in
                defer { mailbox.post { $0.hasEnded = true } }
                while let reports = mailbox.take({ Self.next(of: &$0) }) {
                    do {
                        for report in reports {
                            try file.write(try JSONText.encode(report) + Data([UInt8(ascii: "\n")]))
                        }
                    } catch {
                        let reason = "can't write statistics to \(name): \(StandardStreams.reason(of: error))"
                        mailbox.post { $0.failure = CommandFailure(.inputOutput, reason) }
                        return say("Warning: the statistics have ended, and \(activity) continues: \(reason).")
                    }
                }
            }
        } catch {
            throw CommandFailure(
                .unavailable, "can't write statistics to \(name): \(systemMessage(error.errorNumber))")
        }
    }

    private static func open(_ path: String) throws(CommandFailure) -> OpenFile {
        // Another file can be a person's work. Pipes and devices are not read.
        if let start = OpenFile.beginning(ofRegularFile: path, atMost: 1)?.first, start != UInt8(ascii: "[") {
            throw CommandFailure(
                .cannotCreate, "\(path) exists already and has no statistics in it", try: "--stats with another file")
        }
        // Without `O_NONBLOCK`, opening a pipe waits for a reader.
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0o644)
        guard descriptor >= 0 else {
            let reason = errno == ENXIO ? "no program reads this pipe" : systemMessage(errno, path: path)
            throw CommandFailure(
                .cannotCreate, "can't write statistics to \(path): \(reason)",
                try: "choose a file in a directory in which you can write")
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return OpenFile(descriptor)
    }

    private static func next(of state: inout State) -> Mailbox<State>.Found<[StatisticsReport]?> {
        guard state.waiting.isEmpty else { return .done(state.waiting.removeFirst()) }
        return state.isClosed ? .done(nil) : .wait(until: nil)
    }

    deinit {
        mailbox.post { $0.isClosed = true }
    }

    /// Adds the reports of a second, unless writing has failed. If too many wait, the oldest are omitted.
    func write(_ reports: [StatisticsReport]) {
        let isFirstOmission = mailbox.post { state in
            guard state.failure == nil else { return false }
            state.waiting.append(reports)
            guard state.waiting.count > Self.limit else { return false }
            state.waiting.removeFirst()
            defer { state.hasOmission = true }
            return !state.hasOmission
        }
        if isFirstOmission {
            say("Warning: \(name) takes statistics too slowly, so the oldest reports that wait are left out.")
        }
    }

    /// Waits, for a limited time, until all reports are written, and ends the statistics.
    /// - Throws: The earlier failure, or the reason why the last reports can't be written.
    func close() async throws(CommandFailure) {
        mailbox.post { $0.isClosed = true }
        await withTimeLimit(Self.closingTime) { [thread] in await thread.finish() }
        let (hasEnded, failure) = mailbox.read { ($0.hasEnded, $0.failure) }
        if let failure { throw failure }
        guard hasEnded else {
            throw CommandFailure(.inputOutput, "can't write the last statistics to \(name): it takes them too slowly")
        }
    }
}

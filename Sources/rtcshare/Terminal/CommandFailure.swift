internal import ArgumentParser
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The reason why a command failed, with its status in `sysexits.h`.
struct CommandFailure: Error {
    /// The exit statuses of this program.
    enum Status: Int32 {
        case usage = 64
        case badInput = 65
        case inputMissing = 66
        case unavailable = 69
        case internalError = 70
        case cannotCreate = 73
        case inputOutput = 74
        case `protocol` = 76
        case notPermitted = 77
    }

    let status: Status
    /// The failure with its reason, and further lines, such as the alternatives.
    let problem: [String]
    /// The command to type, or another remedy; nil if nothing helps.
    let remedy: String?

    /// - Parameter problem: The failure and its reason. It remains one line, whatever an untrusted text in it contains.
    init(_ status: Status, _ problem: String, try remedy: String? = nil) {
        self.init(status, report: [problem], try: remedy)
    }

    init(_ status: Status, _ explanation: Explanation) {
        let entries = explanation.list.map { "  " + $0 }
        self.init(
            status, report: [explanation.problem + (entries.isEmpty ? "" : ":")] + entries, try: explanation.remedy)
    }

    /// Creates a report of several lines, of which untrusted texts in it can't end any.
    init(_ status: Status, report: [String], try remedy: String? = nil) {
        self.status = status
        self.problem = report
        self.remedy = remedy
    }

    /// The failure without a remedy.
    var message: String { problem.joined(separator: "\n") }

    /// Returns the failure with the place of the option that caused it. The command line is not wrong then, but a file
    /// is.
    func located(at place: String) -> CommandFailure {
        CommandFailure(
            status == .usage ? .badInput : status, report: ["\(place): \(problem.first ?? "")"] + problem.dropFirst(),
            try: remedy)
    }

    /// Returns its lines, after `introduction`: `rtcshare: WHAT: WHY.`, then `Try: …`.
    func lines(after introduction: String) -> [String] {
        var lines = [introduction + (problem.first ?? "")] + problem.dropFirst()
        if problem.count == 1 { lines[0] = lines[0].sentence }
        return lines + (remedy.map { [Self.remedyMarks[0] + $0] } ?? [])
    }

    /// The beginnings of a report's last line that has a remedy.
    static let remedyMarks = ["Try: ", "Run: "]
}

extension String {
    /// The text with a period, unless it ends like a sentence already.
    fileprivate var sentence: String {
        guard let last, !".!?:".contains(last) else { return self }
        return self + "."
    }
}

/// Closes files one after the other, despite failures.
/// - Throws: The first failure.
func closeAll(_ closings: [() async throws -> Void]) async throws {
    var failure: (any Error)?
    for close in closings {
        do {
            try await close()
        } catch {
            failure = failure ?? error
        }
    }
    if let failure { throw failure }
}

extension AsyncParsableCommand {
    /// Runs the command's work.
    /// - Throws: `CommandFailure` for a failure of any kind.
    func reportingFailure(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch  where error is ExitCode || error is CleanExit {
            throw error
        } catch {
            throw CommandFailure(explaining: error)
        }
    }
}

internal import ArgumentParser
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareVideoCoding

/// Why a command ends without having done its work, with the status that `sysexits.h` gives the reason.
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
    private let report: [String]

    /// One line, however many a stranger's words in it would make.
    init(_ status: Status, _ message: String) { self.init(status, report: [message]) }

    /// A report of several lines, which are its own: nobody else's words in it end one.
    init(_ status: Status, report: [String]) {
        self.status = status
        self.report = report
    }

    /// What went wrong, and what to do.
    var message: String { report.joined(separator: "\n") }

    /// What is said of it, with `introduction` before it.
    func lines(after introduction: String) -> [String] {
        [introduction + (report.first ?? "")] + report.dropFirst()
    }
}

/// Closes files one after the other, whatever fails.
/// - Throws: what failed first.
func closeAll(_ closings: [() throws -> Void]) throws {
    var failure: (any Error)?
    for close in closings {
        do {
            try close()
        } catch {
            failure = failure ?? error
        }
    }
    if let failure { throw failure }
}

extension AsyncParsableCommand {
    /// Runs the command's work; a failure is told on stderr and ends the process with its status.
    func reportingFailure(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch let error as ExitCode {
            throw error
        } catch {
            let failure = CommandFailure(explaining: error)
            Terminal.shared.say(failure.lines(after: "rtcshare: "))
            throw ExitCode(failure.status.rawValue)
        }
    }
}

internal import Foundation
internal import Glibc

/// The viewers' process, for the sender.
final class CrowdProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = Data()

    /// Starts it on a processor.
    init(processor: Int) throws {
        // An ended process is detected by its missing reply.
        signal(SIGPIPE, SIG_IGN)
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["fanout-viewers", "--processor", String(processor)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func send(_ command: CrowdCommand) throws {
        try input.fileHandleForWriting.write(contentsOf: command.line)
    }

    /// Returns the next reply.
    func reply() throws -> CrowdReply {
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                let line = received[received.startIndex..<end]
                let reply = try JSONDecoder().decode(CrowdReply.self, from: line)
                received.removeSubrange(received.startIndex...end)
                if case .failed(let reason) = reply { throw BenchmarkFailure("the viewers' process: \(reason)") }
                return reply
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw BenchmarkFailure("the viewers' process has ended") }
            received.append(data)
        }
    }

    /// Returns the viewers' counts.
    func report() throws -> CrowdReport {
        try send(.report)
        guard case .report(let report) = try reply() else { throw BenchmarkFailure("the viewers answered out of turn") }
        return report
    }

    func end() {
        try? send(.quit)
        process.waitUntilExit()
    }
}

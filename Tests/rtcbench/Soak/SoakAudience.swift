internal import Foundation
internal import RTCShareLocks

/// The viewers' process, for the sharing one. It handles one request at a time.
final class SoakAudience: Sendable {
    private let input: FileHandle
    private let process: Process
    private let waiting = Locked<CheckedContinuation<SoakReply, any Error>?>(nil)

    /// The timeout for an answer.
    private static let patience = Duration.seconds(30)

    init(seed: UInt64) throws {
        // An ended process is detected by its missing reply.
        signal(SIGPIPE, SIG_IGN)
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["soak-viewers", "--seed", String(seed)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = process
        self.input = input.fileHandleForWriting
        let replies = output.fileHandleForReading
        Thread { [self] in
            var received = Data()
            while case let data = replies.availableData, !data.isEmpty {
                received.append(data)
                while let end = received.firstIndex(of: 0x0A) {
                    let line = received[received.startIndex..<end]
                    resume(Result { try JSONDecoder().decode(SoakReply.self, from: line) })
                    received = Data(received[(end + 1)...])
                }
            }
            resume(.failure(BenchmarkFailure("the viewers' process has ended")))
        }.start()
    }

    /// Sends a request to the viewers' process.
    @discardableResult
    func ask(_ command: SoakRequest) async throws -> SoakReply {
        let line = try command.line
        let timeout = Task {
            try await Task.sleep(for: Self.patience)
            resume(.failure(BenchmarkFailure("the viewers' process does not answer")))
        }
        defer { timeout.cancel() }
        let reply = try await withCheckedThrowingContinuation { continuation in
            waiting.withLock { $0 = continuation }
            do {
                try input.write(contentsOf: line)
            } catch {
                resume(.failure(error))
            }
        }
        if case .failed(let reason) = reply { throw BenchmarkFailure("the viewers' process: \(reason)") }
        return reply
    }

    /// Returns a viewer's answer.
    func answer(to command: SoakRequest) async throws -> String {
        guard case .answer(let description) = try await ask(command) else {
            throw BenchmarkFailure("the viewers answered out of turn")
        }
        return description
    }

    /// Returns the state of the viewers.
    func report() async throws -> SoakAudienceReport {
        guard case .report(let report) = try await ask(.report) else {
            throw BenchmarkFailure("the viewers answered out of turn")
        }
        return report
    }

    private func resume(_ result: Result<SoakReply, any Error>) {
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(with: result)
    }

    func end() {
        try? input.close()
        process.waitUntilExit()
    }
}

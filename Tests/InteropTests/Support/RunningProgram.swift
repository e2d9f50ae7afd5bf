import Foundation
import TestSupport

/// A program of the operating system that a test started, with its output in files.
///
/// Files and not pipes: a program that prints more than a pipe holds would wait for ever for a test that only reads
/// at the end, and a test can look at what was printed so far without taking it away.
final class RunningProgram {
    /// How a program ended, with everything it printed.
    struct Outcome {
        /// The exit status, or nil for a program that a signal ended.
        var status: Int32?
        /// The signal that ended it, or nil.
        var signal: Int32?
        var standardOutput: String
        var standardError: String
    }

    enum Failure: Error, CustomStringConvertible {
        case timedOut(waitingFor: String, standardError: String)
        case ended(before: String, Outcome)

        var description: String {
            switch self {
            case .timedOut(let awaited, let standardError):
                "waited in vain for \(awaited); standard error: \(standardError)"
            case .ended(let awaited, let outcome):
                "ended with \(outcome.status.map { "status \($0)" } ?? "signal \(outcome.signal ?? 0)")"
                    + " before \(awaited); standard error: \(outcome.standardError)"
            }
        }
    }

    private let process = Process()
    private let outputFile: URL
    private let errorFile: URL

    var processIdentifier: Int32 { process.processIdentifier }
    var isRunning: Bool { process.isRunning }
    var standardOutput: String { Self.text(of: outputFile) }
    var standardError: String { Self.text(of: errorFile) }

    /// Starts `executable`. `environment` is laid over this process's own; an empty value removes a variable.
    init(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder
    ) throws {
        let name = "\(executable.lastPathComponent)-\(UUID().uuidString.prefix(8))"
        outputFile = folder.url.appendingPathComponent("\(name).out")
        errorFile = folder.url.appendingPathComponent("\(name).err")
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }.filter { !$1.isEmpty }
        process.standardInput = FileHandle.nullDevice
        let (output, error) = (try Self.emptyFile(outputFile), try Self.emptyFile(errorFile))
        process.standardOutput = output
        process.standardError = error
        try Self.withoutBlockedSignals { try process.runAlone() }
        // The program has its own. Foundation reads beyond its memory where a process with some 1300 open files starts another.
        try output.close()
        try error.close()
    }

    /// Waits for the end; a program that outlives `timeout` is ended, first politely, and that is an error.
    func outcome(timeout: Duration) async throws -> Outcome {
        let deadline = ContinuousClock.now + timeout
        while process.isRunning {
            if ContinuousClock.now > deadline {
                // What it says when it is told to stop is not what it would have said.
                stop()
                throw Failure.timedOut(waitingFor: "the program's end", standardError: standardErrorOfAll)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        let exited = process.terminationReason == .exit
        return Outcome(
            status: exited ? process.terminationStatus : nil, signal: exited ? nil : process.terminationStatus,
            standardOutput: standardOutput, standardError: standardError)
    }

    /// Waits until `condition` holds, while the program runs.
    func wait(for awaited: String, timeout: Duration, until condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + timeout
        while !condition() {
            if !process.isRunning, !condition() {
                throw Failure.ended(before: awaited, try await outcome(timeout: .zero))
            }
            if ContinuousClock.now > deadline {
                throw Failure.timedOut(waitingFor: awaited, standardError: standardErrorOfAll)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Sends SIGINT, as Ctrl-C does.
    func interrupt() {
        process.interrupt()
    }

    /// Ends the program by its process id: SIGTERM, and SIGKILL where that did not help in five seconds.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        let deadline = ContinuousClock.now + .seconds(5)
        while process.isRunning, ContinuousClock.now < deadline {
            Thread.sleep(forTimeInterval: 0.01)
        }
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Starts a program, waits for it, and gives its outcome.
    static func run(
        _ executable: URL, _ arguments: [String], environment: [String: String] = [:], in folder: TemporaryFolder,
        timeout: Duration
    ) async throws -> Outcome {
        let program = try RunningProgram(executable, arguments, environment: environment, in: folder)
        return try await program.outcome(timeout: timeout)
    }

    /// Returns a shell line that runs its arguments with a limit on the size of files. It simulates a full disk without
    /// root.
    static func line(largestFile kibibytes: Int) -> String {
        // The thread sanitizer's runtime maps a larger file of its own, unless it finds no folder for it.
        "trap '' XFSZ; ulimit -f \(kibibytes); TEST_TMPDIR=/dev/null exec \"$0\" \"$@\""
    }

    /// The first program of that name in PATH.
    static func find(_ name: String) -> URL? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// A child inherits the signal mask of the thread that starts it, and the threads of Swift's pool block SIGINT and
    /// SIGTERM: without this no test could end a program as a user does.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// In one line, what all programs of the folder have told: the fault may be another's than the one that a test waits for.
    private var standardErrorOfAll: String {
        let folder = errorFile.deletingLastPathComponent()
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.pathExtension == "err" }.map {
            let name = $0 == errorFile ? "its own" : $0.deletingPathExtension().lastPathComponent
            return "\(name): \(Self.text(of: $0).split(separator: "\n").joined(separator: " | "))"
        }.joined(separator: "; ")
    }

    private static func text(of file: URL) -> String {
        String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
    }

    private static func emptyFile(_ file: URL) throws -> FileHandle {
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }
}

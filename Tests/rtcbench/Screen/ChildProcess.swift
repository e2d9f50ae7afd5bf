internal import Foundation
internal import RTCShareLocks

/// A child process of the benchmark: its pipes, its processor time, and its end.
final class ChildProcess: Sendable {
    let pid: pid_t
    /// The pipes to the program's input and from its output.
    private let input: Int32
    private let output: Int32
    private let hasInput = Locked(true)
    private let status = Locked<Int32?>(nil)
    /// The file of the program's standard error.
    let log: String

    /// All running programs, so that an interrupted benchmark leaves none behind; nil after all were ended.
    private static let running = Locked<Set<pid_t>?>([])

    /// Starts a program on these processors, which its threads inherit; on those of this process if nil.
    init(_ arguments: [String], environment: [String: String], log: String, processors: [Int]?) throws {
        self.log = log
        var toChild: [Int32] = [0, 0]
        var fromChild: [Int32] = [0, 0]
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else {
            throw BenchmarkFailure("no pipe: \(String(cString: strerror(errno)))")
        }
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        defer {
            close(toChild[0])
            close(fromChild[1])
        }
        (input, output) = (toChild[1], fromChild[0])
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        // A separate group: only the benchmark receives Ctrl-C, and ends its programs in order.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setpgroup(&attributes, 0)
        // A child would inherit ignored signals.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for signal in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&defaults, signal) }
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        var blocked = sigset_t()
        sigemptyset(&blocked)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let command = (processors.map { Processors.command(keepingTo: $0) } ?? []) + arguments
        let argv = command.map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        // Atomically with its entry: ending all programs misses none that has just started, and none starts after it.
        let (child, code) = Self.running.withLock { running -> (pid_t, Int32) in
            guard running != nil else { return (0, ECANCELED) }
            var child: pid_t = 0
            let code = posix_spawnp(&child, command[0], &actions, &attributes, argv, envp)
            if code == 0 { running?.insert(child) }
            return (child, code)
        }
        guard code == 0 else {
            close(input)
            close(output)
            throw BenchmarkFailure("can't start \(command[0]): \(String(cString: strerror(code)))")
        }
        pid = child
    }

    deinit {
        end(within: .zero)
        if hasInput.withLock({ $0 }) { close(input) }
        close(output)
    }

    // MARK: Pipes

    /// Returns the program's output until it closes that, or its first line.
    func read(lineOnly: Bool = false, within patience: Duration) async throws -> String {
        var text: [UInt8] = []
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 0) > 0 else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            var bytes = [UInt8](repeating: 0, count: lineOnly ? 1 : 65536)
            let count = Foundation.read(output, &bytes, bytes.count)
            if count <= 0 || lineOnly && bytes[0] == 0x0A { return String(decoding: text, as: UTF8.self) }
            text += bytes[..<count]
        }
        throw BenchmarkFailure("it did not write what was waited for within \(patience.components.seconds) s")
    }

    /// Writes the program's complete input.
    func write(_ text: String) {
        guard
            hasInput.withLock({
                let had = $0; $0 = false; return had
            })
        else { return }
        let bytes = Array(text.utf8)
        _ = Foundation.write(input, bytes, bytes.count)
        close(input)
    }

    /// The last lines of the program's standard error.
    var lastWords: String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(4).joined(separator: "\n")
    }

    // MARK: End

    var isRunning: Bool {
        status.withLock { status in
            guard status == nil else { return false }
            var code: Int32 = 0
            guard waitpid(pid, &code, WNOHANG) == pid else { return true }
            status = code
            _ = Self.running.withLock { $0?.remove(pid) }
            return false
        }
    }

    /// Terminates the program, and kills it if it does not end.
    func end(within patience: Duration = .seconds(3)) {
        guard isRunning else { return }
        kill(pid, SIGTERM)
        let end = ContinuousClock.now + patience
        while isRunning, ContinuousClock.now < end { usleep(10_000) }
        guard isRunning else { return }
        kill(pid, SIGKILL)
        while isRunning { usleep(1000) }
    }

    /// Ends all running programs, for an interrupted benchmark. A killed X server would leave its socket and its lock.
    static func endAll() {
        let pids = running.withLock { running in
            defer { running = nil }
            return running ?? []
        }
        for pid in pids { kill(pid, SIGTERM) }
        // A program with a browser ends that first.
        let end = ContinuousClock.now + .seconds(5)
        for pid in pids {
            while waitpid(pid, nil, WNOHANG) == 0 {
                if ContinuousClock.now > end { kill(pid, SIGKILL) }
                usleep(5000)
            }
        }
    }
}

import Foundation
import RTCShareLocks

/// A PulseAudio server of one test, with outputs that play to nothing. It ends with the object.
final class SoundServer: Sendable {
    /// The server's address in PULSE_SERVER.
    let address: String
    private let folder: URL
    private let sinks: [String]
    /// Nil once it has ended and was waited for.
    private let identifier = Locked<pid_t?>(nil)

    /// Whether the programs that the tests need are installed. If peers are required, a missing program fails instead
    /// of skipping.
    static let isAvailable =
        ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil
        || ["pulseaudio", "pacat", "pactl"].allSatisfy { VirtualDisplay.path(of: $0) != nil }

    /// libpulse stores a cookie in the user's home. The tests use another file, so that they do not change the user's
    /// settings.
    private static let keepsCookieApart =
        setenv("PULSE_COOKIE", FileManager.default.temporaryDirectory.path + "/sound-cookie-\(getpid())", 1) == 0

    /// Without it, such an output plays two seconds in advance, and a recording from it waits for as long.
    private static let sinkOption = "norewinds=1"

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a server with these sinks, and waits until it accepts clients.
    init(sinks: [String] = ["probe"]) throws {
        guard Self.keepsCookieApart else { throw Failure(description: "PULSE_COOKIE can't be set") }
        // The path of a socket has a hundred bytes at most.
        folder = URL(filePath: "/tmp/sound-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        address = "unix:\(folder.appending(path: "socket").path)"
        self.sinks = sinks
        try start()
    }

    /// Starts the server, also again after ``kill()``, and waits until it accepts clients.
    func start() throws {
        let socket = folder.appending(path: "socket").path
        let arguments =
            ["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
            + sinks.flatMap { ["-L", "module-null-sink sink_name=\($0) \(Self.sinkOption)"] }
            + ["-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1"]
        try identifier.withLock { $0 = try spawn("pulseaudio", arguments) }
        // pactl fails until the server answers. It is repeated until then.
        let deadline = Date(timeIntervalSinceNow: 20)
        while (try? control("info")) == nil {
            guard isRunning, Date() < deadline else { throw Failure(description: "pulseaudio did not start") }
        }
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Ends the server as a crash would.
    func kill() {
        identifier.withLock { identifier in
            guard let server = identifier.take() else { return }
            Glibc.kill(server, SIGKILL)
            waitpid(server, nil, 0)
        }
    }

    /// Suspends or resumes the server.
    func suspend(_ isSuspended: Bool) {
        identifier.withLock { identifier in
            guard let server = identifier else { return }
            Glibc.kill(server, isSuspended ? SIGSTOP : SIGCONT)
        }
    }

    private var isRunning: Bool {
        identifier.withLock { identifier in
            guard let server = identifier else { return false }
            if waitpid(server, nil, WNOHANG) != 0 { identifier = nil }
            return identifier != nil
        }
    }

    /// Starts a program with pipes or nothing at its ends.
    ///
    /// Foundation's `Process` takes a program for ended when it closes what it inherited, as PulseAudio does, and then waits
    /// for the real end before it notices any other program's. It also looks for the end of one that is waited for only
    /// every twentieth of a second.
    private func spawn(
        _ name: String, _ arguments: [String], input: Pipe? = nil, output: Pipe? = nil
    ) throws -> pid_t {
        let program = VirtualDisplay.path(of: name) ?? "/usr/bin/\(name)"
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        sigemptyset(&noSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for end in [input, output].compactMap({ $0 }).flatMap({ [$0.fileHandleForReading, $0.fileHandleForWriting] }) {
            // A program that another test starts now must not keep it open.
            _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC)
        }
        let ends = [input?.fileHandleForReading, output?.fileHandleForWriting, nil]
        for (descriptor, end) in zip(Int32(0)..., ends) {
            if let end {
                posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
        }
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var identifier = pid_t()
        guard posix_spawn(&identifier, program, &actions, &attributes, &argv, &envp) == 0 else {
            throw Failure(description: "\(program) did not start")
        }
        return identifier
    }

    /// Runs pactl.
    @discardableResult
    func control(_ arguments: String...) throws -> String {
        let output = Pipe()
        let program = try spawn("pactl", arguments, output: output)
        try output.fileHandleForWriting.close()
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        var status: Int32 = 0
        waitpid(program, &status, 0)
        guard status == 0 else { throw Failure(description: "pactl \(arguments) ended with \(status)") }
        return String(decoding: answer, as: UTF8.self)
    }

    /// Connects an output that plays to nothing. Returns the module to unload, which unplugs it.
    func plugIn(sink name: String) throws -> String {
        try control("load-module", "module-null-sink", "sink_name=\(name)", Self.sinkOption)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Connects a microphone that hears what is played into the sink `NAME-voice`; the first one is the default source.
    /// Returns the module to unload, which unplugs it.
    func plugIn(microphone name: String) throws -> String {
        let voice = "\(name)-voice"
        if try !control("list", "short", "sinks").contains(voice) {
            _ = try plugIn(sink: voice)
        }
        return try control("load-module", "module-remap-source", "source_name=\(name)", "master=\(voice).monitor")
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Ends the recordings of the source at this index, as an administrator can: pactl has no command for it.
    func endRecording(_ index: String) throws {
        let socket = folder.appending(path: "commands").path
        try control("load-module", "module-cli-protocol-unix", "socket=\(socket)")
        let client = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        let command = Array("kill-source-output \(index)\n".utf8)
        guard isConnected, send(client, command, command.count, Int32(MSG_NOSIGNAL)) == command.count else {
            throw Failure(description: "pulseaudio takes no command at \(socket)")
        }
    }

    /// Returns the number of recordings from the server.
    func recordings() throws -> Int {
        try control("list", "short", "source-outputs").split(separator: "\n").count
    }

    /// Plays a tone into a sink until the player is ended.
    func play(frequency: Double, into sink: String) throws -> Player {
        let pipe = Pipe()
        let program = try spawn(
            "pacat",
            [
                "--playback", "--raw", "--device=\(sink)", "--format=float32le", "--rate=48000", "--channels=2",
                "--latency-msec=40",
            ], input: pipe)
        return Player(program: program, writer: pipe.fileHandleForWriting, frequency: frequency)
    }

    private var environment: [String: String] {
        ProcessInfo.processInfo.environment.merging([
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "PULSE_RUNTIME_PATH": folder.path,
            "PULSE_SERVER": address,
        ]) { $1 }
    }

    /// Feeds pacat with a tone, as fast as it takes it.
    final class Player: Sendable {
        /// Nil once it has ended and was waited for.
        private let program: Locked<pid_t?>

        init(program: pid_t, writer: FileHandle, frequency: Double) {
            self.program = Locked(program)
            // A pipe whose reader has ended must cause an error, not a signal.
            signal(SIGPIPE, SIG_IGN)
            let second = (0..<48000).flatMap { number in
                let value = Float(0.5 * sin(2 * .pi * frequency * Double(number) / 48000))
                return [value, value]
            }
            Thread {
                let data = second.withUnsafeBytes { Data($0) }
                while (try? writer.write(contentsOf: data)) != nil {}
            }.start()
        }

        deinit {
            stop()
        }

        func stop() {
            program.withLock { program in
                guard let player = program.take() else { return }
                Glibc.kill(player, SIGKILL)
                waitpid(player, nil, 0)
            }
        }
    }
}

import Foundation

/// A PulseAudio server of a test's own, with sinks that nobody hears, that ends with it.
final class SoundServer: Sendable {
    /// What stands in PULSE_SERVER for it.
    let address: String
    private let folder: URL
    private let shell: Process
    private let identifier: pid_t

    /// Whether what the tests need is installed; where everything is meant to be, what is missing fails, not skips.
    static let isAvailable =
        ProcessInfo.processInfo.environment["RTCSHARE_REQUIRE_PEERS"] != nil
        || ["pulseaudio", "pacat", "pactl"].allSatisfy { VirtualDisplay.path(of: $0) != nil }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Starts a server with these sinks, and waits until it takes clients.
    init(sinks: [String] = ["probe"]) throws {
        // The path of a socket has a hundred bytes at most.
        folder = URL(filePath: "/tmp/sound-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let socket = folder.appending(path: "socket").path
        address = "unix:\(socket)"
        // Foundation takes it for the end of a program that it closes what it inherited, as PulseAudio does, and would
        // wait for that before it notices the end of any other: so a shell is what is started.
        shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments =
            ["-c", "\"$@\" >/dev/null 2>&1 & echo $!; wait", "sh"]
            + ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
            + sinks.flatMap { ["-L", "module-null-sink sink_name=\($0)"] }
            + ["-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1"]
        shell.environment = Self.environment(folder: folder, address: address)
        let output = Pipe()
        shell.standardOutput = output
        try shell.run()
        var number = ""
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 0x0A {
            number.append(Character(UnicodeScalar(byte)))
        }
        guard let identifier = pid_t(number) else { throw Failure(description: "no shell") }
        self.identifier = identifier
        // pactl answers as soon as the server does, and fails before: it is asked until then, not slept for.
        let deadline = Date(timeIntervalSinceNow: 20)
        while (try? control("info")) == nil {
            guard shell.isRunning, Date() < deadline else { throw Failure(description: "pulseaudio did not start") }
        }
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Ends the server as a crash would.
    func kill() {
        guard shell.isRunning else { return }
        Glibc.kill(identifier, SIGKILL)
        // The shell ends with what it waits for.
        shell.waitUntilExit()
    }

    /// Stops the server where it is, or lets it go on.
    func suspend(_ isSuspended: Bool) {
        Glibc.kill(identifier, isSuspended ? SIGSTOP : SIGCONT)
    }

    /// Runs pactl.
    func control(_ arguments: String...) throws {
        let process = try start("pactl", arguments)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "pactl \(arguments) ended with \(process.terminationStatus)")
        }
    }

    /// Plays a tone into a sink until the player is ended.
    func play(frequency: Double, into sink: String) throws -> Player {
        let pipe = Pipe()
        let process = try start(
            "pacat",
            [
                "--playback", "--raw", "--device=\(sink)", "--format=float32le", "--rate=48000", "--channels=2",
                "--latency-msec=40",
            ], input: pipe)
        return Player(process: process, pipe: pipe, frequency: frequency)
    }

    private func start(_ program: String, _ arguments: [String], input: Any? = nil) throws -> Process {
        guard let path = VirtualDisplay.path(of: program) else { throw Failure(description: "no \(program)") }
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = Self.environment(folder: folder, address: address)
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private static func environment(folder: URL, address: String) -> [String: String] {
        ProcessInfo.processInfo.environment.merging([
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "PULSE_RUNTIME_PATH": folder.path,
            "PULSE_SERVER": address,
        ]) { $1 }
    }

    /// Feeds pacat with a tone, as fast as it takes it.
    final class Player: Sendable {
        private let process: Process

        init(process: Process, pipe: Pipe, frequency: Double) {
            self.process = process
            // A pipe whose reader has ended must give an error, not a signal.
            signal(SIGPIPE, SIG_IGN)
            let second = (0..<48000).flatMap { number in
                let value = Float(0.5 * sin(2 * .pi * frequency * Double(number) / 48000))
                return [value, value]
            }
            let writer = pipe.fileHandleForWriting
            Thread {
                let data = second.withUnsafeBytes { Data($0) }
                while (try? writer.write(contentsOf: data)) != nil {}
            }.start()
        }

        deinit {
            stop()
        }

        func stop() {
            guard process.isRunning else { return }
            Glibc.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }
}

import Foundation
import Testing
import TestSupport

/// A PulseAudio daemon of one test, with sinks that nobody hears, which knows nothing of the user's own.
///
/// Its home, its runtime folder and its socket are in the test's folder, so it neither reads nor leaves a setting; a
/// program reaches it by ``environment`` alone.
final class PulseDaemon {
    /// What makes it run here, or nil.
    static let missing: String? =
        ["pulseaudio", "pactl", "pacat", "parec"].first { RunningProgram.find($0) == nil }

    /// The sinks' sample rate in hertz, and how many channels they have.
    static let sampleRate = 48_000
    static let channels = 2

    private let folder: TemporaryFolder
    private let daemon: RunningProgram
    /// What programs need to play to and record from this daemon.
    let environment: [String: String]

    /// Starts the daemon with a null sink for each name, the first one being the default, and waits until it answers.
    init(sinks: [String] = ["content"], in folder: TemporaryFolder) async throws {
        self.folder = folder
        let home = folder.file("pulse-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(
            at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let socket = home.appendingPathComponent("socket").path
        let server = "unix:\(socket)"
        let environment = [
            "HOME": home.path, "XDG_RUNTIME_DIR": home.path, "PULSE_RUNTIME_PATH": home.path, "PULSE_SERVER": server,
            "XDG_CONFIG_HOME": "", "PULSE_CONFIG_PATH": "", "PULSE_STATE_PATH": "", "PULSE_COOKIE": "",
            "PULSE_SINK": "", "PULSE_SOURCE": "", "DISPLAY": "",
        ]
        let loads =
            sinks.map {
                "--load=module-null-sink sink_name=\($0) rate=\(Self.sampleRate) channels=\(Self.channels)"
            } + ["--load=module-native-protocol-unix socket=\(socket) auth-anonymous=1"]
        // PULSE_SERVER is for its clients: a daemon that finds it set takes itself for superfluous and ends.
        let daemon = try RunningProgram(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", Self.keeper, "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1"] + loads,
            environment: environment.merging(["PULSE_SERVER": ""]) { $1 }, in: folder)
        self.environment = environment
        self.daemon = daemon
        try await daemon.wait(for: "PulseAudio's socket", timeout: .seconds(30)) {
            FileManager.default.fileExists(atPath: socket)
        }
        // The socket is there before the daemon reads from it; `pactl` waits for its turn.
        let info = try await run("pactl", ["info"])
        try #require(info.status == 0, "pactl info: \(info.standardError); \(daemon.standardError)")
        if let first = sinks.first {
            let chosen = try await run("pactl", ["set-default-sink", first])
            try #require(chosen.status == 0, "pactl set-default-sink: \(chosen.standardError)")
        }
    }

    deinit {
        daemon.stop()
    }

    /// Starts playing a tone into a sink, of `amplitude` (full scale being 1) in both channels, for `seconds`.
    func play(hertz: Double, amplitude: Double = 0.25, seconds: Int, into sink: String) throws -> RunningProgram {
        let count = Self.sampleRate * seconds
        let samples = (0..<count).flatMap { index in
            let phase = 2 * Double.pi * hertz * Double(index) / Double(Self.sampleRate)
            let sample = UInt16(bitPattern: Int16(32767 * amplitude * sin(phase)))
            return [UInt8](repeating: 0, count: Self.channels).flatMap { _ in
                [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
            }
        }
        let file = folder.file("tone-\(UUID().uuidString.prefix(8)).raw")
        try Data(samples).write(to: file)
        return try start("pacat", ["--playback", "--device=\(sink)"] + Self.format + [file.path])
    }

    /// Records what a sink plays, from now on: the left channel's samples, full scale being 1, of at least `seconds`.
    func record(seconds: Double, monitorOf sink: String) async throws -> [Float] {
        let file = folder.file("recording-\(UUID().uuidString.prefix(8)).raw")
        let frame = 2 * Self.channels
        let wanted = Int(seconds * Double(Self.sampleRate)) * frame
        let recorder = try start(
            "parec", ["--device=\(sink).monitor", "--latency-msec=50"] + Self.format + [file.path])
        defer { recorder.stop() }
        let size = { (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0 }
        try await recorder.wait(for: "\(seconds) s of sound", timeout: .seconds(30 + seconds)) { size() >= wanted }
        let bytes = try [UInt8](Data(contentsOf: file))
        return stride(from: 0, to: bytes.count - frame + 1, by: frame).map { index in
            Float(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)) / 32768
        }
    }

    /// The amplitude of one pitch in samples at ``sampleRate``, full scale being 1.
    static func amplitude(ofHertz hertz: Double, in samples: [Float]) -> Double {
        var cosine = 0.0
        var sine = 0.0
        for (index, sample) in samples.enumerated() {
            let phase = 2 * Double.pi * hertz * Double(index) / Double(sampleRate)
            cosine += Double(sample) * cos(phase)
            sine += Double(sample) * sin(phase)
        }
        return 2 * (cosine * cosine + sine * sine).squareRoot() / Double(max(1, samples.count))
    }

    /// A shell that waits for the daemon and passes on the signal that ends it.
    ///
    /// The daemon closes every descriptor that it inherits. By one of them Foundation's `Process` notices the end of its
    /// child, so it would take the daemon for ended, wait for it on the one thread that it has for all programs, and
    /// notice no other program's end any more. The shell leaves the descriptor open.
    private static let keeper =
        "pulseaudio \"$@\" & daemon=$!; trap 'kill $daemon' TERM INT; wait $daemon; wait $daemon"

    private static let format = ["--raw", "--format=s16le", "--rate=\(sampleRate)", "--channels=\(channels)"]

    private func start(_ program: String, _ arguments: [String]) throws -> RunningProgram {
        let executable = try #require(RunningProgram.find(program), "\(program) is in no folder of PATH")
        return try RunningProgram(executable, arguments, environment: environment, in: folder)
    }

    /// Runs one of its clients, and waits for its end.
    func run(_ program: String, _ arguments: [String]) async throws -> RunningProgram.Outcome {
        try await start(program, arguments).outcome(timeout: .seconds(30))
    }
}

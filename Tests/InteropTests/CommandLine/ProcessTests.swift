import Foundation
import RTCShare
import Testing
import TestSupport

@testable import rtcshare

/// What others see of the process.
@Suite(.timeLimit(.minutes(1)))
struct ProcessTests {
    /// An argument's bytes, with its secret hidden.
    private func hidden(_ argument: [UInt8], of urls: [String]) -> [UInt8] {
        var bytes = argument
        let secret = ProcessArguments.credentials(in: argument, of: urls) ?? 0..<0
        for offset in secret { bytes[offset] = UInt8(ascii: "*") }
        return bytes
    }

    @Test(
        "User and password in a URL are hidden, and nothing else is",
        arguments: [
            ("turn:alice:secret@turn.example.org", "turn:************@turn.example.org"),
            ("--ice-server=turn:alice:secret@turn.example.org", "--ice-server=turn:************@turn.example.org"),
            ("turn:al@ice:sec@ret@turn.example.org", "turn:**************@turn.example.org"),
            ("stun:stun.example.org", "stun:stun.example.org"), ("@:", "@:"),
        ])
    func hiddenCredentials(argument: String, hidden: String) {
        let url = argument.hasPrefix("--ice-server=") ? String(argument.dropFirst(13)) : argument
        #expect(self.hidden(Array(argument.utf8), of: ["stun:other", url]) == Array(hidden.utf8))
        #expect(self.hidden(Array(argument.utf8), of: ["stun:other"]) == Array(argument.utf8))
    }

    @Test(
        "What is no text before a password does not move what is hidden",
        arguments: [[0xFF], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x92], [0xFF, 0xFE, 0xFD], [0xC3, 0xA9]] as [[UInt8]])
    func userInAnyBytes(bytes: [UInt8]) {
        for option in ["", "--ice-server="] {
            let start = Array("\(option)turn:".utf8) + bytes
            let argument = start + Array(":secret@turn.example.org".utf8)
            let url = String(decoding: argument.dropFirst(option.utf8.count), as: UTF8.self)
            let stars = [UInt8](repeating: UInt8(ascii: "*"), count: bytes.count + ":secret".utf8.count)
            #expect(
                hidden(argument, of: [url])
                    == Array("\(option)turn:".utf8) + stars + Array("@turn.example.org".utf8))
        }
    }

    /// Has a program be one of this user and nothing more: root's capabilities open everything.
    private static let asUserAlone = geteuid() == 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : []

    private func start(_ command: [String], in folder: TemporaryFolder) throws -> RunningProgram {
        let command = Self.asUserAlone + command
        return try RunningProgram(
            try #require(RunningProgram.find(command[0])), Array(command.dropFirst()), in: folder)
    }

    /// Whether another program of the same user may look into a process (proc(5)).
    private func isOpen(_ process: RunningProgram, in folder: TemporaryFolder) async throws -> Bool {
        let looking = try start(["head", "-c", "1", "/proc/\(process.processIdentifier)/environ"], in: folder)
        return try await looking.outcome(timeout: .seconds(20)).status == 0
    }

    @Test(
        "A command that holds keys leaves no core dump, and lets nobody look into its memory",
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"))
    func memoryIsPrivate() async throws {
        let folder = try TemporaryFolder()
        // Where a shell may, it asks for dumps first.
        let shell = ["sh", "-c", "ulimit -c unlimited 2>/dev/null; exec \"$0\" \"$@\""]
        let demo = [try #require(Peers.rtcshare).path, "demo", "--duration", "30", "--size", "320x180"]
        let program = try start(shell + demo, in: folder)
        defer { program.stop() }
        try await program.wait(for: "a limit of 0 for core dumps", timeout: .seconds(20)) {
            let limits = "/proc/\(program.processIdentifier)/limits"
            let lines = (try? String(contentsOfFile: limits, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.contains { line in
                line.hasPrefix("Max core file size") && line.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"]
            }
        }
        // Where dumps are limited anyway, it may not have come to that yet.
        var attempts = 0
        while try await isOpen(program, in: folder), attempts < 100 { attempts += 1 }
        #expect(attempts < 100)
        let other = try start(shell + ["sleep", "60"], in: folder)
        defer { other.stop() }
        try await other.wait(for: "its start", timeout: .seconds(20)) {
            (try? String(contentsOfFile: "/proc/\(other.processIdentifier)/comm", encoding: .utf8)) == "sleep\n"
        }
        #expect(try await isOpen(other, in: folder), "what has nothing against it can be looked into")
    }

    @Test(
        "--version names this version and those of the libraries that it runs on",
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"))
    func versions() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await RunningProgram.run(
            try #require(Peers.rtcshare), ["--version"], in: folder, timeout: .seconds(20))
        #expect(outcome.status == 0 && outcome.standardError.isEmpty)
        let lines = outcome.standardOutput.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(
            lines.map { $0.first ?? "" } == [
                "rtcshare", "libvpx", "libpng", "libaom", "dav1d", "OpenH264", "libopus", "libsndfile",
                "libsamplerate", "OpenSSL", "libsrtp2", "libpulse", "libpipewire",
            ])
        #expect(lines.first?.last.map(String.init) == RTCShareVersion.current)
        for line in lines {
            // A number with a dot, as a version is.
            #expect(line.count == 2 && line[1].contains(/^v?[0-9]+\.[0-9]/), "\(line)")
        }
    }

    @Test(
        "An unknown level of RTCSHARE_LOG is reported with the levels, but not to a shell that completes",
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"))
    func unknownLogLevel() async throws {
        let folder = try TemporaryFolder()
        let words = "rtcshare: RTCSHARE_LOG=foo: 'foo' is neither a log level nor a topic.\nTry: one of"
        for (arguments, level, isReported) in [
            (["--version"], "foo", true), (["--version"], "DEBUG", false), (["--version"], "", false),
            (["---completion", "status", "--", "--name", "1", "0", ""], "foo", false),
        ] {
            let outcome = try await RunningProgram.run(
                try #require(Peers.rtcshare), arguments, environment: ["RTCSHARE_LOG": level], in: folder,
                timeout: .seconds(20))
            #expect(outcome.standardError.hasPrefix(words) == isReported, "\(outcome.standardError)")
        }
    }
}

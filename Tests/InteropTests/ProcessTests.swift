import CProcess
import Foundation
import Testing

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
    func userPasswordURL(argument: String, hidden: String) {
        let url = argument.hasPrefix("--ice-server=") ? String(argument.dropFirst(13)) : argument
        #expect(self.hidden(Array(argument.utf8), of: ["stun:other", url]) == Array(hidden.utf8))
        #expect(self.hidden(Array(argument.utf8), of: ["stun:other"]) == Array(argument.utf8))
    }

    @Test(
        "What is no text before a password does not move what is hidden",
        arguments: [[0xFF], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x92], [0xFF, 0xFE, 0xFD], [0xC3, 0xA9]] as [[UInt8]])
    func textPasswordMove(bytes: [UInt8]) {
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

    @Test("The program's memory is for nobody else to see: no core dump, no debugger of the same user")
    func programMemorySee() {
        ProcessMemory.keepFromOthers()
        #expect(process_is_dumpable() == 0)
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
    }

    @Test("A command that holds keys leaves no core dump", .enabled(if: Peers.hasCommandLine, "rtcshare is not built"))
    func commandHoldsKeys() async throws {
        let folder = try TemporaryFolder()
        // Where a shell may, it asks for dumps first.
        let shell = try #require(RunningProgram.find("sh"))
        let program = try RunningProgram(
            shell,
            [
                "-c", "ulimit -c unlimited 2>/dev/null; exec \"$0\" \"$@\"", try #require(Peers.rtcshare).path, "demo",
                "--duration", "30", "--size", "320x180",
            ], in: folder)
        defer { program.stop() }
        let process = "/proc/\(program.processIdentifier)"
        try await program.wait(for: "a limit of 0 for core dumps", timeout: .seconds(20)) {
            let limits = (try? String(contentsOfFile: process + "/limits", encoding: .utf8)) ?? ""
            return limits.split(separator: "\n").contains { line in
                line.hasPrefix("Max core file size") && line.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"]
            }
        }
        // Of what nobody may look into, /proc shows root as the owner (proc(5)).
        var status = stat()
        #expect(stat(process + "/environ", &status) == 0 && status.st_uid == 0)
    }

    @Test(
        "--version names this version and those of the libraries that it runs on",
        .enabled(if: Peers.hasCommandLine, "rtcshare is not built"))
    func versionNamesVersion() async throws {
        let folder = try TemporaryFolder()
        let outcome = try await RunningProgram.run(
            try #require(Peers.rtcshare), ["--version"], in: folder, timeout: .seconds(20))
        #expect(outcome.status == 0 && outcome.standardError.isEmpty)
        let lines = outcome.standardOutput.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(
            lines.map { $0.first ?? "" } == [
                "rtcshare", "libvpx", "libpng", "libopus", "libsndfile", "libsamplerate", "OpenSSL", "libsrtp2",
                "libpulse",
            ])
        #expect(lines.first?.last.map(String.init) == Version.number)
        for line in lines {
            // A number with a dot, as a version is.
            #expect(line.count == 2 && line[1].contains(/^v?[0-9]+\.[0-9]/), "\(line)")
        }
    }
}

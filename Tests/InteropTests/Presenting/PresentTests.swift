import Foundation
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// `rtcshare present` as programs of others use it, without a browser.
    @Suite(
        .serialized, .enabled(if: Peers.hasCommandLine, "rtcshare is not built"),
        .enabled(if: Peers.mustRun || RunningProgram.find("curl") != nil, "curl is not installed"))
    struct PresentTests {
        /// The program, without a display and a share.
        private struct Stage {
            let folder: TemporaryFolder
            let share: Share
            let program: RunningProgram

            init(configuration: String = "") async throws {
                folder = try TemporaryFolder()
                _ = try folder.write(
                    "[serve]\nlisten = \"127.0.0.1:0\"\n\(configuration)", to: "config/rtcshare/config.toml")
                for name in ["run", "home"] {
                    try FileManager.default.createDirectory(
                        at: folder.file(name), withIntermediateDirectories: true,
                        attributes: [.posixPermissions: 0o700])
                }
                let environment = [
                    "XDG_RUNTIME_DIR": folder.file("run").path, "HOME": folder.file("home").path,
                    "XDG_STATE_HOME": folder.file("state").path, "XDG_CONFIG_HOME": folder.file("config").path,
                    "DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": "",
                ]
                share = try Share(environment: environment, in: folder)
                program = try share.start(["present"])
                let socket = folder.file("run/rtcshare/share.sock").path
                try await program.wait(for: "the control socket", timeout: .seconds(30)) {
                    FileManager.default.fileExists(atPath: socket)
                }
            }

            /// Sends the choices of a share. The program prints the status of the response after its body.
            func start(_ choices: String) throws -> RunningProgram {
                try RunningProgram(
                    try #require(RunningProgram.find("curl")),
                    [
                        "--silent", "--unix-socket", folder.file("run/rtcshare/share.sock").path, "--json", choices,
                        "--write-out", " %{http_code}", "http://localhost/v1/share",
                    ], environment: [:], in: folder)
            }

            /// Returns the response to a request at the control socket.
            func curl(_ arguments: [String]) async throws -> String {
                try await RunningProgram.run(
                    try #require(RunningProgram.find("curl")),
                    ["--silent", "--unix-socket", folder.file("run/rtcshare/share.sock").path] + arguments, in: folder,
                    timeout: .seconds(30)
                ).standardOutput
            }

            /// Starts a share of a pipe, and returns once the program reads from it. Until the descriptor writes a header,
            /// the source is not open.
            func startWithPipe(_ name: String) async throws -> (RunningProgram, writer: CInt) {
                let pipe = folder.file(name).path
                try #require(mkfifo(pipe, 0o600) == 0)
                let starting = try start("{\"source\":\"file:\(pipe)\"}")
                var writer: CInt = -1
                try await program.wait(for: "a reader of the pipe", timeout: .seconds(30)) {
                    writer = open(pipe, O_WRONLY | O_NONBLOCK)
                    return writer >= 0
                }
                return (starting, writer)
            }

            func response(to choices: String) async throws -> String {
                try await start(choices).outcome(timeout: .seconds(30)).standardOutput
            }
        }

        @Test("While a source is being opened, requests are answered, and a stop ends the start alone")
        func slowSource() async throws {
            let stage = try await Stage()
            defer { stage.program.stop() }
            let (starting, writer) = try await stage.startWithPipe("first.y4m")
            defer { close(writer) }
            let second = try await stage.response(to: "{\"source\":\"nothing:1\"}")
            #expect(second.contains("something is shared already"))
            #expect(second.hasSuffix("409"))
            #expect(try await stage.share.run(["stop"]).status == 0)
            let first = try await starting.outcome(timeout: .seconds(20)).standardOutput
            #expect(first.contains("the share was stopped before viewers could join") && first.hasSuffix("409"))

            #expect(try await stage.response(to: "{\"source\":\"test\"}").hasSuffix("201"))
            #expect(try await stage.share.run(["stop"]).status == 0)
            #expect(try await stage.share.run(["status"]).status == 66)
            // A signal ends a start as well.
            let (last, another) = try await stage.startWithPipe("second.y4m")
            defer { close(another) }
            stage.program.interrupt()
            #expect(try await stage.program.outcome(timeout: .seconds(20)).status == 0)
            _ = try await last.outcome(timeout: .seconds(20))
        }

        @Test("A page that stops nothing does not end the program, and rtcshare stop does")
        func idleStop() async throws {
            let stage = try await Stage()
            defer { stage.program.stop() }
            let answer = try await stage.curl(["--request", "POST", "http://localhost/v1/page"])
            let url = try #require(answer.firstRange(of: "http://127.0.0.1:").map { String(answer[$0.lowerBound...]) })
            let parts = url.split(separator: "#")
            let (origin, secret) = (String(parts[0].dropLast()), String(parts[1].prefix { $0 != "\"" }))
            let stopping = try await RunningProgram.run(
                try #require(RunningProgram.find("curl")),
                [
                    "--silent", "--request", "DELETE", "--header", "Origin: \(origin)", "--header",
                    "Authorization: Bearer \(secret)", "\(origin)/v1/share",
                ], in: stage.folder, timeout: .seconds(30))
            #expect(stopping.standardOutput.contains("nothing is shared"), "\(stopping.standardOutput)")
            #expect(try await stage.share.run(["status"]).status == 66)
            #expect(try await stage.share.run(["stop"]).status == 0)
            #expect(try await stage.program.outcome(timeout: .seconds(20)).status == 0)
        }

        @Test("A start that fails leaves nothing open")
        func failedStart() async throws {
            let stage = try await Stage(configuration: "record = \"/nowhere/film.webm\"\n")
            defer { stage.program.stop() }
            let descriptors = "/proc/\(stage.program.processIdentifier)/fd"
            var counts: [Int] = []
            for _ in 0..<3 {
                let response = try await stage.response(to: "{\"source\":\"test\"}")
                #expect(response.contains("/nowhere/film.webm"), "\(response)")
                counts.append(try FileManager.default.contentsOfDirectory(atPath: descriptors).count)
            }
            #expect(counts[1] == counts[2], "\(counts)")
        }

        @Test("A recording that can't begin is reported by the share, which runs")
        func failedRecording() async throws {
            let stage = try await Stage()
            defer { stage.program.stop() }
            let home = stage.folder.file("home").path
            try FileManager.default.removeItem(atPath: home)
            #expect(try await stage.response(to: "{\"source\":\"test\",\"isRecording\":true}").hasSuffix("201"))
            let outcome = try await stage.share.run(["status", "--json"])
            #expect(outcome.standardOutput.contains("Warning: "), "\(outcome.standardOutput)")
        }
    }
}

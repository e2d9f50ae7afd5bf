import Foundation
import Testing
import TestSupport

@testable import rtcshare

extension Interop {
    /// What a shell offers when Tab is pressed.
    @Suite(.serialized)
    struct CompletionTests {
        /// Has bash complete `line`, whose words are given as readline divides them: a colon is one by itself.
        private func complete(
            _ line: String, _ words: [String], environment: [String: String] = [:], in folder: TemporaryFolder
        ) async throws -> [String] {
            let share = try Share(environment: environment, in: folder)
            let printed = try await share.run(["completions", "bash"])
            try #require(printed.status == 0, "\(printed.standardError)")
            let script = try folder.write(printed.standardOutput, to: "completions.bash")
            let ask = #"""
                source "$1"; rtcshare=$2; COMP_LINE=$3; shift 3
                [[ $(complete -p rtcshare) = *-F\ _rtcshare_words\ rtcshare ]] || exit 1
                rtcshare() { "$rtcshare" "$@"; }
                COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
                last=${COMP_WORDS[COMP_CWORD]}; [[ $last = : ]] && last=
                _rtcshare_words rtcshare "$last" "${COMP_WORDS[COMP_CWORD - 1]}"
                printf '%s\n' "${COMPREPLY[@]}"
                """#
            let outcome = try await RunningProgram.run(
                try #require(RunningProgram.find("bash")),
                ["--norc", "-c", ask, "bash", script.path, share.rtcshare.path, line] + words,
                environment: environment, in: folder, timeout: .seconds(60))
            #expect(outcome.status == 0, "\(outcome.standardError)")
            return outcome.standardOutput.split(separator: "\n").map(String.init)
        }

        @Test(
            "bash completes commands, options, enumerations and SPECs",
            arguments: [
                ("rtcshare se", ["rtcshare", "se"], ["serve", "send", "set"]),
                ("rtcshare rep", ["rtcshare", "rep"], ["report"]),
                ("rtcshare send --max-f", ["rtcshare", "send", "--max-f"], ["--max-framerate"]),
                ("rtcshare send --no-p", ["rtcshare", "send", "--no-p"], ["--no-partial-updates"]),
                ("rtcshare demo --no-p", ["rtcshare", "demo", "--no-p"], ["--no-partial-updates"]),
                ("rtcshare set --hint ", ["rtcshare", "set", "--hint", ""], ["auto", "text", "detail", "motion"]),
                ("rtcshare completions z", ["rtcshare", "completions", "z"], ["zsh"]),
                (
                    "rtcshare send --source win", ["rtcshare", "send", "--source", "win"],
                    ["window:", "window:title="]
                ),
                ("rtcshare switch window:t", ["rtcshare", "switch", "window", ":", "t"], ["title="]),
                ("rtcshare send --source window:", ["rtcshare", "send", "--source", "window", ":"], ["title="]),
                ("rtcshare send --audio be", ["rtcshare", "send", "--audio", "be"], ["beep"]),
                (
                    "rtcshare unit --restart always capture --transport s",
                    ["rtcshare", "unit", "--restart", "always", "capture", "--transport", "s"], ["shared-memory"]
                ),
                ("rtcshare unit s", ["rtcshare", "unit", "s"], ["send", "serve"]),
                ("rtcshare unit serve --max-v", ["rtcshare", "unit", "serve", "--max-v"], ["--max-viewers"]),
            ])
        func bashCompletesCommands(
            line: String, words: [String], offered: [String]
        ) async throws {
            let folder = try TemporaryFolder()
            let found = try await complete(line, words, environment: ["DISPLAY": ""], in: folder)
            // The bare kind is already there, and adds nothing.
            #expect(found.filter { !$0.isEmpty } == offered)
        }

        @Test("bash completes the files of an option and of a SPEC, and runs nothing that a file is called")
        func bashCompletesFiles()
            async throws
        {
            let folder = try TemporaryFolder()
            for name in ["film.y4m", "film.txt", "film$(touch ran).y4m"] { _ = try folder.write("", to: name) }
            let ofOption = try await complete(
                "rtcshare inspect film.t", ["rtcshare", "inspect", "film.t"], in: folder)
            #expect(ofOption == ["film.txt"])
            let ofSource = try await complete(
                "rtcshare send --source file:fi", ["rtcshare", "send", "--source", "file", ":", "fi"], in: folder)
            #expect(ofSource == ["film.y4m"])
            #expect(!FileManager.default.fileExists(atPath: folder.file("ran").path))
        }

        @Test("The shares that run are offered by name")
        func runningShares() async throws {
            let folder = try TemporaryFolder()
            let environment = ["XDG_RUNTIME_DIR": folder.url.path, "DISPLAY": ""]
            let share = try Share(environment: environment, in: folder)
            try await share.offer(["--source", "test:320x240@30"])
            let viewer = try await share.view()
            defer { viewer.stop() }
            let sending = try share.send(["--name", "talk", "--duration", "60"])
            defer { sending.stop() }
            try await sending.wait(for: "the share", timeout: .seconds(30)) {
                sending.standardError.contains("is connected.")
            }
            let names = try await complete(
                "rtcshare status --name ", ["rtcshare", "status", "--name", ""], environment: environment, in: folder)
            #expect(names == ["talk"])
        }

        @Test("What a shell would expand is not offered")
        func expandableNames() {
            let words = ["display:HDMI-1", "file:/a b", "system:$(reboot)", "system:`reboot`", "window:0x1f", "für"]
            #expect(ShellCompletion.plain(words) == ["display:HDMI-1", "window:0x1f", "für"])
        }

        @Test("There is a script for each shell, and the shell can read it", arguments: ["bash", "zsh", "fish"])
        func eachShell(shell: String) async throws {
            let folder = try TemporaryFolder()
            let share = try Share(in: folder)
            let printed = try await share.run(["completions", shell])
            #expect(printed.status == 0)
            #expect(printed.standardOutput.contains("rtcshare"))
            guard let program = RunningProgram.find(shell) else {
                return #expect(!Peers.mustRun, "\(shell) is not installed")
            }
            let script = try folder.write(printed.standardOutput, to: "script")
            let read = try await RunningProgram.run(
                program, ["-n", script.path], in: folder, timeout: .seconds(30))
            #expect(read.status == 0, "\(read.standardError)")
        }
    }
}

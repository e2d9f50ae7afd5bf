import ArgumentParser
import Testing

@testable import rtcshare

/// The text of an error about a mistyped command.
struct CommandPathTests {
    private func failure(_ words: String...) throws -> [String] {
        let failure = try #require(throws: CommandFailure.self) { try RTCShareCommand.parsed(words) }
        #expect(failure.status == .usage)
        return failure.lines(after: "rtcshare: ")
    }

    @Test("An unknown command is answered with the closest known one")
    func misspelled() throws {
        #expect(
            try failure("sned", "--answer", "a.sdp")
                == ["rtcshare: unknown command 'sned'. Did you mean 'send'?", "Try: rtcshare send --help"])
        #expect(
            try failure("serv") == [
                "rtcshare: unknown command 'serv'. Did you mean 'serve'?", "Try: rtcshare serve --help",
            ])
        #expect(try failure("help", "foo") == ["rtcshare: unknown command 'foo'.", "Try: rtcshare --help"])
        #expect(
            try failure("subgroup", "jion", "design")
                == ["rtcshare: unknown command 'jion'. Did you mean 'join'?", "Try: rtcshare subgroup join --help"])
        #expect(try failure("share") == ["rtcshare: unknown command 'share'.", "Try: rtcshare serve"])
    }

    @Test("An error of the parser has the form of other errors and names the command's help")
    func parserErrors() throws {
        #expect(
            try failure("subgroup", "join")
                == ["rtcshare: subgroup join: SUBGROUP is missing.", "Try: rtcshare help subgroup join"])
        let lines = try failure("serve", "--no-such-option")
        #expect(lines.first?.hasPrefix("rtcshare: unknown option '--no-such-option'") == true)
        #expect(lines.last == "Try: rtcshare help serve")
    }

    @Test(
        "A wrong command line is answered with the closest valid one",
        arguments: [
            ("stream", "unknown command 'stream'.", "rtcshare serve"),
            ("ls", "unknown command 'ls'.", "rtcshare sources"),
            ("quit", "unknown command 'quit'.", "rtcshare stop"),
            ("info", "unknown command 'info'.", "rtcshare status"),
            ("--serve", "unknown option '--serve'.", "rtcshare serve --help"),
            ("-v", "unknown option '-v'.", "rtcshare --version"),
            ("--nonsense", "unknown option '--nonsense'.", "rtcshare help"),
            (
                "serve window:title=Slides", "serve window:title=Slides: this argument is not expected.",
                "rtcshare serve --source window:title=Slides"
            ),
            ("serve screen", "serve screen: this argument is not expected.", "rtcshare serve --source display"),
            ("serve x", "serve x: this argument is not expected.", "rtcshare help serve"),
            ("stop share", "stop share: this argument is not expected.", "rtcshare stop --name share"),
            ("lock --all", "unknown option '--all'.", "rtcshare help lock"),
            ("lock --nmae x", "unknown option '--nmae'. Did you mean '--name'?", "rtcshare help lock"),
            ("view --bogus", "unknown option '--bogus'.", "rtcshare help view"),
            ("kick -1", "-1: use the number of a viewer, as rtcshare status lists it.", "rtcshare help kick"),
            ("kick", "kick: N is missing.", "rtcshare help kick"),
            ("kick 1 2", "kick 2: this argument is not expected.", "one viewer at a time: rtcshare kick 1"),
            ("report", "report: FILE is missing.", "rtcshare help report"),
            ("unit", "unit: COMMAND is missing.", "rtcshare help unit"),
            ("https://a.example/#secret", "https://a.example/ is a link, not a command.", "rtcshare view LINK"),
            (
                "serve --source window:title=My Slides", "serve Slides: this argument is not expected.",
                "put quotes around a title with spaces: 'window:title=MY SLIDES'"
            ),
            ("serve --ask=false", "--ask=false: this option takes no value.", "rtcshare serve --ask"),
            ("serve --duration", "--duration: the value is missing.", "rtcshare serve --duration S"),
        ])
    func meant(line: String, problem: String, remedy: String) throws {
        let words = line.split(separator: " ").map(String.init)
        let failure = try #require(throws: CommandFailure.self) { try RTCShareCommand.parsed(words) }
        #expect(failure.lines(after: "") == [problem, "Try: \(remedy)"])
    }

    @Test("The help of help is the program's, and --help of a service unit's command is that command's")
    func helpOfHelp() throws {
        #expect(CommandArguments.prepared(["help", "help"]) == ["help"])
        #expect(throws: CleanExit.self) {
            try UnitCommand.unit(of: ["serve", "--ask", "--help"], executable: "/a", folder: "/")
        }
        let failure = try #require(throws: CommandFailure.self) {
            try UnitCommand.unit(of: ["serv"], executable: "/a", folder: "/")
        }
        #expect(failure.remedy == "rtcshare unit serve")
    }

    @Test(
        "Only a word that is close to the typed one is suggested",
        arguments: [
            ("satus", "status"), ("stauts", "status"), ("STATUS", "status"), ("pasue", "pause"),
            ("unlok", "unlock"),
            ("stat", "status"), ("u", nil), ("st", nil), ("blurse", nil), ("foo", nil), ("x", nil), ("", nil),
        ])
    func suggestions(word: String, meant: String?) {
        let commands = ["status", "stop", "pause", "lock", "unlock", "serve"]
        #expect(Suggestion.nearest(to: word, among: commands) == meant)
    }
}

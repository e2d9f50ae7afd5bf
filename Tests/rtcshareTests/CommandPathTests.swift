import Testing

@testable import rtcshare

/// What a person reads who mistypes a command.
struct CommandPathTests {
    private func failure(_ words: String...) throws -> [String] {
        let failure = try #require(throws: CommandFailure.self) { try RTCShareCommand.parsed(words) }
        #expect(failure.status == .usage)
        return failure.lines(after: "rtcshare: ")
    }

    @Test("An unknown command is answered with the one that was meant")
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

    @Test("What the parser finds has the form of every other error, and names the command's help")
    func parserErrors() throws {
        #expect(
            try failure("subgroup", "join")
                == ["rtcshare: missing expected argument '<subgroup>'.", "Try: rtcshare help subgroup join"])
        let lines = try failure("serve", "--no-such-option")
        #expect(lines.first?.hasPrefix("rtcshare: unknown option '--no-such-option'") == true)
        #expect(lines.last == "Try: rtcshare help serve")
    }

    @Test(
        "A suggestion is close to the word, or there is none",
        arguments: [
            ("satus", "status"), ("stauts", "status"), ("STATUS", "status"), ("pasue", "pause"),
            ("unlok", "unlock"),
            ("stat", "status"), ("u", nil), ("st", nil), ("foo", nil), ("x", nil), ("", nil),
        ])
    func suggestions(word: String, meant: String?) {
        let commands = ["status", "stop", "pause", "lock", "unlock", "serve"]
        #expect(Suggestion.nearest(to: word, among: commands) == meant)
    }
}

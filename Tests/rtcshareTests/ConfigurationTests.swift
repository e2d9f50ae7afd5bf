import ArgumentParser
import Foundation
import Testing
import TestSupport

@testable import rtcshare

/// Options that come from a file and from the environment.
struct ConfigurationTests {
    private let folder = try? TemporaryFolder()

    /// What a command line becomes with the file `text` and the variables.
    private func serve(
        _ arguments: [String] = [], with text: String, environment: [String: String] = [:]
    ) throws -> ServeCommand {
        let command = try parsed(["serve"] + arguments, with: text, environment: environment)
        return try #require(command as? ServeCommand)
    }

    private func parsed(
        _ arguments: [String], with text: String, environment: [String: String] = [:]
    ) throws -> any ParsableCommand {
        let folder = try #require(folder)
        let file = folder.file("rtcshare/config.toml")
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        let variables = environment.merging(["XDG_CONFIG_HOME": folder.url.path]) { first, _ in first }
        return try RTCShareCommand.parsed(arguments, environment: variables)
    }

    private func failure(_ arguments: [String], with text: String, environment: [String: String] = [:]) throws
        -> String
    {
        let failure = try #require(throws: CommandFailure.self) {
            try parsed(arguments, with: text, environment: environment)
        }
        return failure.lines(after: "").joined(separator: "\n")
            .replacing(try #require(folder).url.path + "/rtcshare/", with: "")
    }

    @Test("A file sets options of every kind")
    func kinds() throws {
        let command = try serve(
            with: """
                # Comments are fine.
                max-bitrate = 1500
                max-framerate = 12.5
                ice-server = ["stun:stun.example.org", "stun:other.example.org"]
                audio = "none"

                [serve]
                ask = true
                qr = false
                no-main = true
                tls-self-signed = false
                subgroup = ["design"]
                size = '1280x720'

                [send]
                max-bitrate = 800
                """)
        #expect(command.sharing.quality.maxBitrate == 1500)
        #expect(command.sharing.quality.maxFramerate == 12.5)
        #expect(command.network.ice.iceServer == ["stun:stun.example.org", "stun:other.example.org"])
        #expect(command.link.ask && command.link.qr == false && !command.link.tlsSelfSigned)
    }

    @Test("A command's table wins over the top of the file, the environment over both, the command line over all")
    func precedence() throws {
        let file = """
            max-bitrate = 100
            ice-server = "stun:file.example"
            max-viewers = 3
            [serve]
            max-bitrate = 200
            """
        #expect(try serve(with: file).sharing.quality.maxBitrate == 200)
        let environment = ["RTCSHARE_MAX_BITRATE": "300", "RTCSHARE_ICE_SERVER": "stun:a.example stun:b.example"]
        let fromEnvironment = try serve(with: file, environment: environment)
        #expect(fromEnvironment.sharing.quality.maxBitrate == 300 && fromEnvironment.link.maxViewers == 3)
        #expect(fromEnvironment.network.ice.iceServer == ["stun:a.example", "stun:b.example"])
        let typed = try serve(
            ["--max-bitrate=400", "--ice-server", "stun:typed.example"], with: file, environment: environment)
        #expect(typed.sharing.quality.maxBitrate == 400)
        #expect(typed.network.ice.iceServer == ["stun:typed.example"])
    }

    @Test("An option on the command line replaces its opposite in the file")
    func opposites() throws {
        let file =
            "link-token-file = \"link.token\"\nqr = true\ntls-certificate = \"a.pem\"\ntls-key = \"b.pem\"\nname = \"desk\""
        let command = try serve(["--no-token", "--no-qr", "--tls-self-signed", "--no-control"], with: file)
        #expect(command.link.noToken && command.link.linkTokenFile == nil && command.link.qr == false)
        #expect(command.link.tlsSelfSigned && command.link.tlsCertificate == nil)
        #expect(command.running.noControl && command.running.name == nil)
    }

    @Test("What is at the top of the file and is an option of another command only is left out")
    func otherCommands() throws {
        let command = try #require(try parsed(["send"], with: "ask = true\nmax-bitrate = 900") as? SendCommand)
        #expect(command.sharing.quality.maxBitrate == 900)
        #expect(throws: Never.self) { try parsed(["status"], with: "nonsense = 1") }
        #expect(throws: Never.self) { try parsed(["help", "serve"], with: "nonsense = 1") }
    }

    @Test("Another file is read instead if --config or RTCSHARE_CONFIG names it")
    func otherFile() throws {
        let other = try #require(folder).file("other.toml")
        try Data("max-viewers = 7".utf8).write(to: other)
        #expect(try serve(["--config", other.path], with: "max-viewers = 3").link.maxViewers == 7)
        #expect(try serve(["--config=" + other.path], with: "max-viewers = 3").link.maxViewers == 7)
        let environment = ["RTCSHARE_CONFIG": other.path]
        #expect(try serve(with: "max-viewers = 3", environment: environment).link.maxViewers == 7)
        #expect(try failure(["serve", "--config", "/nowhere/c.toml"], with: "").contains("/nowhere/c.toml"))
    }

    @Test(
        "A wrong file is reported with its line and what to write",
        arguments: [
            (
                "ask = true\nmax-bitrat = 1",
                "config.toml, line 2: unknown option 'max-bitrat'. Did you mean 'max-bitrate'?"
            ),
            ("[serve]\nanswer = \"a\"", "config.toml, line 2: unknown option 'answer'"),
            ("config = \"a\"", "config.toml, line 1: unknown option 'config'"),
            ("[share]\nask = true", "config.toml, line 1: a configuration has no table [share]"),
            ("ask = true\n\nsize = = 3", "config.toml, line 3: "),
            ("ask = \"yes\"", "config.toml, line 1: ask is true or false"),
            ("listen = true", "config.toml, line 1: listen is one text or number"),
            ("listen = [\"1\", \"2\"]", "config.toml, line 1: listen is one text or number"),
            ("ice-server = true", "config.toml, line 1: ice-server is a text, or a list of texts"),
            ("ask = 2026-01-01", "config.toml, line 1: '2026-01-01' is not a number, true or false"),
            ("size = 1280x720", "config.toml, line 1: '1280x720' is not a number, true or false"),
            ("listen = \"8080", "config.toml, line 1: a text does not end"),
            ("listen = \"\\q\"", "config.toml, line 1: \\ begins one of"),
            ("listen = \"\"\"8080\"\"\"", "config.toml, line 1: a text of several lines"),
            ("address = [\"a\",\n\"b\"", "config.toml, line 2: a list does not end"),
            ("address = [\"a\" \"b\"]", "config.toml, line 1: the values of a list are apart by commas"),
            ("ask = true ask = true", "config.toml, line 1: a line has more than one"),
            ("ask = true\nask = true", "config.toml, line 2: 'ask' is set twice"),
            ("[serve]\n[serve]", "config.toml, line 2: the table [serve] is there twice"),
            ("ask", "config.toml, line 1: 'ask' has no = and value"),
            ("\n= 3", "config.toml, line 2: a line sets an option"),
            ("[serve", "config.toml, line 1: a table's name ends with ]"),
            ("[serve.more]\nask = true", "config.toml, line 1: a configuration has no table [serve.more]"),
            ("serve.ask = true", "config.toml, line 1: unknown option 'serve.ask'"),
            ("[serve]\n\"max-viewers\" = 0", "config.toml, line 2: --max-viewers 0"),
        ])
    func wrongFiles(text: String, problem: String) throws {
        let said = try failure(["serve"], with: text)
        #expect(said.hasPrefix(problem), "\(said)")
    }

    @Test("A wrong variable is reported by its name")
    func wrongVariables() throws {
        #expect(
            try failure(["serve"], with: "", environment: ["RTCSHARE_MAX_VIEWERS": "0"])
                .hasPrefix("RTCSHARE_MAX_VIEWERS: --max-viewers 0"))
        #expect(
            try failure(["serve"], with: "", environment: ["RTCSHARE_ASK": "perhaps"])
                .hasPrefix("RTCSHARE_ASK is true or false"))
    }

    @Test("Everything that TOML allows in a value of one line is read as TOML says")
    func values() throws {
        let text = #"""
            # A comment
            "quoted key" = "tab \t quote \" é \u00e9 \U0001F600" # behind a value
            'literal' = 'C:\path'
            number = -1_000
            fraction = +6.5e-3
            on = true

            list = [ 'a', # one
              "b",
              3,
            ]
            empty = []
            [ table ]\r
            key-1_x = 0\r
            last = []
            """#
            .replacing("\\r", with: "\r")
        let tables = try TOMLReader.read(text)
        #expect(tables.map(\.name) == [nil, "table"])
        #expect(
            tables[0].entries.mapValues(\.value) == [
                "quoted key": .text("tab \t quote \" é é 😀"), "literal": .text("C:\\path"),
                "number": .text("-1000"), "fraction": .text("6.5e-3"), "on": .truth(true),
                "list": .list(["a", "b", "3"]), "empty": .list([]),
            ])
        #expect(tables[1].entries["key-1_x"] == TOMLReader.Entry(value: .text("0"), line: 14))
        #expect(tables[1].entries["last"]?.value == .list([]))
    }
}

import ArgumentParser
import Foundation
import RTCShareMedia
import Testing
import TestSupport

@testable import rtcshare

/// Options that come from a file and from the environment.
struct ConfigurationTests {
    private let folder = try? TemporaryFolder()

    /// Returns the parsed command line with the file `text` and the variables.
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

    @Test("A command's table overrides the top of the file, variables override both, and arguments all")
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

    @Test("An option at the top of the file is ignored by commands that do not have it")
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
        "An invalid file is reported with its line and a valid form",
        arguments: [
            (
                "ask = true\nmax-bitrat = 1",
                "config.toml, line 2: unknown option 'max-bitrat'. Did you mean 'max-bitrate'?"
            ),
            ("[serve]\nanswer = \"a\"", "config.toml, line 2: unknown option 'answer'"),
            ("config = \"a\"", "config.toml, line 1: unknown option 'config'"),
            ("[share]\nask = true", "config.toml, line 1: unknown table [share]"),
            ("ask = true\n\nsize = = 3", "config.toml, line 3: "),
            ("ask = \"yes\"", "config.toml, line 1: ask: the value must be true or false"),
            ("listen = true", "config.toml, line 1: listen: the value must be one string"),
            ("listen = [\"1\", \"2\"]", "config.toml, line 1: listen: the value must be one string"),
            ("ice-server = true", "config.toml, line 1: ice-server: the value must be a string or an array"),
            ("ask = 2026-01-01", "config.toml, line 1: '2026-01-01' is not a number, true or false"),
            ("size = 1280x720", "config.toml, line 1: '1280x720' is not a number, true or false"),
            ("listen = \"8080", "config.toml, line 1: the closing"),
            ("listen = \"\\q\"", "config.toml, line 1: unknown escape after"),
            ("listen = \"\"\"8080\"\"\"", "config.toml, line 1: a string can't have several lines"),
            ("address = [\"a\",\n\"b\"", "config.toml, line 2: the array has no ]"),
            ("address = [\"a\" \"b\"]", "config.toml, line 1: a comma or ] is missing"),
            ("ask = true ask = true", "config.toml, line 1: only one option"),
            ("ask = true\nask = true", "config.toml, line 2: 'ask' is set twice"),
            ("[serve]\n[serve]", "config.toml, line 2: the table [serve] exists already"),
            ("ask", "config.toml, line 1: 'ask' has no value"),
            ("\n= 3", "config.toml, line 2: the name of an option is missing"),
            ("[serve", "config.toml, line 1: the ] after [serve is missing"),
            ("[serve.more]\nask = true", "config.toml, line 1: unknown table [serve.more]"),
            ("serve.ask = true", "config.toml, line 1: unknown option 'serve.ask'"),
            (
                "ask = true\nsource = \"tset\"",
                "config.toml, line 2: --source tset: unknown source. Did you mean 'test'?"
            ),
            ("audio = [\"system\", \"mic\"]", "config.toml, line 1: --audio mic: unknown audio"),
            ("name = \"a b\"", "config.toml, line 1: --name a b: this can't be the name"),
            ("token-file = \"a\"", "config.toml, line 1: unknown option 'token-file'. Did you mean 'link-token-file'?"),
            ("version = 1", "config.toml, line 1: unknown option 'version'.\n"),
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
                .hasPrefix("RTCSHARE_ASK=perhaps: the value must be true or false"))
    }

    @Test("A misspelt or former variable is an error, and one of another program is not")
    func misspeltVariables() throws {
        for (variable, meant) in [
            ("SORUCE", "SOURCE"), ("MAX_BITRAT", "MAX_BITRATE"), ("LINK_TOKEN_FIEL", "LINK_TOKEN_FILE"),
        ] {
            let said = try failure(["serve"], with: "", environment: ["RTCSHARE_\(variable)": "x"])
            #expect(
                said.hasPrefix("RTCSHARE_\(variable): unknown variable. Did you mean RTCSHARE_\(meant)?"), "\(said)")
        }
        for (command, meant) in [("serve", "LINK"), ("send", "WHIP")] {
            let said = try failure([command], with: "", environment: ["RTCSHARE_TOKEN_FILE": "x"])
            #expect(said.contains("Did you mean RTCSHARE_\(meant)_TOKEN_FILE?"), "\(said)")
        }
        let others = ["RTCSHARE_LOG", "RTCSHARE_WHIP_TOKEN", "RTCSHARE_BROADCAST_MY_TOKEN", "RTCSHARE_PYTHON"]
        #expect(throws: Never.self) {
            try parsed(["send"], with: "", environment: Dictionary(uniqueKeysWithValues: others.map { ($0, "x") }))
        }
    }

    @Test("A failure of the running command names the line of the option or of the file at fault")
    func places() throws {
        let folder = try #require(folder)
        let file = try folder.write(
            "max-bitrate = 900\nlink-token-file = \"no.token\"\ncontrol = \"/no/x\"", to: "c.toml")
        let options = try ConfiguredOptions(for: ["serve", "--config", file.path], environment: [:])
        func place(_ problem: String, _ status: CommandFailure.Status = .usage) -> (String, CommandFailure.Status) {
            let failure = options.placing(CommandFailure(status, problem))
            return (failure.message.replacing(file.path, with: "c.toml"), failure.status)
        }
        #expect(
            place("can't open the token file no.token: there is no such file", .inputMissing)
                == ("c.toml, line 2: can't open the token file no.token: there is no such file", .inputMissing))
        #expect(place("--control /no/x: wrong") == ("c.toml, line 3: --control /no/x: wrong", .badInput))
        #expect(place("no display: DISPLAY is not set").0 == "no display: DISPLAY is not set")
    }

    @Test("--no-FLAG and --hint auto on the command line undo the settings of the file")
    func undoneFlag() throws {
        #expect(try !serve(["--no-ask"], with: "ask = true").link.ask)
        #expect(try serve(with: "ask = true").link.ask)
        #expect(throws: CommandFailure.self) { try serve(["--no-source"], with: "") }
        let off = Array(ShareStart(needsApproval: false, hint: "auto", isOnInternet: false).arguments.dropFirst())
        let file = "internet = true\nhint = \"text\""
        let started = try serve(off, with: file, environment: ["RTCSHARE_ASK": "yes"])
        #expect(!started.link.ask && !started.link.internet && started.sharing.parameters.contentHint == nil)
        #expect(try serve(with: file).sharing.parameters.contentHint == .text)
    }

    @Test("All forms of TOML values in one line are parsed according to TOML")
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

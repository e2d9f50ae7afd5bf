import ArgumentParser
import Foundation
import Testing

@testable import rtcshare

/// The help of every command.
struct HelpTests {
    private struct Dump: Decodable {
        let command: Command
    }

    private struct Command: Decodable {
        let commandName: String
        let abstract: String
        let discussion: String?
        let subcommands: [Command]?
        let arguments: [Argument]?

        /// This command and its subcommands, without the parser's `help`.
        var all: [(path: [String], command: Command)] {
            let below = (subcommands ?? []).filter { $0.commandName != "help" }.flatMap(\.all)
            return [([], self)] + below.map { ([commandName] + $0.path, $0.command) }
        }

        var examples: [String] {
            (discussion ?? "").split(separator: "\n").filter { $0.hasPrefix("    ") }.map(String.init)
        }
        var options: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let name: String
        }

        let kind: String
        let names: [Name]?
        let abstract: String?
        let valueName: String?
        let defaultValue: String?
        let shouldDisplay: Bool

        var name: String { names?.first?.name ?? valueName ?? "" }
    }

    /// The phrases that the writing guide forbids.
    private static let forbidden = [
        #"\b(is|are|was) no [a-z]"#, #"\banew\b"#, #"\bgoes? on\b"#, "stands? still", "again for each",
        #"\balone\b"#,
        #"(?<!anyone )\b[Ww]ho(ever)? (has|is|comes|asks|looks|shows)\b"#, #"\bmeanwhile\b"#, #"\bfolder\b"#,
        #"\bpicture\b"#,
        #"\bfilm\b"#, "By default", #"\b[Hh]ave (a|each|the) \w+ (ask|wait|stand|go)\b"#, #"\bvoice\b"#,
        #"\bbegun\b"#, #"\bthe most\b"#,
    ].joined(separator: "|")

    private static let commands = {
        do {
            _ = try RTCShareCommand.parseAsRoot(["--experimental-dump-help"])
        } catch {
            let json = Data(RTCShareCommand.message(for: error).utf8)
            return (try? JSONDecoder().decode(Dump.self, from: json))?.command.all ?? []
        }
        return []
    }()

    private static func help(_ path: [String], columns: Int) throws -> [String] {
        do {
            var help = try RTCShareCommand.parsed(path + ["--help"])
            try help.run()
        } catch {
            return try #require(
                HelpText(RTCShareCommand.fullMessage(for: error, columns: HelpText.unlimited)),
                "\(path): \(error)"
            ).lines(columns: columns)
        }
        Issue.record("\(path) takes --help for something else")
        return []
    }

    @Test("An abstract has at most 60 characters")
    func abstracts() {
        #expect(Self.commands.count > 30)
        for (_, command) in Self.commands {
            #expect(command.abstract.count <= 60, "\(command.commandName): \(command.abstract.count)")
            #expect(command.abstract.hasSuffix("."), "\(command.commandName)")
        }
    }

    @Test("An option's help has its effect first, then its default, then that it is repeatable")
    func options() {
        for (_, command) in Self.commands {
            for option in command.options {
                let text = option.abstract ?? ""
                #expect(!text.isEmpty, "\(command.commandName) \(option.name)")
                #expect(
                    option.defaultValue == nil, "\(command.commandName) \(option.name): the parser adds a default")
                #expect(option.name == "help" || text.hasSuffix("."), "\(command.commandName) \(option.name)")
                if text.contains("Repeatable") { #expect(text.hasSuffix("Repeatable."), "\(option.name)") }
                #expect(text.ranges(of: "Default:").count <= 1, "\(option.name)")
            }
        }
    }

    @Test("Help uses none of the phrases that the guide forbids")
    func phrases() {
        for (_, command) in Self.commands {
            for text in [command.abstract, command.discussion ?? ""] + command.options.map({ $0.abstract ?? "" }) {
                let found = text.range(of: Self.forbidden, options: .regularExpression)
                #expect(found == nil, "\(command.commandName): \(text)")
            }
        }
    }

    @Test("An example fits into 72 columns and keeps its line on a narrow terminal")
    func exampleLines() throws {
        for (path, command) in Self.commands where !command.examples.isEmpty {
            let words = Array((path + [command.commandName]).dropFirst())
            for line in command.examples { #expect(line.count <= 72, "\(command.commandName): \(line)") }
            for columns in [60, 80, 140] {
                let lines = try Self.help(words, columns: columns)
                for line in command.examples { #expect(lines.contains(line), "\(command.commandName): \(line)") }
                for line in lines where !line.hasPrefix("    ") || line.hasPrefix("        ") {
                    // A word that is longer than the column of descriptions can't be broken.
                    #expect(line.count <= max(columns, 72), "\(command.commandName): \(line)")
                }
                #expect(
                    lines.contains { $0.hasPrefix("USAGE: rtcshare") }
                        && !lines.contains { $0.contains("<options>") })
            }
        }
    }

    @Test("The parser accepts each example in help")
    func examplesParse() throws {
        for (_, command) in Self.commands {
            let lines = command.examples.joined(separator: "\n").replacingOccurrences(of: "\\\n", with: " ")
            for line in lines.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) })
            where line.hasPrefix("rtcshare ") {
                let words = line.split(separator: " ").map { $0.replacingOccurrences(of: "'", with: "") }
                let arguments = words.dropFirst().prefix { $0 != ">" && $0 != "<" }
                #expect(throws: Never.self, "\(line)") { try RTCShareCommand.parsed(Array(arguments)) }
            }
        }
    }

    @Test(
        "A long command has at least two examples",
        arguments: [
            "serve", "offer", "send", "view", "capture", "demo", "doctor", "inspect", "report", "unit",
            "completions",
        ])
    func examples(name: String) throws {
        let command = try #require(Self.commands.first { $0.command.commandName == name }).command
        #expect(command.examples.count { $0.hasPrefix("    rtcshare \(name)") } >= 2)
    }

    @Test(
        "The options that people use most come first",
        arguments: [("send", "--answer"), ("serve", "--source"), ("view", "--offer"), ("capture", "--source")])
    func order(name: String, option: String) throws {
        let lines = try Self.help([name], columns: 80)
        let options = lines.filter { $0.hasPrefix("  --") }
        #expect(options.first?.hasPrefix("  \(option) ") == true, "\(options)")
        #expect(!lines.contains { $0.contains("--version") })
    }

    @Test("Help of serve describes the effect of its options")
    func ofServe() throws {
        let help = try Self.help(["serve"], columns: 1000).joined(separator: "\n")
        #expect(help.contains("the port number of the page if it is free"))
        #expect(help.contains("Join this subgroup") && !help.contains("Put the viewer"))
        #expect(try Self.help(["send"], columns: 1000).joined().contains("Put the viewer in this subgroup."))
    }

    @Test("Help of set names no default, because omitted options keep their values")
    func ofSet() throws {
        #expect(try !Self.help(["set"], columns: 1000).joined().contains("Default:"))
    }

    @Test("-V and --version print the version", arguments: ["-V", "--version"])
    func version(option: String) throws {
        let error = try #require(throws: (any Error).self) { try RTCShareCommand.parsed([option]) }
        #expect(RTCShareCommand.message(for: error) == Version.text)
        #expect(RTCShareCommand.exitCode(for: error) == .success)
    }
}

internal import ArgumentParser

/// The commands that a command line names, from `rtcshare` down: `serve`, or `subgroup join`.
struct CommandPath {
    /// Words that people try for a command of another name.
    private static let synonyms = [
        "list": "rtcshare sources", "record": "rtcshare serve --record FILE.webm", "share": "rtcshare serve",
        "start": "rtcshare serve", "version": "rtcshare --version", "watch": "rtcshare view LINK",
    ]

    let names: [String]

    /// - Throws: `CommandFailure` for a command that does not exist, with the one that was probably meant.
    init(of arguments: [String]) throws {
        let words = arguments.prefix { !$0.hasPrefix("-") }
        var names: [String] = []
        var command: any ParsableCommand.Type = RTCShareCommand.self
        for word in words.first == "help" ? words.dropFirst() : words {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty else { break }
            guard let next = commands.first(where: { Self.names(of: $0).contains(word) }) else {
                throw Self.unknown(word, after: names, among: commands.map { $0._commandName })
            }
            names.append(word)
            command = next
        }
        self.names = names
    }

    /// The command that explains this one.
    var help: String { (["rtcshare", "help"] + names).joined(separator: " ") }

    private static func unknown(_ word: String, after names: [String], among known: [String]) -> CommandFailure {
        let path = ["rtcshare"] + names
        let problem = "unknown command '\(word)'"
        if names.isEmpty, let command = synonyms[word.lowercased()] {
            return CommandFailure(.usage, problem, try: command)
        }
        guard let meant = Suggestion.nearest(to: word, among: known) else {
            return CommandFailure(.usage, problem, try: "\(path.joined(separator: " ")) --help")
        }
        return CommandFailure(
            .usage, "\(problem). Did you mean '\(meant)'?", try: "\((path + [meant]).joined(separator: " ")) --help")
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }
}

internal import ArgumentParser

/// The commands in a command line, from `rtcshare` down: `serve`, or `subgroup join`.
struct CommandPath {
    /// The words that users try for a command with another name.
    private static let synonyms = [
        "check": "rtcshare doctor", "connect": "rtcshare view LINK", "devices": "rtcshare sources",
        "end": "rtcshare stop", "exit": "rtcshare stop", "info": "rtcshare status", "join": "rtcshare view LINK",
        "list": "rtcshare sources", "ls": "rtcshare sources", "open": "rtcshare view LINK",
        "play": "rtcshare view LINK", "publish": "rtcshare send --whip URL", "quit": "rtcshare stop",
        "receive": "rtcshare view LINK", "record": "rtcshare serve --record FILE.webm",
        "screens": "rtcshare sources", "share": "rtcshare serve", "start": "rtcshare serve",
        "stream": "rtcshare serve", "url": "rtcshare link", "v": "rtcshare --version",
        "version": "rtcshare --version", "watch": "rtcshare view LINK", "windows": "rtcshare sources",
    ]

    let names: [String]
    /// The command at the end of the path.
    let command: any ParsableCommand.Type

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
        self.command = command
    }

    /// The path as it is typed.
    var text: String { (["rtcshare"] + names).joined(separator: " ") }

    /// The command that explains this one.
    var help: String { (["rtcshare", "help"] + names).joined(separator: " ") }

    /// Returns the failure for a command that was typed as an option, such as `--serve`, with the one that was probably
    /// meant; nil for other options.
    static func failure(ofOption option: String) -> CommandFailure? {
        let word = String(option.drop { $0 == "-" }.prefix { $0 != "=" }).lowercased()
        let problem = "unknown option '\(option)'"
        if let command = synonyms[word] { return CommandFailure(.usage, problem, try: command) }
        guard word.count > 1,
            let meant = Suggestion.nearest(
                to: word, among: RTCShareCommand.configuration.subcommands.map { $0._commandName })
        else { return nil }
        return CommandFailure(.usage, problem, try: "rtcshare \(meant) --help")
    }

    private static func unknown(_ word: String, after names: [String], among known: [String]) -> CommandFailure {
        let path = ["rtcshare"] + names
        if names.isEmpty, ["http://", "https://"].contains(where: word.lowercased().hasPrefix) {
            // The part after # is a secret.
            let link = word.prefix { $0 != "#" }
            return CommandFailure(.usage, "\(link) is a link, not a command", try: "rtcshare view LINK")
        }
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

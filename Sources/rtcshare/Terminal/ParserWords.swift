internal import ArgumentParser

/// Converts an error of the argument parser to the form of all other errors: `OPTION VALUE: WHY`, and a remedy.
struct ParserWords {
    /// The command in the arguments.
    let path: CommandPath
    let arguments: [String]

    /// Returns the failure for a message of the parser.
    func failure(_ message: String) -> CommandFailure {
        let options = Set((try? KnownOption.all(of: path.command).keys).map(Array.init) ?? [])
        if let option = unknownOption(message, among: options) {
            if path.names.isEmpty, let failure = CommandPath.failure(ofOption: option) { return failure }
            let dashes = option.prefix { $0 == "-" }
            let name = String(option.dropFirst(dashes.count))
            let meant =
                dashes.count < 2
                ? nil : Suggestion.nearest(to: name, among: options.union(["help", "version"]).sorted())
            return usage("unknown option '\(option)'" + (meant.map { ". Did you mean '--\($0)'?" } ?? ""))
        }
        if let match = message.wholeMatch(of: /Missing value for '(--[\w-]+) <(.+)>'/) {
            return usage(
                "\(match.1): the value is missing", try: "\(path.text) \(match.1) \(match.2.uppercased())")
        }
        if let match = message.wholeMatch(of: /The option '(--[\w-]+)' does not take any value, but '(.*)' was .*/) {
            return usage("\(match.1)=\(match.2): this option takes no value", try: "\(path.text) \(match.1)")
        }
        if let match = message.wholeMatch(of: /Missing expected argument '<(.+?)>(?: \.\.\.)?'/) {
            let name = path.names.joined(separator: " ")
            return usage("\(name): \(match.1.uppercased()) is missing")
        }
        if let match = message.wholeMatch(of: /Unexpected argument '(.*)'/.dotMatchesNewlines()) {
            return unexpected(String(match.1), options)
        }
        let words = Self.valueWords(message) ?? message.prefix(1).lowercased() + message.dropFirst()
        let parts = words.split(separator: Self.remedyMark, maxSplits: 1).map(String.init)
        return usage(parts.first ?? words, try: parts.count > 1 ? parts[1] : nil)
    }

    /// The text between the problem with a value and the remedy, in an error that a transform throws.
    static let remedyMark = "\nTry: "

    private func usage(_ problem: String, try remedy: String? = nil) -> CommandFailure {
        CommandFailure(.usage, problem, try: remedy ?? path.help)
    }

    /// Returns the option that the command does not have, which other errors can hide; nil if there is none.
    private func unknownOption(_ message: String, among known: Set<String>) -> String? {
        if let match = message.prefixMatch(of: /Unknown option '(.*?)'/) { return String(match.1) }
        // `unit` passes options to another command.
        guard path.command != UnitCommand.self else { return nil }
        return arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") && !$0.hasPrefix("---") }
            .map { String($0.prefix { $0 != "=" }) }
            .first { option in
                let name = option.dropFirst(2)
                let negated = name.hasPrefix("no-") ? name.dropFirst(3) : name
                return !known.union(["help", "version"]).contains { $0 == name || $0 == negated }
            }
    }

    private func unexpected(_ word: String, _ options: Set<String>) -> CommandFailure {
        let problem = (path.names + [word]).joined(separator: " ") + ": this argument is not expected"
        let last = arguments.firstIndex(of: word).flatMap { $0 > 0 ? arguments[$0 - 1] : nil } ?? ""
        if last.contains("title=") {
            return usage(problem, try: "put quotes around a title with spaces: 'window:title=MY SLIDES'")
        }
        if options.contains("source") {
            let source = (try? SourceSpecification(word)) != nil ? word : SourceSpecification.meant(by: word)
            return usage(problem, try: source.map { "\(path.text) --source \($0.asShellWord)" })
        }
        if ["admit", "kick"].contains(path.names.first) {
            return usage(problem, try: "one viewer at a time: \(path.text) \(last)")
        }
        let isName =
            word.contains(where: \.isLetter) && options.contains("control")
            && (try? ControlSocket.check(name: word)) != nil
        return usage(problem, try: isName ? "\(path.text) --name \(word)" : nil)
    }

    /// Returns the words for a wrong value; nil for another error.
    private static func valueWords(_ message: String) -> String? {
        let invalidValue = /The value '(.*)' is invalid for '(?:(--[\w-]+) )?<[^>]+>'(.*)/.dotMatchesNewlines()
        guard let match = message.wholeMatch(of: invalidValue) else { return nil }
        let (value, option) = (match.1, match.2)
        return (option.map { "\($0) " } ?? "") + "\(value.isEmpty ? "''" : value): \(reason(String(match.3)))"
    }

    /// Returns the allowed values, from the parser's addition to a rejected value.
    private static func reason(_ addition: String) -> String {
        let list = ". Please provide one of "
        if addition.hasPrefix(list) {
            return "use "
                + addition.dropFirst(list.count).dropLast().replacing("'", with: "").replacing(" and ", with: " or ")
        }
        return addition.hasPrefix(": ") ? String(addition.dropFirst(2)) : "not a valid value"
    }
}

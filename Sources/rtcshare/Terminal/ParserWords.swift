/// Puts an error of the argument parser into the form of all other errors: `OPTION VALUE: WHY`.
enum ParserWords {
    static func rewritten(_ message: String) -> String {
        let invalidValue = /The value '(.*)' is invalid for '(?:(--[\w-]+) )?<[^>]+>'(.*)/.dotMatchesNewlines()
        if let match = message.wholeMatch(of: invalidValue) {
            let (value, option) = (match.1, match.2)
            return (option.map { "\($0) " } ?? "") + "\(value.isEmpty ? "''" : value): \(reason(String(match.3)))"
        }
        if let match = message.wholeMatch(of: /Missing value for '(--[\w-]+) (<.+>)'/) {
            return "\(match.1): the value is missing; use \(match.1) \(match.2)"
        }
        return message.prefix(1).lowercased() + message.dropFirst()
    }

    /// Which values are allowed, from what the parser adds to a value that it refuses.
    private static func reason(_ addition: String) -> String {
        let list = ". Please provide one of "
        if addition.hasPrefix(list) {
            return "use " + addition.dropFirst(list.count).dropLast().replacing("'", with: "")
        }
        return addition.hasPrefix(": ") ? String(addition.dropFirst(2)) : "not a valid value"
    }
}

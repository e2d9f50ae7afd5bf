/// Parses the part of TOML 1.0 that options need: tables, and keys whose values are texts of one line, decimal numbers,
/// `true`, `false`, and lists of these.
///
/// The libraries for TOML throw C++ exceptions, for which the package has no tables, and do not report the line of a
/// key.
struct TOMLReader {
    /// A value, with the line of its key.
    struct Entry: Hashable {
        let value: ConfiguredValue
        let line: Int
    }

    /// A table, with the line of its name; the table of the top has no name.
    struct Table {
        let name: String?
        let line: Int
        var entries: [String: Entry] = [:]
    }

    struct Problem: Error, Hashable {
        let line: Int
        let text: String
    }

    private var rest: Substring.UnicodeScalarView
    private var line = 1

    private init(_ text: String) { rest = text[...].unicodeScalars }

    /// Parses the tables of a text, that of the top first.
    static func read(_ text: String) throws(Problem) -> [Table] {
        var reader = TOMLReader(text)
        return try reader.readTables()
    }

    private mutating func readTables() throws(Problem) -> [Table] {
        var tables = [Table(name: nil, line: 1)]
        while skipBlankLines() {
            let start = line
            if take("[") {
                let name = try readKey()
                guard take("]") else { throw problem("the ] after [\(name) is missing") }
                guard !tables.contains(where: { $0.name == name }) else {
                    throw problem("the table [\(name)] exists already")
                }
                tables.append(Table(name: name, line: start))
            } else {
                let key = try readKey()
                guard take("=") else { throw problem("'\(key)' has no value. Write \(key) = VALUE") }
                let value = try readValue()
                let last = tables.count - 1
                guard tables[last].entries.updateValue(Entry(value: value, line: start), forKey: key) == nil else {
                    throw Problem(line: start, text: "'\(key)' is set twice")
                }
            }
            try endLine()
        }
        return tables
    }

    private mutating func readKey() throws(Problem) -> String {
        skipSpaces()
        let key: String
        if let quote = rest.first, quote == "\"" || quote == "'" {
            key = try readText()
        } else {
            key = takeWhile {
                $0.properties.isAlphabetic || ("0"..."9").contains($0) || $0 == "-" || $0 == "_" || $0 == "."
            }
            guard !key.isEmpty else {
                throw problem("the name of an option is missing. Write for example max-viewers = 5")
            }
        }
        skipSpaces()
        return key
    }

    private mutating func readValue() throws(Problem) -> ConfiguredValue {
        skipSpaces()
        guard take("[") else {
            let scalar = try readScalar()
            return scalar.truth.map(ConfiguredValue.truth) ?? .text(scalar.text)
        }
        var texts: [String] = []
        while skipBlankLines() {
            if take("]") { return .list(texts) }
            texts.append(try readScalar().text)
            guard skipBlankLines() else { break }
            if take(",") { continue }
            guard take("]") else { throw problem("a comma or ] is missing in the array") }
            return .list(texts)
        }
        throw problem("the array has no ] at its end")
    }

    private mutating func readScalar() throws(Problem) -> (text: String, truth: Bool?) {
        if let quote = rest.first, quote == "\"" || quote == "'" { return (try readText(), nil) }
        let word = takeWhile { !$0.properties.isWhitespace && !["\n", "\r", "#", ",", "]"].contains($0) }
        switch word {
        case "true": return (word, true)
        case "false": return (word, false)
        default:
            guard Self.isNumber(word) else {
                throw problem("'\(word)' is not a number, true or false. Write a string in quotes")
            }
            return (word.filter { $0 != "_" && $0 != "+" }, nil)
        }
    }

    private static func isNumber(_ word: String) -> Bool {
        word.wholeMatch(of: /[+-]?(0|[1-9](_?[0-9])*)(\.[0-9](_?[0-9])*)?([eE][+-]?[0-9](_?[0-9])*)?/) != nil
    }

    private mutating func readText() throws(Problem) -> String {
        let quote = rest.removeFirst()
        guard rest.prefix(2) != [quote, quote] else { throw problem("a string can't have several lines") }
        var text = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\n" {
            if scalar == quote { return String(text) }
            if scalar == "\\", quote == "\"" {
                text.append(try readEscape())
            } else if scalar == "\t" || scalar.properties.generalCategory != .control {
                text.append(scalar)
            } else {
                throw problem("the string contains a control character. Write it as \\uXXXX")
            }
        }
        throw problem("the closing \(quote) of the string is missing")
    }

    private mutating func readEscape() throws(Problem) -> Unicode.Scalar {
        let plain: [Unicode.Scalar: Unicode.Scalar] = [
            "b": "\u{8}", "t": "\t", "n": "\n", "f": "\u{C}", "r": "\r", "\"": "\"", "\\": "\\",
        ]
        let digits: [Unicode.Scalar: Int] = ["u": 4, "U": 8]
        if let letter = rest.popFirst() {
            if let scalar = plain[letter] { return scalar }
            if let count = digits[letter], rest.count >= count,
                let value = UInt32(String(rest.prefix(count)), radix: 16), let scalar = Unicode.Scalar(value)
            {
                rest.removeFirst(count)
                return scalar
            }
        }
        throw problem("unknown escape after \\. Write \\\\, or use '…' for a string with backslashes")
    }

    /// Skips to the next scalar that is not blank, over ends of lines and comments.
    /// - Returns: False at the end of the text.
    private mutating func skipBlankLines() -> Bool {
        while true {
            skipSpaces()
            if rest.first == "#" { _ = takeWhile { $0 != "\n" } }
            guard takeLineEnd() else { return !rest.isEmpty }
        }
    }

    private mutating func endLine() throws(Problem) {
        skipSpaces()
        if rest.first == "#" { _ = takeWhile { $0 != "\n" } }
        guard rest.isEmpty || takeLineEnd() else { throw problem("only one option or table is allowed in a line") }
    }

    private mutating func takeLineEnd() -> Bool {
        if rest.prefix(2) == ["\r", "\n"] { rest.removeFirst() }
        guard take("\n") else { return false }
        line += 1
        return true
    }

    private mutating func skipSpaces() { _ = takeWhile { $0 == " " || $0 == "\t" } }

    private mutating func takeWhile(_ matches: (Unicode.Scalar) -> Bool) -> String {
        let taken = rest.prefix(while: matches)
        rest.removeFirst(taken.count)
        return String(taken)
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private func problem(_ text: String) -> Problem { Problem(line: line, text: text) }
}

extension Substring.UnicodeScalarView {
    fileprivate static func != (view: Self, scalars: [Unicode.Scalar]) -> Bool { !view.elementsEqual(scalars) }
    fileprivate static func == (view: Self, scalars: [Unicode.Scalar]) -> Bool { view.elementsEqual(scalars) }
}

/// The parser's help, laid out for a terminal. Examples keep their lines, so that each can be pasted.
struct HelpText {
    /// More columns than any line has, so that the parser wraps nothing.
    static let unlimited = 100_000
    private static let introduction = "OVERVIEW: "
    private static let usage = "USAGE: "
    private static let descriptionIndent = 26
    private static let exampleIndent = "    "

    private let text: String

    /// - Returns: nil if the text is no help, but a version or JSON.
    init?(_ text: String) {
        guard text.hasPrefix(Self.introduction) else { return nil }
        self.text = String(text.dropFirst(Self.introduction.count))
    }

    /// The text in lines of at most `columns` characters, but for examples.
    func lines(columns: Int) -> [String] {
        var lines: [String] = []
        var paragraph: [Substring] = []
        var isOverview = true
        func endParagraph() {
            if !paragraph.isEmpty {
                lines += Self.wrapped(paragraph.joined(separator: " "), columns: columns, indent: 0)
            }
            paragraph = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix(Self.usage) { isOverview = false }
            if isOverview, !line.isEmpty, !line.hasPrefix(" ") {
                paragraph.append(line)
                continue
            }
            endParagraph()
            if isOverview {
                lines.append(String(line))
            } else if line.hasPrefix(Self.usage) {
                let usage = line.replacing("[<options>]", with: "[options]").replacing("<options>", with: "[options]")
                lines += Self.wrapped(String(usage), columns: columns, indent: Self.usage.count)
            } else {
                lines += Self.wrapped(String(line), columns: columns, indent: Self.descriptionIndent)
            }
        }
        endParagraph()
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// Breaks a line at its blanks; all rows but the first are indented.
    private static func wrapped(_ line: String, columns: Int, indent: Int) -> [String] {
        var rows: [String] = []
        var row = String(line.prefix { $0 == " " })
        var isFirstWord = true
        for word in line.split(separator: " ", omittingEmptySubsequences: false).drop(while: \.isEmpty) {
            if !isFirstWord, row.count + 1 + word.count > columns, !word.isEmpty {
                rows.append(row)
                (row, isFirstWord) = (String(repeating: " ", count: indent), true)
            }
            row += (isFirstWord ? "" : " ") + word
            isFirstWord = false
        }
        return rows + [row]
    }
}

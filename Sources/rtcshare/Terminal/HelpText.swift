/// The parser's help, laid out for a terminal. Examples keep their lines, so that each can be pasted.
struct HelpText {
    /// The number of columns at which the parser wraps nothing.
    static let unlimited = 100_000
    private static let introduction = "OVERVIEW: "
    private static let usage = "USAGE: "
    private static let descriptionIndent = 26

    private let text: String

    /// - Returns: Nil if the text is not help, but a version or JSON.
    init?(_ text: String) {
        guard text.hasPrefix(Self.introduction) else { return nil }
        self.text = String(text.dropFirst(Self.introduction.count))
    }

    /// Returns the text in lines of at most `columns` characters, except for examples.
    func lines(columns: Int) -> [String] {
        var lines: [String] = []
        var paragraph: [Substring] = []
        var isOverview = true
        func endParagraph() {
            if !paragraph.isEmpty {
                lines += paragraph.joined(separator: " ").wrapped(columns: columns)
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
                lines += String(usage).wrapped(columns: columns, indent: Self.usage.count)
            } else {
                lines += String(line).wrapped(columns: columns, indent: Self.descriptionIndent)
            }
        }
        endParagraph()
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}

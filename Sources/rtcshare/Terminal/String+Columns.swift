extension String {
    /// Returns as much of the text as fits into a row of so many columns: whole parts, separated by commas, if one
    /// fits.
    func statusRow(columns: Int) -> String {
        var width = 0
        guard
            let end = unicodeScalars.firstIndex(where: { scalar in
                width += scalar.columns
                return width > columns
            })
        else { return self }
        let row = self[..<end]
        guard let comma = row.lastIndex(of: ",") else { return String(row) }
        return String(row[..<comma])
    }
}

extension String {
    /// Returns rows of at most so many columns, broken at blanks. A word that is longer than a row, such as a link, is
    /// not broken.
    /// - Parameter indent: The blanks before each row except the first. Default: the width of the line's label.
    func wrapped(columns: Int, indent: Int? = nil) -> [String] {
        let indent = String(repeating: " ", count: indent ?? labelIndent)
        var rows: [String] = []
        var row = String(prefix { $0 == " " })
        var isFirstWord = true
        for word in split(separator: " ", omittingEmptySubsequences: false).drop(while: \.isEmpty) {
            if !isFirstWord, row.columns + 1 + word.columns > columns, !word.isEmpty {
                rows.append(row.trimmedAtEnd)
                (row, isFirstWord) = (indent, true)
            }
            row += (isFirstWord ? "" : " ") + word
            isFirstWord = false
        }
        return rows + [row]
    }

    /// The position of the text after a label, as in `state:   sharing`; without a label, two blanks more than the
    /// line.
    private var labelIndent: Int {
        if let label = prefixMatch(of: /\s*[^:]{1,24}:\s+/)?.output, label.columns <= 32 { return label.columns }
        let blanks = prefix { $0 == " " }.count
        return blanks == 0 ? 0 : blanks + 2
    }

    private var trimmedAtEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}

extension StringProtocol {
    /// The maximum number of columns in a terminal.
    fileprivate var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }
}

extension Unicode.Scalar {
    /// The maximum number of columns in a terminal. Terminals differ: symbols and combining characters have one or none
    /// on many.
    fileprivate var columns: Int { value < 0x1100 ? 1 : 2 }
}

internal import FoundationEssentials
internal import Glibc

// Numbers and times for people, the same everywhere: languages and their tables are what makes Foundation large.

extension String {
    /// Formats numbers like `printf` (printf(3)).
    init(printing format: String, _ arguments: any CVarArg...) {
        let length = Swift.max(Int(withVaList(arguments) { vsnprintf(nil, 0, format, $0) }), 0)
        self.init(unsafeUninitializedCapacity: length + 1) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                _ = withVaList(arguments) { vsnprintf(text.baseAddress, text.count, format, $0) }
            }
            return length
        }
    }

    /// Returns the text with trailing blanks up to the width of a column.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }
}

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

extension String {
    /// The text for a shell, in quotes if it has special characters.
    var asShellWord: String {
        wholeMatch(of: /[A-Za-z0-9_.,:=@%+\/-]+/) != nil ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}

extension StringProtocol {
    /// The text without white space at its ends.
    var trimmed: String {
        guard let last = lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(self[...last].drop(while: \.isWhitespace))
    }
}

extension Int {
    /// Creates the integer part of a number, or the nearest possible one: a file or another program can contain any.
    init(clamping value: Double) {
        self = Int(exactly: value.rounded(.towardZero)) ?? (value > 0 ? .max : value < 0 ? .min : 0)
    }
}

extension Double {
    /// The number with its digits, without a fraction if it is an integer: `30`, `29.97`.
    var words: String { Int(exactly: self)?.description ?? description }

    /// A duration in seconds: `1 second`, `2.5 seconds`.
    var inSeconds: String { "\(words) \(self == 1 ? "second" : "seconds")" }

    /// A duration as hours, minutes and seconds: `1:02:03`.
    var clock: String {
        let seconds = Int(clamping: self)
        return String(printing: "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

extension Date {
    /// The time of day, such as `17:05`.
    var timeOfDay: String { localText("%H:%M") }

    /// The time of day, such as `17:05:31`.
    var timeOfDayWithSeconds: String { localText("%H:%M:%S") }

    /// The date and time, such as `2026-05-01 17:05:09 +0200`.
    var dayAndTime: String { localText("%Y-%m-%d %H:%M:%S %z") }

    /// The date and time for names of files, such as `20260501-170509`.
    var dayAndTimeInName: String { localText("%Y%m%d-%H%M%S") }

    private func localText(_ format: String) -> String {
        var time = time_t(clamping: timeIntervalSince1970.rounded(.down))
        var local = tm()
        localtime_r(&time, &local)
        return String(unsafeUninitializedCapacity: 64) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, format, &local) }
        }
    }
}

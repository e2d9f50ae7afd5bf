internal import FoundationEssentials
internal import Glibc

// Numbers and times as people read them, the same everywhere: languages and their tables are what makes Foundation large.

extension String {
    /// What `printf` makes of numbers (printf(3)).
    init(printing format: String, _ arguments: any CVarArg...) {
        let length = Swift.max(Int(withVaList(arguments) { vsnprintf(nil, 0, format, $0) }), 0)
        self.init(unsafeUninitializedCapacity: length + 1) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                _ = withVaList(arguments) { vsnprintf(text.baseAddress, text.count, format, $0) }
            }
            return length
        }
    }

    /// With blanks behind it, as long as a column is wide.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 0)) }
}

extension String {
    /// As much as fits into a row of so many columns: whole parts, as commas separate them, where one fits.
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
    /// Rows of at most so many columns, broken at blanks. A word that is longer than a row, such as a link, stays whole.
    /// - Parameter indent: The blanks before each row but the first. Default: as far as the text behind the line's label.
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

    /// Where the text behind a label begins, as in `state:   sharing`; without a label, two blanks further than the line.
    private var labelIndent: Int {
        if let label = prefixMatch(of: /\s*[^:]{1,24}:\s+/)?.output, label.columns <= 32 { return label.columns }
        let blanks = prefix { $0 == " " }.count
        return blanks == 0 ? 0 : blanks + 2
    }

    private var trimmedAtEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}

extension StringProtocol {
    /// The columns that a terminal needs for it at most.
    fileprivate var columns: Int { unicodeScalars.reduce(0) { $0 + $1.columns } }
}

extension Unicode.Scalar {
    /// The most columns that a terminal gives it. Terminals differ: symbols and what combines have one or none on many.
    fileprivate var columns: Int { value < 0x1100 ? 1 : 2 }
}

extension String {
    /// As a shell needs it: in quotes if it has other characters than plain words have.
    var asShellWord: String {
        wholeMatch(of: /[A-Za-z0-9_.,:=@%+\/-]+/) != nil ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}

extension StringProtocol {
    /// Without the white space before and behind it.
    var trimmed: String {
        guard let last = lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(self[...last].drop(while: \.isWhitespace))
    }
}

extension Int {
    /// The whole part of a number, or the nearest number there is: a file or another program can give any.
    init(clamping value: Double) {
        self = Int(exactly: value.rounded(.towardZero)) ?? (value > 0 ? .max : value < 0 ? .min : 0)
    }
}

extension Double {
    /// With the digits that it has, and none where it is whole: `30`, `29.97`.
    var words: String { Int(exactly: self)?.description ?? description }

    /// A time in seconds: `1 second`, `2.5 seconds`.
    var inSeconds: String { "\(words) \(self == 1 ? "second" : "seconds")" }

    /// Seconds as a clock that was started shows them: `1:02:03`.
    var clock: String {
        let seconds = Int(clamping: self)
        return String(printing: "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }
}

extension Date {
    /// `17:05`, as a clock on the wall shows it.
    var timeOfDay: String { localText("%H:%M") }

    /// `17:05:31`.
    var timeOfDayWithSeconds: String { localText("%H:%M:%S") }

    /// `2026-05-01 17:05:09 +0200`.
    var dayAndTime: String { localText("%Y-%m-%d %H:%M:%S %z") }

    /// `20260501-170509`, for names of files.
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

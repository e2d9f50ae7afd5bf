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

    /// The local date and time in the name of a file: `2026-11-28 13.15.02`. Some file systems have no colons.
    var nameOfFile: String { localText("%Y-%m-%d %H.%M.%S") }

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

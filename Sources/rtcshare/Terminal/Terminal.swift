internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareWireFormat

/// What is said to the person at the terminal, on stderr: stdout holds answers only.
///
/// On a terminal the status is one line that is written over and over; off one it is a line every few seconds. On a terminal
/// lines are broken between words; off one each message is one line. Peers,
/// servers and other programs have their words in what is said: whatever steers a terminal is taken out here, once for
/// all, and nothing else in this program writes to stderr.
final class Terminal: Sendable {
    static let shared = Terminal()

    /// Whether a person looks at it.
    let isTerminal = isatty(STDERR_FILENO) == 1
    private let statusLength = Locked(0)
    /// How often a status is worth saying.
    var statusInterval: Duration { isTerminal ? .milliseconds(500) : .seconds(5) }

    /// Says a line that stays.
    func say(_ line: String) { say([line]) }

    /// Says lines that stay.
    func say(_ lines: [String]) {
        ServiceManager.status(lines.first ?? "")
        write(lines)
    }

    /// Draws a QR code, in colors where there are any.
    func show(qrCodeOf text: String) {
        guard let lines = QRCode.lines(for: text, colors: isTerminal) else { return }
        statusLength.withLock { length in
            write((length > 0 ? "\r\u{1B}[K" : "") + lines.map { "  " + $0 + "\n" }.joined())
            length = 0
        }
    }

    /// Writes a line of the log.
    func log(_ line: String) { write([line]) }

    /// Prints the status, which the next one replaces: on a terminal what fits into one row, as the terminal is now.
    func status(_ line: String) {
        guard isTerminal else { return say(line) }
        // A row that is full to its last column wraps on some terminals.
        let line = line.printable.statusRow(columns: Self.size(of: STDERR_FILENO).columns - 1)
        statusLength.withLock { length in
            write("\r\u{1B}[K" + line)
            length = line.count
        }
    }

    /// Ends the status line, so that the shell's prompt stands on a line of its own.
    func finishStatus() {
        statusLength.withLock { length in
            if length > 0 { write("\n") }
            length = 0
        }
    }

    /// The columns that text may have: what `COLUMNS` says, else those of the terminal, else 80; 40 at least.
    static func columns(of descriptor: Int32) -> Int {
        let given = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        return max(40, given ?? size(of: descriptor).columns)
    }

    /// The size of a terminal, or the usual one if it is unknown.
    static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    private func write(_ lines: [String]) {
        statusLength.withLock { length in
            write((length > 0 ? "\r\u{1B}[K" : "") + Self.text(of: lines, on: STDERR_FILENO))
            length = 0
        }
    }

    /// Lines without what steers a terminal, broken between words if `descriptor` is a terminal.
    static func text(of lines: [String], on descriptor: Int32) -> String {
        let columns = isatty(descriptor) == 1 ? columns(of: descriptor) : nil
        return lines.map(\.printable).flatMap { line in columns.map { line.wrapped(columns: $0) } ?? [line] }
            .map { $0 + "\n" }.joined()
    }

    private func write(_ text: String) {
        // Nobody may be there to read; what is being shared goes on all the same.
        try? OpenFile.standardError.write(Data(text.utf8))
    }
}

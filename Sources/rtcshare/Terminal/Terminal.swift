internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareWireFormat

/// The messages for the user, on stderr: stdout has only answers.
///
/// On a terminal the status is one line that is overwritten; otherwise it is a line every few seconds. On a terminal
/// lines are broken between words; otherwise each message is one line. Messages contain texts of peers, servers and
/// other programs: only here, all control characters are removed, and nothing else in this program writes to stderr.
///
/// A terminal that the user has stopped (Ctrl-S), or a full pipe, delays nothing: the text waits here.
final class Terminal: Sendable {
    static let shared = Terminal()

    /// Whether stderr is a terminal.
    let isTerminal = isatty(STDERR_FILENO) == 1
    private let pending = Locked(PendingText())
    /// The minimum interval of status lines.
    var statusInterval: Duration { isTerminal ? .milliseconds(500) : .seconds(5) }

    /// Prints a permanent line.
    func say(_ line: String) { say([line]) }

    /// Prints permanent lines.
    func say(_ lines: [String]) {
        ServiceManager.status(lines.first ?? "")
        write(lines)
    }

    /// Draws a QR code, in colors if the terminal has them.
    func show(qrCodeOf text: String) {
        guard let lines = QRCode.lines(for: text, colors: isTerminal) else { return }
        write(lines.map { "  " + $0 + "\n" }.joined())
    }

    /// Prints a line with a secret, of which the service manager learns nothing.
    func show(secret line: String) { write([line]) }

    /// Writes a line of the log.
    func log(_ line: String) { write([line]) }

    /// Prints the status, which the next one replaces: on a terminal, the part that fits into one row of its current
    /// size.
    func status(_ line: String) {
        guard isTerminal else { return say(line) }
        // A row that is full to its last column wraps on some terminals.
        let line = line.printable.statusRow(columns: Self.size(of: STDERR_FILENO).columns - 1)
        pending.withLock { $0.setStatus(line, to: Self.writeWhatFits) }
    }

    /// Ends the status line, so that the shell's prompt begins on a new line.
    func finishStatus() {
        pending.withLock { $0.finishStatus(to: Self.writeWhatFits) }
    }

    /// Returns the number of columns for text: that of `COLUMNS`, otherwise that of the terminal, otherwise 80; at
    /// least 40.
    static func columns(of descriptor: Int32) -> Int {
        let given = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        return max(40, given ?? size(of: descriptor).columns)
    }

    /// Returns the size of a terminal, or the usual one if it is unknown.
    static func size(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    private func write(_ lines: [String]) { write(Self.text(of: lines, on: STDERR_FILENO)) }

    private func write(_ text: String) { pending.withLock { $0.append(text, to: Self.writeWhatFits) } }

    /// Writes waiting text, if that is possible now.
    func flush() { pending.withLock { $0.write(to: Self.writeWhatFits) } }

    /// Waits briefly until all text is written, at the end of the process.
    func drain() {
        let end = ContinuousClock.now + Self.endPatience
        while pending.withLock({ !$0.isEmpty }), ContinuousClock.now < end {
            var stream = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
            poll(&stream, 1, 100)
            flush()
        }
    }

    private static let endPatience = Duration.seconds(1)

    /// A non-blocking descriptor of the same terminal or pipe as stderr, opened separately, because other processes
    /// share that of stderr; otherwise stderr.
    private static let output: Int32 = {
        var status = stat()
        let isPipe = fstat(STDERR_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
        guard isPipe || isatty(STDERR_FILENO) == 1 else { return STDERR_FILENO }
        let own = open("/proc/self/fd/\(STDERR_FILENO)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        return own >= 0 ? own : STDERR_FILENO
    }()

    /// Writes the beginning of the text to stderr, and returns the number of its bytes: all of them if there is no
    /// reader any more.
    private static func writeWhatFits(_ bytes: ArraySlice<UInt8>) -> Int {
        var stream = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard poll(&stream, 1, 0) > 0 else { return 0 }
        // A pipe that is ready accepts this much at once, unless another process was faster. A terminal may accept
        // less.
        let count = bytes.prefix(Int(PIPE_BUF)).withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : bytes.count
    }

    /// Returns lines without control characters, broken between words if `descriptor` is a terminal.
    static func text(of lines: [String], on descriptor: Int32) -> String {
        let columns = isatty(descriptor) == 1 ? columns(of: descriptor) : nil
        return lines.map(\.printable).flatMap { line in columns.map { line.wrapped(columns: $0) } ?? [line] }
            .map { $0 + "\n" }.joined()
    }
}

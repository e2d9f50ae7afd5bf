internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareWireFormat

/// The files that the command line names, `-` among them.
enum StandardStreams {
    /// Whether what is written there stays in the journal of a service.
    static var areKept: Bool { ServiceManager.keeps(STDOUT_FILENO) || ServiceManager.keeps(STDERR_FILENO) }

    /// Opens something in place of each standard stream that is closed. Otherwise the next socket gets its number, and is
    /// written to, or closed, as if it were the stream. Writing to the stream fails as before.
    static func replaceClosed() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            // It gets the lowest number that is free, which is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Whether answers and everything for people go to the same terminal.
    static var areOneTerminal: Bool { isOutputTerminal && isatty(STDERR_FILENO) == 1 }

    /// Whether a person sees standard output at a terminal.
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The columns of standard output: what `COLUMNS` says, else those of the terminal, else 80. Help needs 40 at least.
    static var columns: Int {
        let given = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        return max(40, given ?? Terminal.size(of: STDOUT_FILENO).columns)
    }

    /// Nothing that this program reads as text is larger.
    static let maximumTextBytes = 1 << 20
    /// A capture may be longer.
    private static let maximumBytes = 1 << 28

    /// The text of a file, or of standard input for `-`.
    static func readText(
        _ path: String, what: String, atMost limit: Int = maximumTextBytes
    ) throws(CommandFailure) -> String {
        if path == "-", isatty(STDIN_FILENO) == 1 {
            Terminal.shared.say("Paste the \(what), then press Ctrl-D on a line of its own.")
        }
        let bytes = try readBytes(path, what: what, atMost: limit)
        // Some editors begin a file with a mark of UTF-8.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        guard let text = String(validating: content, as: UTF8.self) else {
            throw CommandFailure(.badInput, "the \(what) \(path) is not text in UTF-8; is it the right file?")
        }
        return text
    }

    /// The bytes of a file, or of standard input for `-`.
    static func readBytes(
        _ path: String, what: String, atMost limit: Int = maximumBytes
    ) throws(CommandFailure) -> [UInt8] {
        let data: Data
        do {
            let file = path == "-" ? OpenFile.standardInput : try OpenFile(reading: path)
            data = try file.readToEnd(atMost: limit)
        } catch {
            throw CommandFailure(.inputMissing, "can't read the \(what) \(path): \(reason(of: error))")
        }
        guard data.count <= limit else {
            throw CommandFailure(.badInput, "the \(what) \(path) is larger than \(limit) bytes; is it the right file?")
        }
        return [UInt8](data)
    }

    /// Writes an answer for people to stdout, without what steers a terminal.
    static func writeLines(_ lines: [String]) throws(CommandFailure) {
        try write(Data(lines.map { $0.printable + "\n" }.joined().utf8))
    }

    /// Writes an answer over the previous one, which took `count` rows of the terminal; returns how many this one takes.
    ///
    /// Each line takes one row at most, and lines that don't fit on the screen are left out.
    static func redraw(_ lines: [String], over count: Int) throws(CommandFailure) -> Int {
        let size = Terminal.size(of: STDOUT_FILENO)
        let rows = lines.prefix(max(1, size.rows - 1)).map { $0.printable.statusRow(columns: size.columns - 1) }
        let begin = count > 0 ? "\u{1B}[\(count)F\u{1B}[J" : ""
        try write(Data((begin + rows.map { $0 + "\n" }.joined()).utf8))
        return rows.count
    }

    /// Writes JSON to stdout, in one line unless `isPretty`.
    static func writeJSON(_ value: some Encodable, isPretty: Bool = true) throws {
        try write(try JSONText.encode(value, isPretty: isPretty) + Data([UInt8(ascii: "\n")]))
    }

    /// Writes JSON to stdout in one line.
    static func writeJSONLine(_ value: some Encodable) throws {
        try write(try JSONText.encode(value) + Data([UInt8(ascii: "\n")]))
    }

    /// Writes an answer for programs to stdout as it stands: a description, a script.
    static func writeData(_ text: String) throws(CommandFailure) {
        try write(Data(text.utf8))
    }

    private static func write(_ data: Data) throws(CommandFailure) {
        do {
            try OpenFile.standardOutput.write(data)
        } catch {
            throw CommandFailure(.inputOutput, "can't write to standard output: \(reason(of: error))")
        }
    }

    /// Ends standard output for whoever reads it; what this process still writes there goes nowhere.
    static func closeOutput() {
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { return }
        dup2(nowhere, STDOUT_FILENO)
        close(nowhere)
    }

    /// The system's own words for what failed.
    static func reason(of error: any Error) -> String {
        let cause = error as? POSIXError ?? (error as? CocoaError)?.underlying as? POSIXError
        return switch cause?.code {
        case .ENOENT: "there is no such file"
        case .EACCES: "permission denied"
        case let code?: String(cString: strerror(code.rawValue))
        case nil: "\(error)"
        }
    }
}

internal import FoundationEssentials
internal import Glibc
internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareWireFormat

/// The files that the command line names, including `-`.
enum StandardStreams {
    /// Whether text on standard output or standard error is stored in the journal of a service.
    static var areKept: Bool { ServiceManager.keeps(STDOUT_FILENO) || ServiceManager.keeps(STDERR_FILENO) }

    /// Opens a replacement for each standard stream that is closed. Otherwise the next socket gets its number, and is
    /// written to, or closed, as if it were the stream. Writing to the stream fails as before.
    static func replaceClosed() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            // It gets the lowest free number, which is this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    /// Whether answers and messages for people go to the same terminal.
    static var areOneTerminal: Bool { isOutputTerminal && isatty(STDERR_FILENO) == 1 }

    /// Whether standard output is a terminal.
    static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// The maximum size of a text to read.
    static let maximumTextBytes = 1 << 20
    /// The maximum size of other files: a capture may be longer.
    private static let maximumBytes = 1 << 28

    /// Returns the text of a file, or of standard input for `-`.
    static func readText(
        _ path: String, what: String, atMost limit: Int = maximumTextBytes
    ) throws(CommandFailure) -> String {
        if path == "-", isatty(STDIN_FILENO) == 1 {
            Terminal.shared.say("Paste the \(what), then press Ctrl-D on a line of its own.")
        }
        let bytes = try readBytes(path, what: what, atMost: limit)
        guard let text = decode(bytes) else {
            let kind = FileKind.name(of: bytes) ?? "not text in UTF-8 or UTF-16"
            throw CommandFailure(
                .badInput, "can't use \(path) as the \(what): it is \(kind)", try: "choose another file")
        }
        return text
    }

    /// Returns the text in UTF-8, or in UTF-16 with a byte order mark, as some editors save it; nil for other bytes.
    static func decode(_ bytes: [UInt8]) -> String? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        guard bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]), bytes.count % 2 == 0 else {
            let content = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
            return String(validating: content, as: UTF8.self)
        }
        let isLittleEndian = bytes[0] == 0xFF
        let units = stride(from: 2, to: bytes.count, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittleEndian ? second << 8 | first : first << 8 | second
        }
        return String(validating: units, as: UTF16.self)
    }

    /// Returns the bytes of a file, or of standard input for `-`.
    static func readBytes(
        _ path: String, what: String, atMost limit: Int = maximumBytes
    ) throws(CommandFailure) -> [UInt8] {
        let data: Data
        do {
            let file = path == "-" ? OpenFile.standardInput : try OpenFile(reading: path)
            data = try file.readToEnd(atMost: limit)
        } catch {
            throw CommandFailure(
                .inputMissing, "can't read the \(what) \(path): \(reason(of: error, path: path))",
                try: "check the path of the file")
        }
        guard data.count <= limit else {
            throw CommandFailure(
                .badInput, "can't use \(path) as the \(what): it is larger than \(limit) bytes",
                try: "choose another file")
        }
        return [UInt8](data)
    }

    /// Writes an answer for people to stdout, without control characters; on a terminal, broken between words.
    static func writeLines(_ lines: [String]) throws(CommandFailure) {
        try write(Data(Terminal.text(of: lines, on: STDOUT_FILENO).utf8))
    }

    /// Writes help to stdout. Its examples keep their lines.
    static func writeHelp(_ help: HelpText) throws(CommandFailure) {
        let lines = help.lines(columns: Terminal.columns(of: STDOUT_FILENO))
        try write(Data(lines.map { $0.printable + "\n" }.joined().utf8))
    }

    /// Writes an answer over the previous one, which had `count` rows of the terminal; returns the number of its rows.
    ///
    /// Each line has at most one row, and lines that don't fit on the screen are omitted.
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

    /// Writes an answer for programs to stdout unchanged: a session description, a script.
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

    /// Ends standard output for its reader; later output of this process is discarded.
    static func closeOutput() {
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { return }
        dup2(nowhere, STDOUT_FILENO)
        close(nowhere)
    }

    /// Returns the system's text for an error, with the file at `path`.
    static func reason(of error: any Error, path: String? = nil) -> String {
        let cause = error as? POSIXError ?? (error as? CocoaError)?.underlying as? POSIXError
        return cause.map { systemMessage($0.code.rawValue, path: path) } ?? "\(error)"
    }
}

/// The kinds of files that users may pass instead of text.
enum FileKind {
    private static let signatures: [(bytes: [UInt8], name: String)] = [
        ([0x89, 0x50, 0x4E, 0x47], "a PNG image"), ([0xFF, 0xD8, 0xFF], "a JPEG image"),
        (Array("GIF8".utf8), "a GIF image"),
        ([0x1A, 0x45, 0xDF, 0xA3], "a WebM or Matroska video"), (Array("DKIF".utf8), "an IVF video"),
        (Array("RIFF".utf8), "a WAVE, AVI or WebP file"), (Array("YUV4MPEG2".utf8), "a y4m video"),
        (Array("%PDF".utf8), "a PDF document"), ([0x50, 0x4B, 0x03, 0x04], "a ZIP archive"),
        ([0x1F, 0x8B], "a gzip archive"), ([0x7F, 0x45, 0x4C, 0x46], "a program"),
        ([0xD4, 0xC3, 0xB2, 0xA1], "a pcap capture"), ([0x0A, 0x0D, 0x0D, 0x0A], "a pcapng capture"),
    ]

    /// Returns the kind of a file that begins with these bytes, with its article; nil if it is unknown.
    static func name(of bytes: [UInt8]) -> String? { signatures.first { bytes.starts(with: $0.bytes) }?.name }
}

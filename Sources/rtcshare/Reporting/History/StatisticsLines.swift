internal import FoundationEssentials
internal import RTCShareContentShare
internal import Glibc

/// The reports of a file that `--stats` wrote, read one after the other, because the file may be larger than memory.
struct StatisticsLines {
    private let path: String
    private let file: OpenFile
    /// The data that was read and not returned yet.
    private var buffer = Data()
    private var isAtEnd = false
    private(set) var lineNumber = 0
    /// Whether the file ends with a part of a line, because the writer was terminated.
    private(set) var isCutOff = false
    private var reportCount = 0

    private static let chunk = 1 << 16
    /// The maximum length of a line: a report of hundreds of streams and candidates is shorter.
    private static let longestLine = 1 << 24

    /// Opens a file, or standard input for `-`.
    init(path: String) throws(CommandFailure) {
        self.path = path
        do {
            file = path == "-" ? .standardInput : try OpenFile(reading: path)
        } catch {
            throw CommandFailure(
                .inputMissing, "can't read the statistics \(path): \(StandardStreams.reason(of: error, path: path))",
                try: "check the path of the file")
        }
    }

    /// The name of the file for people.
    var name: String { path == "-" ? "standard input" : path }

    /// Returns the next report; nil at the end. Throws if the file has no report at all.
    mutating func next() throws(CommandFailure) -> [ReportedObject]? {
        while let (line, isWhole) = try nextLine() {
            guard line.contains(where: { !Self.isSpace($0) }) else { continue }
            do throws(ReportedObject.Defect) {
                let report = try ReportedObject.report(line)
                reportCount += 1
                return report
            } catch {
                let begins = line.first { !Self.isSpace($0) } == UInt8(ascii: "[")
                if isWhole || reportCount == 0 && !begins { throw failure(error, line) }
                isCutOff = true
                break
            }
        }
        guard reportCount > 0 else { throw nothingFound }
        return nil
    }

    private func failure(_ defect: ReportedObject.Defect, _ line: Data) -> CommandFailure {
        if reportCount == 0, let kind = FileKind.name(of: [UInt8](line.prefix(16))) {
            return CommandFailure(.badInput, "\(name) is \(kind), not a file of statistics", try: Self.advice)
        }
        return CommandFailure(
            .badInput, "line \(lineNumber) of \(name) is not a statistics report: \(defect)",
            try: reportCount > 0 ? "remove this line from the file" : Self.advice)
    }

    private static let advice = "rtcshare report with a file that --stats wrote"

    private var nothingFound: CommandFailure {
        let reason = isCutOff ? "\(name) has only line \(lineNumber), which is incomplete" : "\(name) is empty"
        return CommandFailure(
            .badInput, "\(reason). --stats writes a line per second while there is a viewer", try: Self.advice)
    }

    /// Returns the next line without its end, and whether it had one.
    private mutating func nextLine() throws(CommandFailure) -> (line: Data, isWhole: Bool)? {
        var searched = buffer.startIndex
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[buffer.startIndex..<end]
                buffer = buffer[(end + 1)...]
                lineNumber += 1
                return (Data(line), true)
            }
            searched = buffer.endIndex
            guard !isAtEnd else {
                guard !buffer.isEmpty else { return nil }
                defer { buffer = Data() }
                lineNumber += 1
                return (buffer, false)
            }
            guard buffer.count <= Self.longestLine else {
                throw CommandFailure(
                    .badInput,
                    "line \(lineNumber + 1) of \(name) is longer than \(Self.longestLine) bytes", try: Self.advice)
            }
            let consumed = searched - buffer.startIndex
            try readMore()
            searched = buffer.startIndex + consumed
        }
    }

    private mutating func readMore() throws(CommandFailure) {
        do {
            let part = try file.read(atMost: Self.chunk)
            guard !part.isEmpty else {
                isAtEnd = true
                return
            }
            // Returned data is discarded.
            buffer = Data(buffer) + part
        } catch {
            throw CommandFailure(
                .inputMissing, "can't read the statistics \(path): \(StandardStreams.reason(of: error, path: path))",
                try: "check the path of the file")
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

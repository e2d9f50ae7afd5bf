extension SessionDescription {
    /// Parses a description whose lines end in CR LF or LF; the last may lack its end, and blank lines may follow it.
    ///
    /// This method checks the structure and the lines `v o c t b m`. Attributes are checked when they are read. Lines
    /// that are optional in browsers (`s=`, `t=`, `c=`) can be missing, and unknown ones are kept.
    package static func parse(_ text: String) throws(SDPError) -> SessionDescription {
        try parse(utf8: Array(text.utf8))
    }

    /// Parses a description from the bytes of a file.
    package static func parse(utf8 bytes: [UInt8]) throws(SDPError) -> SessionDescription {
        var parser = SessionParser()
        for line in try SDPLine.split(bytes) {
            try parser.append(line)
        }
        return try parser.finish()
    }
}

extension SDPLine {
    /// Splits a text into numbered lines. Throws an error for malformed lines.
    static func split(_ bytes: [UInt8]) throws(SDPError) -> [SDPLine] {
        guard bytes.count <= SDPLimits.bytes else {
            throw SDPError(line: 0, text: "", rule: .limit(of: .bytes, maximum: SDPLimits.bytes))
        }
        let raw = splitRaw(bytes)
        guard !raw.isEmpty else { throw SDPError(line: 0, text: "", rule: .empty) }
        var lines: [SDPLine] = []
        for bytes in raw {
            let number = lines.count + 1
            guard number <= SDPLimits.lines else {
                throw SDPError(line: number, text: "", rule: .limit(of: .lines, maximum: SDPLimits.lines))
            }
            lines.append(try SDPLine(bytes, number: number))
        }
        return lines
    }

    /// Returns the bytes of each line without its end, up to the last line that is not blank.
    static func splitRaw(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        guard let end = bytes.lastIndex(where: { !isWhiteSpace($0) }) else { return [] }
        // Spaces can belong to the last line. Only line ends and the text after them are removed.
        let tail = bytes[(end + 1)...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.endIndex
        return bytes[..<tail].split(separator: 10, omittingEmptySubsequences: false)
            .map { $0.last == 13 ? $0.dropLast() : $0 }
    }

    init(_ bytes: ArraySlice<UInt8>, number: Int) throws(SDPError) {
        let shown = String(decoding: bytes.prefix(200), as: UTF8.self)
        func broken(_ rule: SDPError.Rule) -> SDPError { SDPError(line: number, text: shown, rule: rule) }
        guard bytes.count <= SDPLimits.bytesInALine else {
            throw broken(.limit(of: .bytesInALine, maximum: SDPLimits.bytesInALine))
        }
        if number == 1, bytes.first(where: { !SDPLine.isWhiteSpace($0) }) == UInt8(ascii: "{") { throw broken(.json) }
        if let byte = bytes.first(where: { $0 == 0 || $0 == 13 }) { throw broken(.forbiddenByte(byte)) }
        guard bytes.count >= 2, let type = bytes.first, type.isLetter, bytes[bytes.startIndex + 1] == UInt8(ascii: "=")
        else { throw broken(number == 1 ? .version : .notALine) }
        guard let value = String(validating: bytes.dropFirst(2), as: UTF8.self) else { throw broken(.notUTF8) }
        self.init(type: type, value: value, number: number)
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 32 || (9...13).contains(byte)
    }
}

/// Sorts lines into the session and its media sections.
private struct SessionParser {
    private var lines: [SDPLine] = []
    private var media: [MediaDescription] = []

    mutating func append(_ line: SDPLine) throws(SDPError) {
        switch line.type {
        case UInt8(ascii: "v"):
            guard lines.isEmpty else { throw SDPError(line, rule: .repeated("v=")) }
            guard line.content.decimal(UInt8.self) == 0 else { throw SDPError(line, rule: .version) }
        case _ where lines.isEmpty:
            throw SDPError(line, rule: .version)
        case UInt8(ascii: "o"):
            guard lines.count == 1 else { throw SDPError(line, rule: .repeated("o=")) }
            try check(
                line, Origin.init, "<username> <session id> <version> IN IP4|IP6 <address>", "RFC 8866 §5.2")
        case _ where lines.count == 1:
            throw SDPError(line, rule: .originMissing)
        case UInt8(ascii: "s"):
            let repeated = media.isEmpty && lines.contains { $0.type == line.type }
            if repeated { throw SDPError(line, rule: .repeated("s=")) }
        case UInt8(ascii: "c"):
            try check(line, ConnectionData.init, "IN IP4|IP6 <address>", "RFC 8866 §5.7")
        case UInt8(ascii: "t"):
            try check(line, Timing.init, "<start> <stop>", "RFC 8866 §5.9")
        case UInt8(ascii: "b"):
            guard Bandwidth(line) != nil else {
                throw SDPError(
                    line, rule: .malformed("b=", expected: "<type>:<number>", section: "RFC 8866 §5.8"))
            }
        case UInt8(ascii: "a"):
            // A name can have characters that RFC 8866 does not allow: then nothing here reads the line.
            guard let first = line.content.utf8.first, !first.isBlank else {
                throw SDPError(
                    line, rule: .malformed("a=", expected: "<name>[:<value>]", section: "RFC 8866 §5.13"))
            }
        case UInt8(ascii: "m"):
            guard media.count < SDPLimits.mediaSections else {
                throw SDPError(line, rule: .limit(of: .mediaSections, maximum: SDPLimits.mediaSections))
            }
            media.append(try MediaDescription(parsing: line))
            return
        default:
            break
        }
        if media.isEmpty {
            lines.append(line)
        } else {
            media[media.count - 1].lines.append(line)
        }
    }

    func finish() throws(SDPError) -> SessionDescription {
        guard lines.count > 1 else {
            throw SDPError(line: lines.last?.number ?? 0, text: lines.last?.description ?? "", rule: .originMissing)
        }
        return SessionDescription(lines: lines, media: media)
    }

    private func check<Value>(
        _ line: SDPLine, _ read: (String) -> Value?, _ expected: String, _ section: String
    ) throws(SDPError) {
        guard read(line.value) == nil else { return }
        let name = "\(Unicode.Scalar(line.type))="
        throw SDPError(line, rule: .malformed(name, expected: expected, section: section))
    }
}

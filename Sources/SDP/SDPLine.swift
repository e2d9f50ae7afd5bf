/// One line of a description, as written.
package struct SDPLine: Sendable {
    /// The letter before the `=`, in ASCII.
    package let type: UInt8
    /// The text after the `=`.
    package let value: String
    /// The line number in the parsed text, counted from 1; 0 for a line that was not parsed.
    package let number: Int

    /// Creates a line for a description that is built.
    package init(_ type: Unicode.Scalar, _ value: String) {
        self.init(type: UInt8(truncatingIfNeeded: type.value), value: value, number: 0)
    }

    /// Creates an attribute line. Without a value it is a flag.
    package init(attribute name: String, _ value: String? = nil) {
        self.init("a", value.map { "\(name):\($0)" } ?? name)
    }

    init(type: UInt8, value: String, number: Int) {
        self.type = type
        self.value = value
        self.number = number
    }

    /// The value without the spaces at its end, which have no meaning. Some deployed writers leave them.
    var content: Substring {
        let bytes = value.utf8
        let last = bytes.lastIndex { !$0.isBlank }
        return value[..<(last.map(bytes.index(after:)) ?? bytes.startIndex)]
    }

    /// The name of an attribute: the text before the first colon of an `a=` line; nil for other lines.
    package var attributeName: Substring? {
        guard type == UInt8(ascii: "a") else { return nil }
        let content = content
        return content[..<(content.utf8.firstIndex(of: UInt8(ascii: ":")) ?? content.endIndex)]
    }

    /// The value of an attribute: the text after the first colon; nil for a flag and for other lines.
    package var attributeValue: Substring? {
        let content = content
        guard type == UInt8(ascii: "a"), let colon = content.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        return content[content.utf8.index(after: colon)...]
    }
}

extension SDPLine: Hashable {
    /// Whether two lines have the same type and value, whatever their numbers.
    package static func == (left: SDPLine, right: SDPLine) -> Bool {
        left.type == right.type && left.value == right.value
    }

    /// Hashes the type and the value.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        hasher.combine(value)
    }
}

extension SDPLine: CustomStringConvertible {
    /// The line without its end.
    package var description: String { "\(Unicode.Scalar(type))=\(value)" }
}

/// The lines of a session or of a media section, with access to its attributes by name (RFC 8866 §5.13).
package protocol SDPSection {
    /// Every line of the section in order, without the `m=` line.
    var lines: [SDPLine] { get set }
}

extension SDPSection {
    /// Returns the first attribute line of a name.
    package func attribute(_ name: String) -> SDPLine? {
        lines.first { $0.hasAttributeName(name) }
    }

    /// Returns every attribute line of a name, in order.
    package func attributes(_ name: String) -> [SDPLine] {
        lines.filter { $0.hasAttributeName(name) }
    }

    /// Whether the section has an attribute of this name.
    package func has(_ name: String) -> Bool {
        attribute(name) != nil
    }

    /// Adds an attribute line at the end.
    package mutating func append(attribute name: String, _ value: String? = nil) {
        lines.append(SDPLine(attribute: name, value))
    }

    /// Returns the value of the first line of a type.
    package func value(of type: Unicode.Scalar) -> String? {
        line(type)?.value
    }

    func line(_ type: Unicode.Scalar) -> SDPLine? {
        lines.first { UInt32($0.type) == type.value }
    }
}

extension SDPLine {
    /// Whether the line is an attribute of this name. Names are case-sensitive (RFC 8866 §9).
    func hasAttributeName(_ name: String) -> Bool {
        guard type == UInt8(ascii: "a"), value.hasPrefix(name) else { return false }
        let rest = value.utf8.dropFirst(name.utf8.count)
        return rest.first == UInt8(ascii: ":") || rest.allSatisfy(\.isBlank)
    }
}

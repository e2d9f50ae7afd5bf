/// A session description (RFC 8866): the session's lines and its media sections.
///
/// Every line is kept as written, in order. Typed accessors interpret the lines, so that parsing and writing reproduces
/// a description, whatever extensions it contains.
package struct SessionDescription: Hashable, Sendable, SDPSection {
    /// The lines before the first `m=`, including `v=`.
    package var lines: [SDPLine]
    /// The media sections in order.
    package var media: [MediaDescription]

    /// Creates a description without media.
    package init(origin: Origin, sessionName: String = "-", timing: String = "0 0") {
        lines = [
            SDPLine("v", "0"), SDPLine("o", origin.description), SDPLine("s", sessionName), SDPLine("t", timing),
        ]
        media = []
    }

    init(lines: [SDPLine], media: [MediaDescription]) {
        self.lines = lines
        self.media = media
    }

    /// The creator of the description and its version (RFC 8866 §5.2). It is nil only if ``lines`` was changed.
    package var origin: Origin? { value(of: "o").flatMap(Origin.init) }

    /// The value of the `s=` line; nil if there is none.
    package var sessionName: String? { value(of: "s") }

    /// The time of the session (RFC 8866 §5.9); nil if there is no `t=` line.
    package var timing: Timing? { value(of: "t").flatMap(Timing.init) }

    /// The connection data of the session (RFC 8866 §5.7).
    package var connection: ConnectionData? { value(of: "c").flatMap(ConnectionData.init) }

    /// The session's `b=` lines.
    package var bandwidths: [Bandwidth] { lines.compactMap(Bandwidth.init) }
}

extension SessionDescription: CustomStringConvertible {
    /// The text, with CR LF at the end of each line.
    package var description: String {
        var text = ""
        for line in lines { text += "\(line)\r\n" }
        for section in media {
            text += "\(section.line)\r\n"
            for line in section.lines { text += "\(line)\r\n" }
        }
        return text
    }
}

/// A media section: an `m=` line and the lines after it (RFC 8866 §5.14).
package struct MediaDescription: Hashable, Sendable, SDPSection {
    /// The `m=` line as written.
    package let line: SDPLine
    /// The media type: `audio`, `video`, `application` or another one.
    package let kind: String
    /// The transport port; 0 rejects the section (or, with `a=bundle-only`, leaves it to its bundle).
    package let port: UInt16
    /// The number of consecutive ports; nil if the line does not name one.
    package let portCount: Int?
    /// The transport protocol, such as `UDP/TLS/RTP/SAVPF`.
    package let `protocol`: String
    /// The formats: payload types for RTP, other names for other protocols.
    package let formats: [String]
    /// The lines after the `m=` line.
    package var lines: [SDPLine]

    /// Creates a section without lines.
    package init(kind: String, port: UInt16, protocol: String, formats: [String]) {
        self.kind = kind
        self.port = port
        self.portCount = nil
        self.protocol = `protocol`
        self.formats = formats
        line = SDPLine("m", "\(kind) \(port) \(`protocol`) \(formats.joined(separator: " "))")
        lines = []
    }

    init(parsing line: SDPLine) throws(SDPError) {
        let malformed = SDPError(
            line,
            rule: .malformed(
                "m=", expected: "<kind> <port>[/<number>] <protocol> <format> …", section: "RFC 8866 §5.14"))
        let fields = line.value.fields
        guard fields.count >= 4, fields[0].isToken else { throw malformed }
        let ports = fields[1].parts(at: "/")
        guard ports.count <= 2, let port = ports[0].decimal(UInt16.self) else { throw malformed }
        if ports.count == 2 {
            guard let count = ports[1].decimal(Int.self), count > 0 else { throw malformed }
            portCount = count
        } else {
            portCount = nil
        }
        self.line = line
        self.port = port
        kind = String(fields[0])
        self.protocol = String(fields[2])
        formats = fields[3...].map(String.init)
        lines = []
    }

    /// The section's own connection data. If it is nil, the session's applies.
    package var connection: ConnectionData? { value(of: "c").flatMap(ConnectionData.init) }

    /// The section's `b=` lines.
    package var bandwidths: [Bandwidth] { lines.compactMap(Bandwidth.init) }

    /// Whether the port rejects the section (RFC 3264 §6): the port is 0, and not because a bundle carries the section
    /// (RFC 9143 §6).
    package var isRejected: Bool { port == 0 && !has("bundle-only") }
}

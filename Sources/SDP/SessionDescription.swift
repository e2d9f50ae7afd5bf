/// A session description (RFC 8866): the session's lines and its media sections.
///
/// Every line is kept as it was written, in order; what lines mean is read through typed accessors, so that parsing and
/// writing reproduces a description, whatever extensions it holds.
package struct SessionDescription: Hashable, Sendable, SDPSection {
    /// The lines before the first `m=`, `v=` included.
    package var lines: [SDPLine]
    /// The media sections in order.
    package var media: [MediaDescription]

    /// A description with no media yet.
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

    /// Who made the description, and which version of it this is (RFC 8866 §5.2). Nil only where ``lines`` was changed.
    package var origin: Origin? { value(of: "o").flatMap(Origin.init) }

    /// The `s=` line's value, nil where there is none.
    package var sessionName: String? { value(of: "s") }

    /// When the session runs (RFC 8866 §5.9); nil where there is no `t=` line.
    package var timing: Timing? { value(of: "t").flatMap(Timing.init) }

    /// The connection data of the session (RFC 8866 §5.7).
    package var connection: ConnectionData? { value(of: "c").flatMap(ConnectionData.init) }

    /// The session's `b=` lines.
    package var bandwidths: [Bandwidth] { lines.compactMap(Bandwidth.init) }
}

extension SessionDescription: CustomStringConvertible {
    /// The text, each line ended by CR LF.
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

/// A media section: an `m=` line and what follows it (RFC 8866 §5.14).
package struct MediaDescription: Hashable, Sendable, SDPSection {
    /// The `m=` line as it was written.
    package let line: SDPLine
    /// `audio`, `video`, `application` or another kind.
    package let kind: String
    /// The transport port; 0 rejects the section (or, with `a=bundle-only`, leaves it to its bundle).
    package let port: UInt16
    /// How many ports follow one another; nil where the line does not say.
    package let portCount: Int?
    /// Such as `UDP/TLS/RTP/SAVPF`.
    package let `protocol`: String
    /// Payload types of RTP, other names for other protocols.
    package let formats: [String]
    /// The lines after the `m=` line.
    package var lines: [SDPLine]

    /// A section with no lines yet.
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

    /// The section's own connection data; where it has none, the session's holds.
    package var connection: ConnectionData? { value(of: "c").flatMap(ConnectionData.init) }

    /// The section's `b=` lines.
    package var bandwidths: [Bandwidth] { lines.compactMap(Bandwidth.init) }

    /// Whether the port rejects the section (RFC 3264 §6): 0, and not only there because a bundle carries it
    /// (RFC 9143 §6).
    package var isRejected: Bool { port == 0 && !has("bundle-only") }
}

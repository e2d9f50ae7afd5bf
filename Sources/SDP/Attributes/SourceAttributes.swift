/// `a=msid`: the media stream and track that a section carries (RFC 8830 §2).
package struct MediaStreamAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The stream's id; `-` means that the track belongs to no stream.
    package let streamID: String
    /// The track's id.
    package let trackID: String?

    package init(streamID: String, trackID: String?) {
        self.streamID = streamID
        self.trackID = trackID
    }

    init?(_ text: Substring) {
        let fields = text.fields
        // RFC 8830 requires tokens, but deployed peers also write `:`, `/` and `=`, and no id is sent to another peer.
        guard (1...2).contains(fields.count) else { return nil }
        self.init(streamID: String(fields[0]), trackID: fields.count == 2 ? String(fields[1]) : nil)
    }

    /// The value of the line.
    package var description: String { trackID.map { "\(streamID) \($0)" } ?? streamID }
}

/// `a=ssrc`: an attribute of one synchronization source (RFC 5576 §4.1).
package struct SourceAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The source's SSRC.
    package let ssrc: UInt32
    /// The attribute's name, such as `cname`.
    package let name: String
    /// The attribute's value, after the colon.
    package let value: String?

    package init(ssrc: UInt32, name: String, value: String?) {
        self.ssrc = ssrc
        self.name = name
        self.value = value
    }

    init?(_ text: Substring) {
        let fields = text.fields(atMost: 2)
        guard let first = fields.first, let ssrc = first.decimal(UInt32.self) else { return nil }
        guard fields.count == 2 else { return nil }
        let parts = fields[1].parts(at: ":", atMost: 2)
        guard parts[0].isToken else { return nil }
        self.init(ssrc: ssrc, name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : nil)
    }

    /// The value of the line.
    package var description: String { "\(ssrc) \(name)" + (value.map { ":\($0)" } ?? "") }
}

/// `a=ssrc-group`: sources that belong together (RFC 5576 §4.2).
package struct SourceGroupAttribute: Hashable, Sendable, CustomStringConvertible {
    /// The semantics; `FID` binds a source to its retransmissions.
    package let semantics: String
    /// The sources, in an order that the semantics define.
    package let ssrcs: [UInt32]

    package init(semantics: String, ssrcs: [UInt32]) {
        self.semantics = semantics
        self.ssrcs = ssrcs
    }

    init?(_ text: Substring) {
        let fields = text.fields
        guard fields.count >= 2, fields[0].isToken else { return nil }
        var ssrcs: [UInt32] = []
        for field in fields.dropFirst() {
            guard let ssrc = field.decimal(UInt32.self) else { return nil }
            ssrcs.append(ssrc)
        }
        self.init(semantics: String(fields[0]), ssrcs: ssrcs)
    }

    /// The value of the line.
    package var description: String { "\(semantics) " + ssrcs.map(String.init).joined(separator: " ") }
}

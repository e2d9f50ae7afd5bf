internal import RTCShareWireFormat

/// The owner of a media stream: an attendee (`alice`), or the content of an attendee (`alice#content`).
///
/// An id is split at its last `#`, into a base and a modality. The only known modality is `content`. Any other text
/// after a `#` is part of the base.
public struct AttendeeID: Hashable, Sendable {
    /// The id in `a=msid` and in a conference's roster.
    public let rawValue: String
    /// The attendee's id, without the modality.
    public let base: String
    /// The modality of the id.
    public let modality: Modality

    /// The modality of an id.
    public enum Modality: Sendable {
        /// The attendee's camera and microphone.
        case attendee
        /// The content that the attendee shares.
        case content
    }

    private static let separator: Character = "#"
    private static let contentSuffix = "content"
    /// The maximum number of bytes of a media stream's id (RFC 8830 §2). It includes `#content` for an attendee who
    /// shares.
    public static let maximumLength = 64

    /// Parses an id. Its characters are those of an SDP token (RFC 8866 §9), as RFC 8830 requires for a stream's id.
    public init(_ text: some StringProtocol) throws(AttendeeIDError) {
        let text = String(text)
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Self.maximumLength else { throw .tooLong(length: text.utf8.count) }
        if let offending = text.first(where: { !$0.utf8.allSatisfy(Self.isTokenByte) }) {
            throw .character(offending, in: text)
        }
        if let index = text.lastIndex(of: Self.separator), text[text.index(after: index)...] == Self.contentSuffix {
            guard index > text.startIndex else { throw .emptyBase(text) }
            base = String(text[..<index])
            modality = .content
        } else {
            base = text
            modality = .attendee
        }
        rawValue = text
    }

    /// Creates the id for a person's name in any script, with or without `#content` after it. Bytes that an SDP token
    /// can't have are percent-encoded (RFC 3986 §2.1), as in `J%C3%B6rg` for `Jörg`.
    public init(named name: some StringProtocol) throws(AttendeeIDError) {
        try self.init(name.percentEncoded { $0 != UInt8(ascii: "%") && Self.isTokenByte($0) })
    }

    /// The attendee's name as it is shown: the base without percent-encoding.
    public var name: String { base.percentDecoded?.printable ?? base }

    /// The name as it is shown, with `#content` for content.
    package var label: String { modality == .content ? "\(name)\(Self.separator)\(Self.contentSuffix)" : name }

    /// Returns an id for media of a peer that has no valid id.
    static func unnamed(receiver: Int, isContent: Bool) -> AttendeeID {
        AttendeeID(base: "receiver-\(receiver + 1)", modality: isContent ? .content : .attendee)
    }

    private init(base: String, modality: Modality) {
        self.base = base
        self.modality = modality
        rawValue = modality == .content ? "\(base)\(Self.separator)\(Self.contentSuffix)" : base
    }

    /// The id of the content that this attendee shares. For content, this id.
    public var content: AttendeeID {
        get throws(AttendeeIDError) {
            modality == .content ? self : try AttendeeID("\(rawValue)\(Self.separator)\(Self.contentSuffix)")
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x27, 0x2A...0x2B, 0x2D...0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7E: true
        default: false
        }
    }
}

extension AttendeeID: CustomStringConvertible {
    /// The id in `a=msid`.
    public var description: String { rawValue }
}

package import RTCShareWireFormat

/// The reason why a text is not an attendee's id.
public enum AttendeeIDError: Error, Hashable, Sendable {
    /// The text is empty.
    case empty
    /// The name before `#content` is missing.
    case emptyBase(String)
    /// The text is longer than ``AttendeeID/maximumLength``.
    case tooLong(length: Int)
    /// The text is the id of content, but an attendee is expected.
    case content(String)
    /// The text has a character that an SDP token can't have.
    case character(Character, in: String)
}

extension AttendeeIDError: CustomStringConvertible {
    /// The failure with its reason and its remedy.
    public var description: String { explanation.text }
}

extension AttendeeIDError: ExplainedError {
    /// The problem, and separately a valid value.
    package var explanation: Explanation {
        switch self {
        case .empty: Explanation("an attendee's name can't be empty", remedy: Self.example)
        case .emptyBase(let text):
            Explanation("the attendee id \(text) has no name before its #", remedy: Self.example)
        case .tooLong(let length):
            Explanation(
                "the attendee's name is too long: its id has \(length) bytes, and at most "
                    + "\(AttendeeID.maximumLength) are allowed with #content",
                remedy: "use a shorter name (a letter such as ü takes 6 bytes)")
        case .content(let text):
            Explanation(
                "\(text) is the id of a shared screen, not of an attendee", remedy: "give the name before its #")
        case .character(let character, let text):
            Explanation(
                "the attendee id \(text.debugDescription) can't contain \(String(character).debugDescription)",
                remedy: "use letters from a to z, or AttendeeID(named:)")
        }
    }

    private static let example = "give a name such as alice"
}

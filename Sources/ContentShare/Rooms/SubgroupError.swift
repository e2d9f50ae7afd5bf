package import RTCShareWireFormat

/// The reason why a text is not a subgroup's name.
public enum SubgroupError: Error, Hashable, Sendable {
    /// The text is empty.
    case empty
    /// The text is longer than ``Subgroup/maximumLength``.
    case tooLong(length: Int)
    /// The text is the name of the main room.
    case reserved
    /// The text has a character that a name can't have, or can't begin with.
    case character(Character, in: String)
}

extension SubgroupError: CustomStringConvertible {
    /// The failure with its reason and its remedy.
    public var description: String { explanation.text }
}

extension SubgroupError: ExplainedError {
    /// The problem, and separately a valid value.
    package var explanation: Explanation {
        switch self {
        case .empty: Explanation("a subgroup's name can't be empty", remedy: "give a name such as design")
        case .tooLong(let length):
            Explanation(
                "the subgroup's name is too long: \(length) bytes",
                remedy: "give a name of at most \(Subgroup.maximumLength) bytes")
        case .reserved:
            Explanation("\(Subgroup.mainRoom) is the main room, not a subgroup", remedy: "give another name")
        case .character(let character, let name):
            Explanation(
                "the subgroup name \(name.debugDescription) can't contain \(character == " " ? "a space" : String(character).debugDescription)",
                remedy: "use letters and digits, and after the first character also . _ and -")
        }
    }
}

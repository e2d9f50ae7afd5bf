package import RTCShareWireFormat

/// The reason why a text is not a valid token. It does not contain the text.
public enum AccessTokenError: Error, Hashable, Sendable {
    /// It is too short to be secret, or too long.
    case length(Int)
    /// It has a character that is not valid in a link.
    case character
}

extension AccessTokenError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension AccessTokenError: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation {
        switch self {
        case .length(let length):
            Explanation(
                "the token has \(length) characters, and must have \(AccessToken.lengths.lowerBound) to "
                    + "\(AccessToken.lengths.upperBound)", remedy: Self.example)
        case .character:
            Explanation(
                "the token has a character that a link can't have: only letters, digits, - . _ and ~ are allowed",
                remedy: Self.example)
        }
    }

    private static let example = "openssl rand -hex 16"
}

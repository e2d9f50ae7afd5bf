internal import RTCShareCryptography
package import RTCShareWireFormat

/// The secret of a link: whoever shows it gets in. Nothing that describes it shows it.
public struct AccessToken: Sendable {
    private let text: String

    /// What a token that is made here consists of: of letters and digits alone. A dash before them would be an option to
    /// a command line, and one behind them is no part of a link to programs that find links in a text.
    private static let lettersAndDigits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    /// As many of them as hold 128 bits.
    private static let madeLength = 22
    /// What one that was agreed on may have beside them: what stands in a URL as it is (RFC 3986 §2.3) and in a header
    /// (RFC 6750 §2.1).
    private static let otherCharacters = Array("-._~")

    /// The lengths that a token may have.
    public static let lengths = 16...512

    /// Draws a token.
    public init() {
        var random = SystemRandomNumberGenerator()
        self.init(bits: .random(in: .min ... .max, using: &random))
    }

    private init(bits: UInt128) {
        var (text, rest) = ("", bits)
        for _ in 0..<Self.madeLength {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: UInt128(Self.lettersAndDigits.count))
            text.append(Self.lettersAndDigits[Int(remainder)])
            rest = quotient
        }
        self.text = text
    }

    /// A token that was agreed on.
    public init(_ text: some StringProtocol) throws(AccessTokenError) {
        guard Self.lengths.contains(text.utf8.count) else { throw .length(text.utf8.count) }
        guard text.allSatisfy({ Self.lettersAndDigits.contains($0) || Self.otherCharacters.contains($0) })
        else { throw .character }
        self.text = String(text)
    }

    /// A token of somebody else's server, which may be any text that a header can hold (RFC 9110 §5.5).
    public init(presenting text: some StringProtocol) throws(AccessTokenError) {
        guard (1...4096).contains(text.utf8.count) else { throw .length(text.utf8.count) }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .character }
        self.text = String(text)
    }

    /// The token of a part of what this one opens, such as a subgroup: who has it can't tell this one (HMAC-SHA256).
    package func derived(for purpose: String) -> AccessToken? {
        let key = Array(text.utf8)
        let message = Array(purpose.utf8)
        guard let code = try? HashFunction.sha256.authenticationCode(key: key.span.bytes, message: message.span.bytes)
        else { return nil }
        return AccessToken(bits: code.prefix(16).reduce(0) { $0 << 8 | UInt128($1) })
    }

    /// Whether this is the token; takes the same time whatever it is.
    package func accepts(_ candidate: some StringProtocol) -> Bool {
        let own = Array(text.utf8)
        let other = Array(candidate.utf8)
        return isEqualInConstantTime(own.span.bytes, other.span.bytes)
    }

    /// The token as it stands in a link.
    public var secretText: String { text }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// Says nothing of the token.
    public var description: String { "a token" }
    /// Shows nothing of the token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why a text is no token. It shows nothing of it.
public enum AccessTokenError: Error, Hashable, Sendable {
    /// It is too short to be secret, or too long.
    case length(Int)
    /// It has a character that can't stand in a link.
    case character
}

extension AccessTokenError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension AccessTokenError: ExplainedError {
    /// The problem and, separately, its remedy.
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

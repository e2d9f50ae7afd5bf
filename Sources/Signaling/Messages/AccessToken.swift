internal import RTCShareCryptography

/// The secret of a link, which admits its bearer. No description of it contains the secret.
public struct AccessToken: Sendable {
    private let text: String

    /// The characters of generated tokens, only letters and digits. A dash at the beginning would be an option on a
    /// command line, and programs that find links in a text exclude one at the end.
    private static let lettersAndDigits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    /// The length with 128 bits.
    private static let madeLength = 22
    /// The further characters of given tokens: those that are unreserved in a URL (RFC 3986 §2.3) and allowed in a
    /// header (RFC 6750 §2.1).
    private static let otherCharacters = Array("-._~")

    /// The valid lengths of a token.
    public static let lengths = 16...512

    /// Generates a token.
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

    /// Creates a given token.
    public init(_ text: some StringProtocol) throws(AccessTokenError) {
        guard Self.lengths.contains(text.utf8.count) else { throw .length(text.utf8.count) }
        guard text.allSatisfy({ Self.lettersAndDigits.contains($0) || Self.otherCharacters.contains($0) })
        else { throw .character }
        self.text = String(text)
    }

    /// Creates a token of another server, which may be any text that is valid in a header (RFC 9110 §5.5).
    public init(presenting text: some StringProtocol) throws(AccessTokenError) {
        guard (1...4096).contains(text.utf8.count) else { throw .length(text.utf8.count) }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .character }
        self.text = String(text)
    }

    /// Returns the token for a part of what this one opens, such as a subgroup: this one can't be computed from it
    /// (HMAC-SHA256).
    package func derived(for purpose: String) -> AccessToken? {
        let key = Array(text.utf8)
        let message = Array(purpose.utf8)
        guard let code = try? HashFunction.sha256.authenticationCode(key: key.span.bytes, message: message.span.bytes)
        else { return nil }
        return AccessToken(bits: code.prefix(16).reduce(0) { $0 << 8 | UInt128($1) })
    }

    /// Returns whether a text is the token, in constant time.
    package func accepts(_ candidate: some StringProtocol) -> Bool {
        let own = Array(text.utf8)
        let other = Array(candidate.utf8)
        return isEqualInConstantTime(own.span.bytes, other.span.bytes)
    }

    /// The token for a link.
    public var secretText: String { text }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// A text without the token.
    public var description: String { "a token" }
    /// A mirror without the token.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

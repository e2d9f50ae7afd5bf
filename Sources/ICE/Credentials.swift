/// The user name fragment and the password of one agent (RFC 8445 §5.3). The password is secret and not part of the
/// value's description.
package struct Credentials: Hashable, Sendable, CustomStringConvertible {
    /// The value of `a=ice-ufrag`.
    package let usernameFragment: String
    /// The value of `a=ice-pwd`.
    package let password: String

    /// Creates credentials from a description or from a stored session.
    ///
    /// Printable ASCII characters beyond RFC 8839's ice-char are accepted, since some senders use them. The limits of
    /// the lengths apply.
    package init(usernameFragment: String, password: String) throws(ICEError) {
        func isPrintable(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }
        guard (4...256).contains(usernameFragment.utf8.count), usernameFragment.utf8.allSatisfy(isPrintable),
            !usernameFragment.contains(":")
        else { throw .invalidUsernameFragment }
        guard (22...256).contains(password.utf8.count), password.utf8.allSatisfy(isPrintable) else {
            throw .invalidPassword
        }
        self.init(unchecked: usernameFragment, password)
    }

    /// Returns new credentials: 48 random bits of fragment, 144 of password (RFC 8445 §5.3 requires at least 24 and
    /// 128).
    package static func random(using generator: inout some RandomNumberGenerator) -> Credentials {
        func text(_ count: Int) -> String {
            String(decoding: (0..<count).map { _ in iceCharacters[Int(generator.next() & 63)] }, as: UTF8.self)
        }
        return Credentials(unchecked: text(8), text(24))
    }

    /// The user name fragment only.
    package var description: String { "ice-ufrag \(usernameFragment)" }

    var key: [UInt8] { Array(password.utf8) }

    private init(unchecked usernameFragment: String, _ password: String) {
        self.usernameFragment = usernameFragment
        self.password = password
    }

    /// The 64 characters of RFC 8839's ice-char.
    private static let iceCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

/// The user name fragment and the password of one agent (RFC 8445 §5.3). The password is a secret: it is not part of
/// what the value prints.
package struct Credentials: Hashable, Sendable, CustomStringConvertible {
    /// `a=ice-ufrag`.
    package let usernameFragment: String
    /// `a=ice-pwd`.
    package let password: String

    /// Credentials that came with a description, or from a session that was kept.
    ///
    /// Characters beyond RFC 8839's ice-char are let through, since some senders use them; the lengths are held to.
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

    /// New credentials: 48 random bits of fragment, 144 of password (RFC 8445 §5.3 asks for 24 and 128 at least).
    package static func random(using generator: inout some RandomNumberGenerator) -> Credentials {
        func text(_ count: Int) -> String {
            String(decoding: (0..<count).map { _ in iceCharacters[Int(generator.next() & 63)] }, as: UTF8.self)
        }
        return Credentials(unchecked: text(8), text(24))
    }

    /// The fragment alone.
    package var description: String { "ice-ufrag \(usernameFragment)" }

    var key: [UInt8] { Array(password.utf8) }

    private init(unchecked usernameFragment: String, _ password: String) {
        self.usernameFragment = usernameFragment
        self.password = password
    }

    /// The 64 characters of RFC 8839's ice-char.
    private static let iceCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

internal import Glibc
internal import RTCShareCUnistring

/// A user name and a password for a server (RFC 8489 §9.2). No description of the credentials shows the password.
package struct LongTermCredentials: Hashable, Sendable {
    /// The user name in its prepared form, which is sent.
    package let username: String
    /// The password in its prepared form.
    let password: String

    /// Whether the user name begins with the time at which the password expires, as with a shared secret
    /// (draft-uberti-behave-turn-rest §2.2).
    package var canExpire: Bool {
        guard let end = username.firstIndex(of: ":") else { return false }
        return Int64(username[..<end]) != nil
    }

    /// Prepares credentials with SASLprep (RFC 4013), which does not change ASCII. Returns nil if either is empty or
    /// has control characters, if the user name is longer than 508 bytes, or if either is not ASCII and libunistring is
    /// not available.
    package init?(username: String, password: String) {
        guard let username = Self.prepared(username), username.utf8.count <= 508,
            let password = Self.prepared(password)
        else { return nil }
        self.username = username
        self.password = password
    }

    /// Prepares a text with SASLprep (RFC 4013 §2): spaces become SPACE, invisible characters are removed, and the rest
    /// takes its compatible form.
    static func prepared(_ text: String) -> String? {
        guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return text.isEmpty ? nil : text }
        var mapped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.properties.generalCategory == .spaceSeparator {
                mapped.append(" ")
            } else if !scalar.properties.isDefaultIgnorableCodePoint {
                mapped.append(scalar)
            }
        }
        guard let normalized = compatible(String(mapped)) else { return nil }
        let isAllowed = normalized.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .privateUse, .surrogate, .unassigned, .lineSeparator, .paragraphSeparator, .format: false
            default: true
            }
        }
        return isAllowed && !normalized.isEmpty ? normalized : nil
    }

    /// Returns normalization form KC; nil if libunistring is not available.
    private static func compatible(_ text: String) -> String? {
        guard !text.isEmpty else { return "" }
        var text = text
        return text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var count = 0
            guard let result = unistring_nfkc(start, bytes.count, &count) else { return nil }
            defer { free(result) }
            return String(decoding: UnsafeBufferPointer(start: result, count: count), as: UTF8.self)
        }
    }
}

extension LongTermCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The user name only.
    package var description: String { "\(username), with a password" }
    /// The user name only.
    package var debugDescription: String { description }
    /// A mirror of the user name only.
    package var customMirror: Mirror { Mirror(self, children: ["username": username]) }
}

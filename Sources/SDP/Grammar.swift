extension StringProtocol {
    /// The text between spaces. A run of spaces counts as one, since some deployed writers leave several.
    var fields: [Substring] { fields(atMost: .max) }

    /// Splits the text into at most `count` fields. The last one keeps the spaces in it.
    ///
    /// Bytes are compared, not characters: a combining mark after a space must not hide the space. It is also faster.
    func fields(atMost count: Int) -> [Substring] {
        Substring(self).utf8.split(separator: UInt8(ascii: " "), maxSplits: count - 1).map { Substring($0) }
    }

    /// Splits the text at separators into at most `count` parts, including empty ones.
    func parts(at separator: Unicode.Scalar, atMost count: Int = .max) -> [Substring] {
        Substring(self).utf8
            .split(separator: UInt8(ascii: separator), maxSplits: count - 1, omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    /// Whether the text is one or more characters of a token (RFC 8866 §9).
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenByte)
    }

    /// Whether the text is one or more decimal digits.
    var isDigits: Bool {
        !isEmpty && utf8.allSatisfy(\.isDigit)
    }

    /// Whether the text can be an `a=ice-ufrag`: 4 to 256 ASCII characters without spaces and without the colon that
    /// separates two fragments in STUN.
    var isUsernameFragment: Bool {
        isICEText(4...256) && !utf8.contains(UInt8(ascii: ":"))
    }

    /// Whether the text can be an `a=ice-pwd`: 22 to 256 ASCII characters without spaces.
    var isICEPassword: Bool { isICEText(22...256) }

    /// Whether the text has an accepted length and only visible ASCII characters. RFC 8839 §5.4 allows only letters,
    /// digits, `+` and `/`, but deployed servers also write others, such as the `=` at the end of base64. An agent only
    /// repeats the text, so that nothing depends on its characters.
    private func isICEText(_ count: ClosedRange<Int>) -> Bool {
        count.contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Returns the number in plain digits without a sign, if it fits.
    func decimal<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        isDigits ? Number(self) : nil
    }
}

extension UInt8 {
    var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    var isTokenByte: Bool {
        switch self {
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x30...0x39, 0x41...0x5A, 0x5E...0x7E: true
        default: false
        }
    }
}

extension StringProtocol {
    /// What stands between spaces; runs of spaces count as one, since deployed writers leave some.
    var fields: [Substring] { fields(atMost: .max) }

    /// At most so many fields, the last with the spaces in it.
    ///
    /// Bytes are compared, not characters: a mark that combines with a space must not hide it, and it is faster.
    func fields(atMost count: Int) -> [Substring] {
        Substring(self).utf8.split(separator: UInt8(ascii: " "), maxSplits: count - 1).map { Substring($0) }
    }

    /// What stands between separators, at most so many parts, empty ones included.
    func parts(at separator: Unicode.Scalar, atMost count: Int = .max) -> [Substring] {
        Substring(self).utf8
            .split(separator: UInt8(ascii: separator), maxSplits: count - 1, omittingEmptySubsequences: false)
            .map { Substring($0) }
    }

    /// One or more characters that RFC 8866 §9 allows in a token.
    var isToken: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenByte)
    }

    /// One or more decimal digits.
    var isDigits: Bool {
        !isEmpty && utf8.allSatisfy(\.isDigit)
    }

    /// Whether this can be an `a=ice-ufrag`: 4 to 256 characters of ASCII, neither spaces nor the colon that separates
    /// two of them in STUN.
    var isUsernameFragment: Bool {
        isICEText(4...256) && !utf8.contains(UInt8(ascii: ":"))
    }

    /// Whether this can be an `a=ice-pwd`: 22 to 256 characters of ASCII, no spaces.
    var isICEPassword: Bool { isICEText(22...256) }

    /// RFC 8839 §5.4 has letters, digits, `+` and `/` only. Deployed servers write others too, such as the `=` that ends
    /// base64; an agent only repeats the text, so that nothing depends on its characters.
    private func isICEText(_ count: ClosedRange<Int>) -> Bool {
        count.contains(utf8.count) && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// The number that this text writes in plain digits, without sign, and that fits.
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

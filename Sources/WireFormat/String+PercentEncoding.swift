extension StringProtocol {
    /// The decoded form of percent-encoded text (RFC 3986 §2.1). It is nil if two hexadecimal digits do not follow a
    /// percent sign, or if the bytes are not UTF-8.
    package var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Self.value), let low = rest.popFirst().flatMap(Self.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the text with every byte percent-encoded except plain bytes.
    package func percentEncoded(unless isPlain: (UInt8) -> Bool) -> String {
        utf8.reduce(into: "") { text, byte in
            let digits = String(byte, radix: 16, uppercase: true)
            text += isPlain(byte) ? String(Unicode.Scalar(byte)) : (byte < 16 ? "%0" : "%") + digits
        }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        Character(Unicode.Scalar(digit)).hexDigitValue.map(UInt8.init)
    }
}

internal import FoundationEssentials
internal import RTCShareWireFormat

/// JSON that is safe on a terminal, too: the encoder escapes only what JSON forbids in strings, not the other
/// characters that control a terminal or change the text direction.
enum JSONText {
    static func encode(_ value: some Encodable, isPretty: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
        let data = try encoder.encode(value)
        guard data.contains(where: { $0 >= 0x7F }) else { return data }
        // Characters other than ASCII occur only in strings.
        return Data(String(decoding: data, as: UTF8.self).unicodeScalars.map(escaped).joined().utf8)
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        guard scalar.value >= 0x7F, !scalar.isPrintable else { return String(scalar) }
        return UTF16.encode(scalar)?.map { String(printing: "\\u%04x", Int($0)) }.joined() ?? ""
    }
}

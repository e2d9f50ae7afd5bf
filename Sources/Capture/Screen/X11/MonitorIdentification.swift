/// The identification of a monitor: an EDID block (VESA Enhanced EDID Standard, release A, section 3).
enum MonitorIdentification {
    private static let header: [UInt8] = [0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0]
    /// The offsets of the four descriptors of 18 bytes (§3.10).
    private static let descriptors = [54, 72, 90, 108]
    /// The type of the descriptor that has the product's name (§3.10.3.4).
    private static let nameTag: UInt8 = 0xFC

    /// Returns the product's name, for example `DELL U2720Q`; nil if there is none.
    static func productName(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 128, bytes.starts(with: header) else { return nil }
        for start in descriptors where bytes[start] == 0 && bytes[start + 1] == 0 && bytes[start + 3] == nameTag {
            // The text ends with a line feed if it is shorter than 13 bytes.
            let text = bytes[start + 5..<start + 18].prefix { $0 != 0x0A }
            let name = String(decoding: text.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
            let trimmed = name.split(separator: " ").joined(separator: " ")
            if !trimmed.isEmpty { return trimmed }
        }
        return nil
    }
}

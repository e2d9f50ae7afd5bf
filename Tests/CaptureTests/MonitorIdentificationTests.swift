import Testing

@testable import RTCShareCapture

@Suite("The identification of a monitor")
struct MonitorIdentificationTests {
    /// A block of EDID whose last descriptor is the product's name.
    static func block(name: [UInt8]) -> [UInt8] {
        let header: [UInt8] = [0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0]
        let text = name + (name.count < 13 ? [0x0A] : []) + [UInt8](repeating: 0x20, count: 13)
        return header + [UInt8](repeating: 1, count: 100) + [0, 0, 0, 0xFC, 0] + text.prefix(13)
            + [UInt8](repeating: 0, count: 2)
    }

    @Test(
        "The product's name is read up to its end, without characters that can't be shown",
        arguments: [
            ("DELL U2720Q", "DELL U2720Q"), ("13 characters", "13 characters"), ("  a  b ", "a b"),
            ("x\u{1B}[2J\u{7F}", "x[2J"),
        ])
    func names(text: String, expected: String) {
        #expect(MonitorIdentification.productName(Self.block(name: Array(text.utf8))) == expected)
    }

    @Test("A block that is truncated, of another kind or without a name gives no name")
    func nameless() {
        let block = Self.block(name: Array("DELL".utf8))
        #expect(block.count == 128)
        for length in 0..<128 { #expect(MonitorIdentification.productName(Array(block[..<length])) == nil) }
        #expect(MonitorIdentification.productName([UInt8](repeating: 0xFF, count: 256)) == nil)
        #expect(MonitorIdentification.productName(Self.block(name: [])) == nil)
        #expect(MonitorIdentification.productName(Array(block[..<8]) + [UInt8](repeating: 0, count: 120)) == nil)
    }
}

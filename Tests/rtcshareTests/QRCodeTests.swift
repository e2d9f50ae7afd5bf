import Testing

@testable import rtcshare

@Suite("QR codes")
struct QRCodeTests {
    @Test("The image has the modules that the terminal draws, with the margin of the standard")
    func image() throws {
        let link = "http://192.168.1.20:8080/#0123456789abcdefghijkl"
        let lines = try #require(QRCode.lines(for: link, colors: false))
        let image = try #require(QRCode.svg(for: link))
        let size = try #require(image.firstMatch(of: /viewBox="0 0 (\d+) \1"/).flatMap { Int($0.1) })
        let margin = 4
        let dark = Set(
            image.matches(of: /M(\d+) (\d+)h1v1h-1z/).compactMap { match in
                Int(match.1).flatMap { column in Int(match.2).map { [$0 - margin, column - margin] } }
            })
        let drawn = lines.enumerated().flatMap { index, line in
            line.enumerated().flatMap { column, character -> [[Int]] in
                let (row, column) = (2 * index - 2, column - 2)
                let isLight: (Bool, Bool) = (["█", "▀"].contains(character), ["█", "▄"].contains(character))
                return (isLight.0 ? [] : [[row, column]]) + (isLight.1 ? [] : [[row + 1, column]])
            }
        }
        // The terminal's last line can have a half row below the margin.
        #expect(dark == Set(drawn.filter { $0[0] < size - 2 * margin }) && !dark.isEmpty)
        #expect(dark.allSatisfy { $0.allSatisfy { (0..<size - 2 * margin).contains($0) } })
    }
}

internal import RTCShareCQREncode

/// A QR code (ISO/IEC 18004) as lines of a terminal, with two modules per line height.
enum QRCode {
    /// The number of light modules around the code, which readers need.
    private static let margin = 2

    /// Returns the lines for a text; nil if it is too long. With `colors`, it is black on white, whatever the
    /// terminal's own colors are; without, light modules are drawn, as for a dark terminal.
    static func lines(for text: String, colors: Bool) -> [String]? {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard let modules = code.pointee.data else { return nil }
        func isDark(_ row: Int, _ column: Int) -> Bool {
            guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
            return modules[row * width + column] & 1 == 1
        }
        return stride(from: -margin, to: width + margin, by: 2).map { row in
            let line = (-margin..<width + margin).map { column -> Character in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (false, false): colors ? " " : "█"
                case (false, true): colors ? "▄" : "▀"
                case (true, false): colors ? "▀" : "▄"
                case (true, true): colors ? "█" : " "
                }
            }
            return colors ? "\u{1B}[30;107m" + String(line) + "\u{1B}[0m" : String(line)
        }
    }
}

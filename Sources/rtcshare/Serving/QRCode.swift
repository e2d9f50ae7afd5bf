internal import RTCShareCQREncode

/// A QR code (ISO/IEC 18004) as lines of a terminal, with two modules per line height.
enum QRCode {
    /// The dark modules of a code.
    private struct Modules {
        let width: Int
        private let dark: [Bool]

        init?(of text: String) {
            guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
            defer { QRcode_free(code) }
            width = Int(code.pointee.width)
            guard let modules = code.pointee.data else { return nil }
            dark = (0..<width * width).map { modules[$0] & 1 == 1 }
        }

        func isDark(_ row: Int, _ column: Int) -> Bool {
            (0..<width).contains(row) && (0..<width).contains(column) && dark[row * width + column]
        }
    }

    /// The number of light modules around the code, which readers need.
    private static let margin = 2
    /// The same for an image, which can be on a dark background (ISO/IEC 18004 §5.3.8).
    private static let imageMargin = 4

    /// Returns the lines for a text; nil if it is too long. With `colors`, it is black on white, whatever the
    /// terminal's own colors are; without, light modules are drawn, as for a dark terminal.
    static func lines(for text: String, colors: Bool) -> [String]? {
        guard let modules = Modules(of: text) else { return nil }
        return stride(from: -margin, to: modules.width + margin, by: 2).map { row in
            let line = (-margin..<modules.width + margin).map { column -> Character in
                switch (modules.isDark(row, column), modules.isDark(row + 1, column)) {
                case (false, false): colors ? " " : "█"
                case (false, true): colors ? "▄" : "▀"
                case (true, false): colors ? "▀" : "▄"
                case (true, true): colors ? "█" : " "
                }
            }
            return colors ? "\u{1B}[30;107m" + String(line) + "\u{1B}[0m" : String(line)
        }
    }

    /// Returns an image in SVG for a text, black on white, with one unit per module; nil if it is too long.
    static func svg(for text: String) -> String? {
        guard let modules = Modules(of: text) else { return nil }
        let size = modules.width + 2 * imageMargin
        let squares = (0..<modules.width).flatMap { row in
            (0..<modules.width).filter { modules.isDark(row, $0) }.map { column in
                "M\(column + imageMargin) \(row + imageMargin)h1v1h-1z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size) \(size)" shape-rendering="crispEdges">\
            <rect width="\(size)" height="\(size)" fill="white"/><path d="\(squares.joined())"/></svg>
            """
    }
}

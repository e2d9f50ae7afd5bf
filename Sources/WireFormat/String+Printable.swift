extension String {
    /// This text in one line that is safe to display. U+FFFD replaces every scalar that controls a terminal, ends a
    /// line or moves other text (Unicode's general categories Cc, Cf, Zl and Zp).
    ///
    /// All text from a remote party passes through this property before it is displayed.
    package var printable: String {
        guard !utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return self }
        return String(UnicodeScalarView(unicodeScalars.map { $0.isPrintable ? $0 : "\u{FFFD}" }))
    }
}

extension Unicode.Scalar {
    /// Whether the scalar does not control the display of other text.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

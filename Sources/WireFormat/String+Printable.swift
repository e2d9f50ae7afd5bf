extension String {
    /// This text as a person may be shown it, in one line: what steers a terminal, ends a line, or has text stand where it
    /// is not (Unicode's general categories Cc, Cf, Zl and Zp) is replaced.
    ///
    /// Whatever a stranger wrote goes through this before it is told to people.
    package var printable: String {
        guard !utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return self }
        return String(UnicodeScalarView(unicodeScalars.map { $0.isPrintable ? $0 : "\u{FFFD}" }))
    }
}

extension Unicode.Scalar {
    /// Whether it only shows itself.
    package var isPrintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

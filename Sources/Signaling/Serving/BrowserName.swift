/// The name of a browser or player, from its `User-Agent` header.
enum BrowserName {
    /// Returns the browser with its version and system, or a player's first word. Nil if there is none.
    static func name(of userAgent: String?) -> String? {
        guard let userAgent, !userAgent.isEmpty else { return nil }
        let text = userAgent.prefix(300)
        let browsers = [
            ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"), ("FxiOS/", "Firefox"),
            ("Chrome/", "Chrome"), ("Version/", "Safari"),
        ]
        let systems = [
            ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"),
            ("Mac OS X", "macOS"),
            ("CrOS", "ChromeOS"), ("Linux", "Linux"),
        ]
        guard let (mark, name) = browsers.first(where: { text.contains($0.0) }), let range = text.firstRange(of: mark)
        else { return printable(text.prefix { $0 != " " && $0 != "(" }) }
        let version = text[range.upperBound...].prefix { $0.isNumber }
        let system = systems.first { text.contains($0.0) }.map { " on \($0.1)" } ?? ""
        return printable("\(name) \(version)\(system)")
    }

    private static func printable(_ text: some StringProtocol) -> String? {
        let scalars = text.unicodeScalars.filter { (0x20..<0x7F).contains($0.value) }.prefix(60)
        return scalars.isEmpty ? nil : String(String.UnicodeScalarView(scalars))
    }
}

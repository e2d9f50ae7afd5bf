internal import FoundationEssentials

/// The viewer page's texts in one language, from the page's own files.
struct PageTexts: Sendable {
    /// A text, or a text for each plural form.
    private enum Entry: Decodable {
        case text(String)
        case forms([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .forms(try container.decode([String: String].self))
            }
        }
    }

    private let entries: [String: Entry]

    /// The texts by language code, as in `languages/de.js`.
    private static let all: [String: PageTexts] = {
        let files = ViewerPage.names.filter { $0.hasPrefix("languages/") }
        return Dictionary(
            uniqueKeysWithValues: files.map { path in
                (String(path.dropFirst("languages/".count).prefix { $0 != "." }), PageTexts(path: path))
            })
    }()

    /// Reads a language's file, a module whose default export is written as JSON.
    private init(path: String) {
        let module = ViewerPage.file(path)?.bytes ?? []
        let start = module.drop { $0 != UInt8(ascii: "{") }
        let json = start.lastIndex(of: UInt8(ascii: "}")).map { start.prefix(through: $0) } ?? []
        entries = (try? JSONDecoder().decode([String: Entry].self, from: Data(json))) ?? [:]
    }

    /// The text of a key, in English if this language does not have it.
    subscript(key: String) -> String {
        if case .text(let text) = entries[key] { return text }
        if case .text(let text) = Self.all["en"]?.entries[key] { return text }
        return key
    }

    /// Returns the texts of the first available language in `Accept-Language` headers (RFC 9110 §12.5.4), or English.
    static func preferred(_ headers: [Substring]) -> PageTexts {
        let ranges = WeightedValues(headers).values.map { (code: $0.value.prefix { $0 != "-" }, quality: $0.quality) }
        // Among equal weights, the first language counts.
        let best = ranges.filter { all[String($0.code)] != nil }.enumerated().min {
            ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset)
        }
        return best.flatMap { all[String($0.element.code)] } ?? all["en"] ?? PageTexts(path: "")
    }
}

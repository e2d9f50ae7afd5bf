import Foundation
import NIOHTTP1
import Testing

@testable import RTCShareSignaling

@Suite("The page's texts")
struct PageTextsTests {
    private static let languages = ViewerPage.names.filter { $0.hasPrefix("languages/") }.sorted()

    private static func source(_ path: String) throws -> String {
        String(decoding: try #require(ViewerPage.file(path)).bytes, as: UTF8.self)
    }

    /// Returns a language's texts: strings, or strings by plural forms.
    private static func texts(_ path: String) throws -> [String: Any] {
        let source = try source(path)
        #expect(source.hasPrefix("export default {") && source.hasSuffix("};\n"), "\(path)")
        let json = source.dropFirst("export default ".count).dropLast(2)
        return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any], "\(path)")
    }

    /// Returns the names in braces.
    private static func placeholders(_ text: String) -> Set<String> {
        Set(text.matches(of: /\{(\w+)\}/).map { String($0.output.1) })
    }

    @Test("A browser without JavaScript shows a line in each language", arguments: languages)
    func lineWithoutScript(path: String) throws {
        let code = path.dropFirst("languages/".count).prefix { $0 != "." }
        #expect(try Self.source("index.html").contains("<p lang=\"\(code)\">"))
    }

    @Test("A language has the texts of English and no others, with the same placeholders", arguments: languages)
    func completeness(path: String) throws {
        let (english, texts) = (try Self.texts("languages/en.js"), try Self.texts(path))
        #expect(Set(texts.keys) == Set(english.keys))
        for (key, original) in english {
            let forms = { (value: Any?) in value as? [String: String] ?? ["other": value as? String ?? ""] }
            let expected = Self.placeholders(forms(original)["other"] ?? "")
            for (form, text) in forms(texts[key]) {
                #expect(!text.isEmpty && Self.placeholders(text) == expected, "\(key), \(form)")
            }
        }
        #expect(["ltr", "rtl"].contains(texts["direction"] as? String))
    }

    @Test("A text for a count has the plural forms of its language", arguments: languages)
    func plurals(path: String) throws {
        let expected =
            switch path {
            case "languages/ja.js", "languages/zh.js": ["other"]
            case "languages/ru.js": ["few", "many", "one", "other"]
            // Other forms are for millions, or have the same text.
            default: ["one", "other"]
            }
        for (key, value) in try Self.texts(path) {
            guard let forms = value as? [String: String] else { continue }
            #expect(forms.keys.sorted() == expected, "\(key)")
        }
    }

    @Test("Every language can be chosen")
    func choices() throws {
        let list = try #require(try Self.source("language.js").firstMatch(of: /LANGUAGES = \{([^}]*)\}/)).output.1
        let codes = list.matches(of: /(\w+): "/).map { "languages/\($0.output.1).js" }
        #expect(codes == Self.languages)
    }

    @Test("Each text that the page uses exists, and each text is used")
    func use() throws {
        let english = Set(try Self.texts("languages/en.js").keys)
        let sources = try ViewerPage.names.subtracting(Self.languages).filter { !$0.hasSuffix(".css") }.map(Self.source)
        let page = sources.joined()
        let asked = page.matches(of: /(?:\btext\(|data-text=|data-label=)"([^"]+)"/).map { String($0.output.1) }
        #expect(Set(asked).subtracting(english) == [])
        // The keys of other texts are composed, or belong to the server's own page.
        let ends = ["title", "text", "asking", "paths", "picture"]
        let server = ["missing", "players", "host", "secret"]
        let left = english.filter { key in
            let beginning = key.split(separator: ".").dropLast().joined(separator: ".")
            let isComposed = ends.contains { key == beginning + "." + $0 } && page.contains("\"\(beginning)")
            return !page.contains("\"\(key)\"") && !isComposed && !key.hasPrefix("statistics.")
                && !server.contains(beginning)
        }
        #expect(left.subtracting(["language", "direction"]) == [])
    }

    @Test(
        "The first available language of a browser's preferences is used",
        arguments: [
            ("de-AT,de;q=0.9,en;q=0.8", "de"), ("DE", "de"), ("tr,fr-CA;q=0.5", "fr"), ("en;q=0.1, ja;q=0.9", "ja"),
            ("zh-Hant-TW", "zh-Hans"), ("pt-PT", "pt-BR"), ("de;q=0,es", "es"), ("tr", "en"), ("", "en"), ("*", "en"),
            ("de;q=nan,ru", "ru"), (";q=1,,-,de", "de"), ("en,de", "en"),
        ])
    func preference(header: String, language: String) {
        #expect(PageTexts.preferred([header[...]])["language"] == language)
    }

    @Test("A problem without its own text shows the server's detail, escaped")
    func detail() {
        let problem = ProblemDetails(.internalServerError, "a <b> & \"c\"")
        let response = ProblemPage.response(problem, root: "", texts: .preferred(["de"]))
        let bytes = if case .bytes(let bytes) = response.body { bytes } else { [UInt8]() }
        let page = String(decoding: bytes, as: UTF8.self)
        #expect(page.contains("<h1>Etwas ist schiefgegangen</h1>"))
        #expect(page.contains("<code lang=\"en\" dir=\"ltr\">a &lt;b&gt; &amp; \"c\"</code>"))
    }

    @Test("Languages after the first 32 ranges of a header are ignored")
    func manyRanges() {
        let header = String(repeating: "tr,", count: 32) + "de"
        #expect(PageTexts.preferred([header[...]])["language"] == "en")
        #expect(PageTexts.preferred(["tr", "de"])["language"] == "de")
    }
}

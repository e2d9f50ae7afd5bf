import Foundation
import NIOHTTP1
import RTCShareCryptography
import Testing

@testable import RTCShareSignaling

@Suite("The page's texts")
struct PageTextsTests {
    private static let languages = Page.allCases.flatMap { page in page.languages.map { (page, $0) } }

    /// Returns a language's texts: strings, or strings by plural forms.
    private static func texts(_ path: String, of page: Page) throws -> [String: Any] {
        let source = try page.source(path)
        #expect(source.hasPrefix("export default {") && source.hasSuffix("};\n"), "\(path)")
        let json = source.dropFirst("export default ".count).dropLast(2)
        return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any], "\(path)")
    }

    /// Returns the names in braces.
    private static func placeholders(_ text: String) -> Set<String> {
        Set(text.matches(of: /\{(\w+)\}/).map { String($0.output.1) })
    }

    @Test("The only script in a page is the one that its permissions name", arguments: Page.allCases)
    func inlineScript(page: Page) throws {
        let parts = try page.source("index.html").components(separatedBy: "<script>")
        let script = try #require(parts.last?.components(separatedBy: "</script>").first)
        let digest = try HashFunction.sha256.digest(of: Array(script.utf8).span.bytes)
        #expect(parts.count == 2 && ViewerPage.inlineScript == "'sha256-\(Data(digest).base64EncodedString())'")
        #expect(ViewerPage.contentSecurityPolicy.contains("script-src 'self' \(ViewerPage.inlineScript);"))
    }

    @Test("A browser without JavaScript shows a line in each language", arguments: languages)
    func lineWithoutScript(page: Page, path: String) throws {
        let code = path.split(separator: "/")[1].prefix { $0 != "." }
        #expect(try page.source("index.html").contains("<p lang=\"\(code)\">"))
    }

    @Test("A language has the texts of English and no others, with the same placeholders", arguments: languages)
    func completeness(page: Page, path: String) throws {
        let (english, texts) = (try Self.texts(page.english, of: page), try Self.texts(path, of: page))
        #expect(Set(texts.keys) == Set(english.keys))
        for (key, original) in english {
            let forms = { (value: Any?) in value as? [String: String] ?? ["other": value as? String ?? ""] }
            let expected = Self.placeholders(forms(original)["other"] ?? "")
            for (form, text) in forms(texts[key]) {
                #expect(!text.isEmpty && Self.placeholders(text) == expected, "\(key), \(form)")
            }
        }
        if page == .viewer { #expect(["ltr", "rtl"].contains(texts["direction"] as? String)) }
    }

    @Test("A text for a count has the plural forms of its language", arguments: languages)
    func plurals(page: Page, path: String) throws {
        let expected =
            switch path.split(separator: "/")[1] {
            case "ja.js", "zh.js": ["other"]
            case "ru.js": ["few", "many", "one", "other"]
            // Other forms are for millions, or have the same text.
            default: ["one", "other"]
            }
        for (key, value) in try Self.texts(path, of: page) {
            guard let forms = value as? [String: String] else { continue }
            #expect(forms.keys.sorted() == expected, "\(key)")
        }
    }

    @Test("Every language can be chosen, on each page", arguments: Page.allCases)
    func choices(page: Page) throws {
        let source = try Page.viewer.source("language.js")
        let list = try #require(source.firstMatch(of: /LANGUAGES = \{([^}]*)\}/)).output.1
        let codes = list.matches(of: /(\w+): "/).map { "\(page.textsFolder)/\($0.output.1).js" }
        #expect(codes == page.languages)
    }

    @Test("Each text that the page uses exists, and each text is used")
    func use() throws {
        let english = Set(try Self.texts(Page.viewer.english, of: .viewer).keys)
        let page = try Page.viewer.code()
        let asked = Self.asked(in: page)
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

    @Test("Each text that the presenter's page uses exists, and each of its own is used and has a key of its own")
    func useByPresenter() throws {
        let own = Set(try Self.texts(Page.presenter.english, of: .presenter).keys)
        let common = Set(try Self.texts(Page.viewer.english, of: .viewer).keys)
        let page = try Page.presenter.code()
        #expect(Set(Self.asked(in: page)).subtracting(own).subtracting(common) == [])
        #expect(own.filter { !page.contains("\"\($0)\"") } == [])
        #expect(own.intersection(common) == [])
    }

    /// Returns the keys of the texts that a page's code names.
    private static func asked(in code: String) -> [String] {
        code.matches(of: /(?:\btext\(|data-text=|data-label=)"([^"]+)"/).map { String($0.output.1) }
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

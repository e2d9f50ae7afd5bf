internal import NIOHTTP1

/// The page that a browser shows instead of a problem's JSON (RFC 9457).
enum ProblemPage {
    /// Returns the page of a problem. `root` is the relative URL of the viewer page's directory, which has the style
    /// sheet.
    static func response(_ problem: ProblemDetails, root: String, texts: PageTexts) -> HTTPResponse {
        let key = key(for: problem)
        let title = escaped(texts[key + ".title"])
        // The detail is for the administrator of the server, and stays in English in any language.
        let text =
            key == "failed"
            ? "<p id=\"notice-command\"><code lang=\"en\" dir=\"ltr\">\(escaped(problem.detail))</code></p>"
            : "<p>\(escaped(texts[key + ".text"]))</p>"
        let page = """
            <!doctype html>
            <html lang="\(texts["language"])" dir="\(texts["direction"])">
            <head>
            <meta charset="utf-8">
            <title>rtcshare – \(title)</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="robots" content="noindex">
            <link rel="icon" href="\(root)icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="\(root)base.css">
            <link rel="stylesheet" href="\(root)viewer.css">
            </head>
            <body data-state="refused">
            <main id="notice"><div class="words"><h1>\(title)</h1>\(text)</div></main>
            </body>
            </html>

            """
        var response = HTTPResponse(problem.status, type: "text/html; charset=utf-8", text: page)
        response.headers.add(name: "Content-Language", value: texts["language"])
        response.headers.add(name: "Vary", value: "Accept, Accept-Language")
        response.headers.add(name: "Content-Security-Policy", value: ViewerPage.contentSecurityPolicy)
        return response
    }

    /// Returns the first part of the keys of a problem's texts.
    private static func key(for problem: ProblemDetails) -> String {
        switch problem.status {
        case .notFound, .badRequest: "missing"
        case .methodNotAllowed: "players"
        case .misdirectedRequest: "host"
        case .unauthorized, .tooManyRequests: "secret"
        default: "failed"
        }
    }

    /// Returns a text with HTML's special characters escaped.
    private static func escaped(_ text: String) -> String {
        text.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined()
    }
}

internal import NIOHTTP1

/// What a person sees in a browser where a program gets JSON (RFC 9457).
enum ProblemPage {
    /// `root` leads to the folder of the viewer page, whose style it has.
    static func response(_ problem: ProblemDetails, root: String) -> HTTPResponse {
        let words = words(for: problem)
        let text = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>rtcshare – \(words.title.lowercased())</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="robots" content="noindex">
            <link rel="icon" href="\(root)icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="\(root)viewer.css">
            </head>
            <body data-state="refused">
            <section id="notice"><div class="words"><h1>\(words.title)</h1><p>\(words.text)</p></div></section>
            </body>
            </html>

            """
        var response = HTTPResponse(problem.status, type: "text/html; charset=utf-8", text: text)
        response.headers.add(name: "Content-Security-Policy", value: ViewerPage.contentSecurityPolicy)
        return response
    }

    private static func words(for problem: ProblemDetails) -> (title: String, text: String) {
        switch problem.status {
        case .notFound, .badRequest:
            ("There is nothing here", "Copy the whole link that you were given, and open it again.")
        case .methodNotAllowed:
            ("This address is for players", "In a browser, open the link itself: it ends in # and its secret.")
        case .misdirectedRequest:
            (
                "This computer has another name",
                "Open the link as you were given it, or ask the presenter to add this name."
            )
        case .unauthorized, .tooManyRequests:
            ("This needs the link’s secret", "In a browser, open the link itself: it ends in # and its secret.")
        default: ("That did not work", escaped(problem.detail))
        }
    }

    /// A sentence as markup has it.
    private static func escaped(_ sentence: String) -> String {
        let text = sentence.prefix(1).uppercased() + sentence.dropFirst()
        return text.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined() + "."
    }
}

/// The entity tag of one state of a session's ICE credentials (RFC 9110 §8.8.3).
struct EntityTag: Hashable, Sendable {
    /// The value between the quotes.
    let value: String

    /// The tag of a session's first credentials.
    static let first = EntityTag(value: "1")

    /// The value with its quotes.
    var headerValue: String { "\"\(value)\"" }

    /// The condition of an `If-Match` header.
    enum Condition: Hashable {
        /// No header: players that ignore entity tags send none.
        case none
        /// `*`, with or without quotes: any state.
        case any
        /// One of these states; weakness is ignored, and quotes may be missing.
        case one([String])

        init(_ headers: [String]) {
            let values = headers.flatMap { $0.split(separator: ",") }.map { value in
                var text = value.trimmingSpaces
                if text.hasPrefix("W/") { text = text.dropFirst(2) }
                if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = text.dropFirst().dropLast() }
                return String(text)
            }
            self = values.isEmpty ? .none : values.contains("*") ? .any : .one(values)
        }

        /// Returns whether it holds in this state.
        func holds(for tag: EntityTag) -> Bool {
            switch self {
            case .none, .any: true
            case .one(let values): values.contains(tag.value)
            }
        }
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends.
    var trimmingSpaces: Substring {
        var text = Substring(self)
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        return text
    }
}

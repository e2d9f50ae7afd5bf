internal import RTCShareWireFormat

/// The target of a request (RFC 9112 §3.2.1).
package struct HTTPTarget: Hashable, Sendable {
    /// The decoded segments of the path.
    package let segments: [String]
    /// Whether the path ends in a slash.
    package let endsInSlash: Bool
    /// The query after the path's question mark, not decoded.
    package let query: Substring?

    /// Parses a target; nil for an invalid path: other forms, invalid escapes, segments that lead elsewhere.
    package init?(_ text: String) {
        guard text.hasPrefix("/") else { return nil }
        let path = text.prefix { $0 != "?" && $0 != "#" }
        var segments: [String] = []
        for part in path.split(separator: "/") {
            guard let decoded = Self.decode(part), decoded != "..", decoded != "." else { return nil }
            segments.append(decoded)
        }
        self.segments = segments
        endsInSlash = path.hasSuffix("/")
        let rest = text.dropFirst(path.count)
        query = rest.first == "?" ? rest.dropFirst().prefix { $0 != "#" } : nil
    }

    /// The values of the query by their names (URL §5.1), empty without one; nil if it is invalid or has a name twice.
    package var parameters: [String: String]? {
        var parameters: [String: String] = [:]
        for field in (query ?? "").split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                String(part.map { $0 == "+" ? " " : $0 }).percentDecoded
            }
            guard parts.count == 2, let name = parts[0], let value = parts[1], parameters[name] == nil else {
                return nil
            }
            parameters[name] = value
        }
        return parameters
    }

    /// The relative reference from here to the directory of the first segment.
    var root: String {
        String(repeating: "../", count: max(0, segments.count - (endsInSlash ? 0 : 1)))
    }

    private init(segments: [String], of target: HTTPTarget) {
        self.segments = segments
        endsInSlash = target.endsInSlash
        query = target.query
    }

    private static func decode(_ part: Substring) -> String? {
        guard let text = part.percentDecoded,
            text.utf8.allSatisfy({
                $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
            })
        else { return nil }
        return text
    }

    /// Returns the target relative to a directory; unchanged if it is not below that, because a proxy may have removed
    /// it.
    func removing(base: [String]) -> HTTPTarget {
        guard !base.isEmpty, segments.starts(with: base) else { return self }
        return HTTPTarget(segments: Array(segments.dropFirst(base.count)), of: self)
    }
}

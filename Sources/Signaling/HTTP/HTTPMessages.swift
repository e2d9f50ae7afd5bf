internal import NIOCore
package import NIOHTTP1
internal import RTCShareContentShare
internal import RTCShareWireFormat

/// A request, whole.
package struct HTTPRequest: Sendable {
    package let method: HTTPMethod
    package let target: HTTPTarget
    let headers: HTTPHeaders
    package let body: [UInt8]
    /// Who asks, as the connection says.
    let peer: IPAddress?
    /// Whether it came over TLS.
    let isSecure: Bool

    /// The value of a header that stands once.
    package subscript(name: String) -> String? { headers.first(name: name) }

    /// The type of the body, without its parameters, in lower case.
    package var contentType: String? {
        self["Content-Type"].map { $0.prefix { $0 != ";" }.trimmingSpaces.lowercased() }
    }
}

/// Where a request goes (RFC 9112 §3.2.1).
package struct HTTPTarget: Hashable, Sendable {
    /// The parts of the path, decoded.
    package let segments: [String]
    /// Whether the path ends in a slash.
    package let endsInSlash: Bool
    /// What follows the path's question mark, as it stands.
    package let query: Substring?

    /// Nil for what is no path of ours: other forms, broken escapes, parts that lead elsewhere.
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

    /// The way from here to the folder of the first segment, as a reference.
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

    /// The same beneath a folder; unchanged where it is not there: a proxy may have taken it away.
    func removing(base: [String]) -> HTTPTarget {
        guard !base.isEmpty, segments.starts(with: base) else { return self }
        return HTTPTarget(segments: Array(segments.dropFirst(base.count)), of: self)
    }
}

/// A response.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Sent as it comes, until it ends or the client goes.
        case stream(AsyncStream<[UInt8]>)
    }

    package var status: HTTPResponseStatus
    package var headers = HTTPHeaders()
    package var body = Body.bytes([])
    /// Whether the request showed an accepted token, or the key of a session: its connection is spared longest.
    package var isForInvited = false
    /// Called where the client closed its connection before this could be sent.
    var notTaken: (@Sendable @SharingActor () -> Void)?

    package init(_ status: HTTPResponseStatus, type: String? = nil, body: [UInt8] = []) {
        self.status = status
        self.body = .bytes(body)
        if let type { headers.add(name: "Content-Type", value: type) }
    }

    init(_ status: HTTPResponseStatus, type: String, text: String) {
        self.init(status, type: type, body: Array(text.utf8))
    }
}

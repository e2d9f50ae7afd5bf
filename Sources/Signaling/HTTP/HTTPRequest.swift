package import NIOHTTP1
internal import RTCShareWireFormat

/// A complete request.
package struct HTTPRequest: Sendable {
    package let method: HTTPMethod
    package let target: HTTPTarget
    let headers: HTTPHeaders
    package let body: [UInt8]
    /// The client's address on the connection.
    let peer: IPAddress?
    /// Whether it arrived over TLS.
    let isSecure: Bool

    /// The value of a header that occurs once.
    package subscript(name: String) -> String? { headers.first(name: name) }

    /// Returns the values of all headers of this name.
    package func values(of name: String) -> [String] { headers[name] }

    /// The type of the body, without its parameters, in lower case.
    package var contentType: String? {
        self["Content-Type"].map { $0.prefix { $0 != ";" }.trimmingSpaces.lowercased() }
    }
}

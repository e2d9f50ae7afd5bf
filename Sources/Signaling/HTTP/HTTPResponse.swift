internal import NIOCore
package import NIOHTTP1
internal import RTCShareContentShare

/// A response.
package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// Sent as it is produced, until it ends or the client disconnects.
        case stream(AsyncStream<[UInt8]>)
    }

    package var status: HTTPResponseStatus
    package var headers = HTTPHeaders()
    package var body = Body.bytes([])
    /// Whether the request showed an accepted token, or the key of a session: its connection is closed last.
    package var isForInvited = false
    /// Called if the client closed its connection before this could be sent.
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

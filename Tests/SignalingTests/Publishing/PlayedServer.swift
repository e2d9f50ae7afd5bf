import Logging
import NIOHTTP1
import RTCShareCapture
import RTCShareContentShare
import RTCShareMedia
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareSignaling

/// A WHIP server that plays the part of an existing one: it receives a publication, and deviates from RFC 9725 as its
/// part requires.
actor PlayedServer {
    /// The behavior of a server.
    struct Part: Sendable {
        /// Path and query of its endpoint.
        var endpoint = "/whip"
        /// The token that a request must have.
        var token: String?
        /// The answer to a request without a token. Nil if it is the same as to a wrong token.
        var unshown: Refusal?
        var wrong = Refusal(.unauthorized)
        /// The path and query of a session, relative or absolute. Nil if the server does not send it.
        var location: String? = "/whip/sessions/1"
        var entityTag: String? = "\"1\""
        var status = HTTPResponseStatus.created
        var contentType: String? = "application/sdp"
        var links: [String] = []
        /// The text before the answer.
        var prefix = ""
        /// The answer to an offer that is rejected. Nil if it is accepted.
        var refusal: Refusal?
        var takesPictures = true
        var deleted = HTTPResponseStatus.ok
        /// The entity tag that a restart must name. Nil if restarts are not supported.
        var restartMark: String?
        var patched = HTTPResponseStatus.methodNotAllowed
    }

    struct Refusal: Sendable {
        var status: HTTPResponseStatus
        var type: String?
        var body = ""
        var headers: [(String, String)] = []

        init(
            _ status: HTTPResponseStatus, type: String? = nil, _ body: String = "", _ headers: [(String, String)] = []
        ) {
            (self.status, self.type, self.body, self.headers) = (status, type, body, headers)
        }

        var response: HTTPResponse {
            var response = HTTPResponse(status, type: type, body: Array(body.utf8))
            for (name, value) in headers { response.headers.add(name: name, value: value) }
            return response
        }
    }

    /// A request that it received.
    struct Asked: Sendable {
        let method: String
        let target: String
        let authorization: String?
        let contentType: String?
        let ifMatch: String?
        let body: String
    }

    private var part: Part
    private(set) var asked: [Asked] = []
    /// The publishing sessions, the newest last.
    private(set) var sessions: [AttendeeSession] = []
    private var offer: SessionDescription?
    /// Whether answers wait until they may go out.
    private var isHolding = false
    private var server: HTTPServer?
    private(set) var port: UInt16 = 0

    init(_ part: Part = Part(), port: UInt16 = 0) async throws {
        self.part = part
        let server = try await HTTPServer.start(
            addresses: [.v4(0x7F00_0001)], ports: [port], tls: nil, logger: Logger(label: "test")
        ) { [weak self] request in
            await self?.respond(to: request) ?? HTTPResponse(.serviceUnavailable)
        }
        self.server = server
        self.port = server.port
    }

    var url: String { "http://127.0.0.1:\(port)\(part.endpoint)" }

    func play(_ part: Part) { self.part = part }

    func end() async {
        await server?.close()
        for session in sessions { await session.leave() }
    }

    /// Answers no request until ``release()``.
    func hold() { isHolding = true }

    func release() { isHolding = false }

    /// Forgets the publishing sessions without notice, like a server that is restarted.
    func forget() {
        part.location = "/whip/sessions/others"
    }

    private func respond(to request: HTTPRequest) async -> HTTPResponse {
        let target = "/" + request.target.segments.joined(separator: "/") + (request.target.endsInSlash ? "/" : "")
        let shown = target + (request.target.query.map { "?\($0)" } ?? "")
        asked.append(
            Asked(
                method: request.method.rawValue, target: shown, authorization: request["Authorization"],
                contentType: request["Content-Type"], ifMatch: request["If-Match"],
                body: String(decoding: request.body, as: UTF8.self)))
        await waitUntil { !isHolding }
        if let token = part.token {
            guard let authorization = request["Authorization"] else { return (part.unshown ?? part.wrong).response }
            guard authorization == "Bearer \(token)" else { return part.wrong.response }
        }
        switch request.method {
        case .POST where shown == part.endpoint: return await begin(request)
        case .PATCH where shown == location: return await patch(request)
        case .DELETE where shown == location:
            await sessions.last?.leave()
            return HTTPResponse(part.deleted)
        default: return HTTPResponse(.notFound)
        }
    }

    /// The URL of the session, as a client must determine it.
    private var location: String? {
        part.location.flatMap { location in
            WebAddress(url)?.resolving(location).map { String($0.description.dropFirst($0.origin.count)) }
        }
    }

    private func begin(_ request: HTTPRequest) async -> HTTPResponse {
        if let refusal = part.refusal { return refusal.response }
        do {
            let offer = try SessionDescription.parse(utf8: request.body)
            let session = try await AttendeeSession.viewing(
                as: AttendeeID("server"), configuration: ServerFixture.connection)
            var answer = try await session.connection.answer(offer: offer)
            sessions.append(session)
            self.offer = offer
            if !part.takesPictures { answer = Self.withoutPictures(answer) }
            var response = HTTPResponse(
                part.status, type: part.contentType, body: Array((part.prefix + answer.description).utf8))
            if let location = part.location { response.headers.add(name: "Location", value: location) }
            if let tag = part.entityTag { response.headers.add(name: "ETag", value: tag) }
            for link in part.links { response.headers.add(name: "Link", value: link) }
            return response
        } catch {
            return Refusal(.badRequest, type: "text/plain", "\(error)").response
        }
    }

    private static func withoutPictures(_ answer: SessionDescription) -> SessionDescription {
        var text = answer.description
        for media in answer.media where media.kind == "video" {
            let line = media.line.description
            let words = line.split(separator: " ")
            text = text.replacing(line, with: line.replacing(" \(words[1]) ", with: " 0 ", maxReplacements: 1))
            guard let mid = try? media.mid() else { continue }
            for group in answer.attributes("group") {
                let kept = group.description.split(separator: " ").filter { $0 != mid }.joined(separator: " ")
                text = text.replacing(group.description, with: kept)
            }
        }
        return (try? SessionDescription.parse(text)) ?? answer
    }

    private func patch(_ request: HTTPRequest) async -> HTTPResponse {
        guard let mark = part.restartMark, let offer, let session = sessions.last else {
            return HTTPResponse(part.patched)
        }
        guard request["If-Match"] == mark else { return HTTPResponse(part.patched) }
        do {
            let fragment = try TrickleFragment(parsing: String(decoding: request.body, as: UTF8.self))
            let answer = try await session.connection.answer(offer: fragment.replacing(in: offer))
            return HTTPResponse(.ok, type: TrickleFragment.mediaType, text: TrickleFragment.text(of: answer))
        } catch {
            return Refusal(.unprocessableEntity, type: "text/plain", "\(error)").response
        }
    }
}

/// Alice's room, whose share is published.
struct PublishingFixture {
    let room: SharingRoom
    let screen: any CaptureSource
    let sound: any AudioCaptureSource

    init() async throws {
        room = try SharingRoom(owner: AttendeeID("alice"))
        screen = try TestPatternSource.testPattern(size: PixelSize(width: 192, height: 144))
        sound = try ToneSource.tone()
        try await room.contentShare.start(source: screen, audio: sound)
        try screen.start()
        try sound.start()
    }

    func end() async {
        screen.stop()
        sound.stop()
        await room.end()
    }

    /// The endpoint of a server.
    func endpoint(_ server: PlayedServer, token: String? = nil) async throws -> WHIPEndpoint {
        var endpoint = try WHIPEndpoint(
            url: await server.url, token: try token.map { try AccessToken(presenting: $0) })
        endpoint.configuration = ServerFixture.connection
        return endpoint
    }
}

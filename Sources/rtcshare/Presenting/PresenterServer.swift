internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareSignaling
internal import RTCShareWireFormat

/// Serves the presenter's page and the control interface to a browser of the same user on this machine.
///
/// The link is an argument of the browser, which all users of the machine can read. So connections of other users are
/// closed before anything is read from them.
final class PresenterServer: Sendable {
    private struct Stranger: Error {}

    /// The link, with the secret in its fragment, which browsers send to no server.
    let link: String
    private let server: HTTPServer
    private let responder: ControlResponder

    private init(link: String, server: HTTPServer, responder: ControlResponder) {
        (self.link, self.server, self.responder) = (link, server, responder)
    }

    /// An address and not the name: `localhost` can also be an IPv6 address, whose port another user can take.
    private static let address = IPAddress.v4(0x7F00_0001)

    private static let limits: HTTPServer.Limits = {
        var limits = HTTPServer.Limits.ownPrograms
        // A browser opens six for each page.
        limits.connections = 32
        return limits
    }()

    /// Starts to serve, with a new secret.
    static func start(answering responder: ControlResponder) async throws -> PresenterServer {
        let secret = AccessToken()
        // The port is known only after the server has started.
        let entrance = Locked<PresenterGuard?>(nil)
        let server = try await HTTPServer.start(
            addresses: [address], ports: [0], tls: nil, limits: limits, logger: Logger(label: "rtcshare.presenter"),
            admit: admit
        ) { request in
            guard let entrance = entrance.withLock({ $0 }) else { return HTTPResponse(.serviceUnavailable) }
            return await response(to: request, entrance, responder)
        }
        do {
            try KernelSocket.checkUsers(at: TransportAddress(ip: address, port: server.port))
        } catch {
            await server.finish(within: .zero)
            throw error
        }
        entrance.withLock { $0 = PresenterGuard(port: server.port, secret: secret) }
        return PresenterServer(
            link: "http://\(address):\(server.port)/#\(secret.secretText)", server: server, responder: responder)
    }

    /// Stops serving.
    func close() async {
        await responder.end()
        await server.finish(within: ControlResponder.closingTime)
    }

    /// Rejects connections of other users, before a byte is read.
    private static func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let peer = channel.remoteAddress.flatMap(TransportAddress.init(of:)),
            let own = channel.localAddress.flatMap(TransportAddress.init(of:))
        else { return channel.eventLoop.makeFailedFuture(Stranger()) }
        return channel.eventLoop.makeCompletedFuture {
            // This takes microseconds: other users can open many connections.
            guard try KernelSocket(at: peer, to: own).isConnection(of: geteuid()) else { throw Stranger() }
        }
    }

    // MARK: Responses

    @SharingActor static func response(
        to request: HTTPRequest, _ entrance: PresenterGuard, _ responder: ControlResponder
    ) async -> HTTPResponse {
        var response: HTTPResponse
        do throws(ProblemDetails) {
            let isControl = request.target.segments.first == "v1"
            try entrance.check(request.method, isControl: isControl, request.values(of:))
            response =
                isControl ? await responder.respond(to: request, keepsProgram: true) { _ in } : try file(for: request)
            // A connection with the secret is closed last.
            response.isForInvited = isControl
        } catch {
            response = error.response
        }
        for (name, value) in headers { response.headers.replaceOrAdd(name: name, value: value) }
        return response
    }

    private static func file(for request: HTTPRequest) throws(ProblemDetails) -> HTTPResponse {
        guard let file = PresenterFiles.file(request.target.segments.joined(separator: "/")) else {
            throw ProblemDetails(.notFound, "there is nothing here", remedy: nil, exitStatus: 66)
        }
        guard request.method == .GET || request.method == .HEAD else {
            var problem = ProblemDetails(
                .methodNotAllowed, "this is a file of the page", remedy: nil, exitStatus: 64)
            problem.headers = [("Allow", "GET, HEAD")]
            throw problem
        }
        return HTTPResponse(.ok, type: file.type, body: file.bytes)
    }

    /// The page uses only resources of this server, is in no frame, and nothing of it is kept.
    private static let headers = [
        (
            "Content-Security-Policy",
            [
                "default-src 'none'", "script-src 'self' \(ViewerPage.inlineScript)", "style-src 'self'",
                "img-src 'self' blob: data:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
                "frame-ancestors 'none'",
            ].joined(separator: "; ")
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]
}

extension TransportAddress {
    /// Returns a socket's address; nil if it is not one of IP.
    fileprivate init?(of address: SocketAddress) {
        guard let ip = address.ipAddress.flatMap({ IPAddress($0) }),
            let port = address.port.flatMap(UInt16.init(exactly:))
        else { return nil }
        self.init(ip: ip, port: port)
    }
}

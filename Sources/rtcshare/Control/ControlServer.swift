internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import RTCShareSignaling

/// Answers HTTP requests at a share's socket, as ``ControlRoute`` and `openapi.json` describe them.
///
/// Clients are processes of this user, or of root. Requests with the names of other hosts are rejected, because a page
/// that reaches a forwarded socket has such a name (DNS rebinding).
final class ControlServer: Sendable {
    private struct Stranger: Error {}

    private let server: HTTPServer
    private let socket: ControlSocket
    private let responder: ControlResponder

    private init(server: HTTPServer, socket: ControlSocket, responder: ControlResponder) {
        (self.server, self.socket, self.responder) = (server, socket, responder)
    }

    /// Starts to answer at a listening socket.
    static func start(
        _ listening: ControlSocket.Listening, limits: HTTPServer.Limits = .ownPrograms,
        answering responder: ControlResponder
    ) async throws -> ControlServer {
        let server = try await HTTPServer.start(
            listening: listening.descriptor, limits: limits, logger: Logger(label: "rtcshare.control"), admit: admit
        ) { request in
            await responder.respond(to: request) { request throws(ProblemDetails) in
                guard HostCheck.isLoopback(host: request["Host"]) else {
                    throw ProblemDetails(
                        .misdirectedRequest, "the request names another host", remedy: "http://localhost",
                        exitStatus: 64)
                }
            }
        }
        return ControlServer(server: server, socket: listening.socket, responder: responder)
    }

    /// Stops listening, and answers clients that wait for the share's end. Answers in progress are still sent.
    func close() async {
        socket.remove()
        await responder.end()
        await server.finish(within: ControlResponder.closingTime)
    }

    private static func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(Stranger())
        }
        let peer: EventLoopFuture<SocketPeer> = provider.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return peer.flatMapThrowing { peer in
            guard peer.isTrusted(by: geteuid()) else { throw Stranger() }
        }
    }
}

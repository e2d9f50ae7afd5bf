internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import RTCShareCControlAPI
internal import RTCShareLocks
internal import RTCShareSignaling
internal import Synchronization

/// Answers HTTP requests at a share's socket, as ``ControlRoute`` and `openapi.json` describe them.
///
/// Clients are processes of this user, or of root. Requests with the names of other hosts are rejected, because a page
/// that reaches a forwarded socket has such a name (DNS rebinding).
final class ControlServer: Sendable {
    typealias Respond = @Sendable (ControlRequest) async -> ControlAnswer

    private struct Stranger: Error {}

    private let server: HTTPServer
    private let socket: ControlSocket
    private let end: AsyncStream<Void>.Continuation

    /// The timeout for an answer in progress at the end.
    private static let closingTime = Duration.seconds(1)
    private static let timeBetweenEvents = Duration.seconds(1)
    /// The maximum number of streams of events: the other connections are for requests.
    private static let maximumWatchers = 8

    private init(server: HTTPServer, socket: ControlSocket, end: AsyncStream<Void>.Continuation) {
        (self.server, self.socket, self.end) = (server, socket, end)
    }

    /// Starts to answer at a listening socket.
    static func start(
        _ listening: ControlSocket.Listening, limits: HTTPServer.Limits = .ownPrograms, respond: @escaping Respond
    ) async throws -> ControlServer {
        let (ending, end) = AsyncStream.makeStream(of: Void.self)
        let ended = Task { for await _ in ending {} }
        let watchers = Watchers()
        let server = try await HTTPServer.start(
            listening: listening.descriptor, limits: limits, logger: Logger(label: "rtcshare.control"), admit: admit
        ) { request in
            var response: HTTPResponse
            do throws(ProblemDetails) {
                response = try await Self.response(to: request, ended: ended, watchers, respond)
            } catch {
                response = error.response
            }
            response.headers.add(name: "Cache-Control", value: "no-store")
            return response
        }
        return ControlServer(server: server, socket: listening.socket, end: end)
    }

    /// Stops listening, and answers clients that wait for the share's end. Answers in progress are still sent.
    func close() async {
        socket.remove()
        end.finish()
        await server.finish(within: Self.closingTime)
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

    // MARK: Responses

    private static func response(
        to request: HTTPRequest, ended: Task<Void, Never>, _ watchers: Watchers, _ respond: @escaping Respond
    ) async throws(ProblemDetails) -> HTTPResponse {
        guard HostCheck.isLoopback(host: request["Host"]) else {
            throw ProblemDetails(
                .misdirectedRequest, "the request names another host", remedy: "http://localhost", exitStatus: 64)
        }
        switch try ControlRoute.action(for: request) {
        case .describe:
            var size = 0
            let text = control_api(&size)
            let body = Array(UnsafeBufferPointer(start: text, count: size))
            return HTTPResponse(.ok, type: "application/json", body: body)
        case .watch:
            guard let watcher = watchers.add(upTo: maximumWatchers) else {
                throw ProblemDetails(
                    .serviceUnavailable, "\(maximumWatchers) programs watch this share already",
                    remedy: "end one of them, such as rtcshare status --watch", exitStatus: 69)
            }
            var response = HTTPResponse(.ok, type: "text/event-stream")
            response.body = .stream(events(for: watcher, respond))
            return response
        case .ask(let asked):
            let answer = await respond(asked)
            if asked == .stop { await ended.value }
            return try response(with: answer)
        }
    }

    /// Returns the state of the share at once, and then each second.
    private static func events(for watcher: Watcher, _ respond: @escaping Respond) -> AsyncStream<[UInt8]> {
        AsyncStream {
            if watcher.hasBegun.exchange(true, ordering: .relaxed),
                (try? await Task.sleep(for: timeBetweenEvents)) == nil
            {
                return nil
            }
            guard case .status(let share) = await respond(.status), let data = try? ControlJSON.encode(share) else {
                return nil
            }
            return Array("event: share\ndata: ".utf8) + data + Array("\n\n".utf8)
        }
    }

    private static func response(with answer: ControlAnswer) throws(ProblemDetails) -> HTTPResponse {
        switch answer {
        case .done(let notice): return json(ControlNotice(notice: notice))
        case .status(let share): return json(share)
        case .links(let links): return json(ControlLinks(links: links))
        case .offer(let viewer, let description):
            var response = json(ControlDescription(viewer: viewer, type: .offer, sdp: description))
            response.status = .created
            response.headers.add(name: "Location", value: "/v1/viewers/\(viewer)")
            return response
        case .failed(let status, let reason, let list, let remedy):
            let code: HTTPResponseStatus =
                switch CommandFailure.Status(rawValue: status) {
                case .usage, .badInput: .unprocessableEntity
                case .inputMissing: .notFound
                case .unavailable: .conflict
                case .notPermitted: .forbidden
                case .internalError, .cannotCreate, .inputOutput, .protocol, nil: .internalServerError
                }
            throw ProblemDetails(code, reason, list: list, remedy: remedy, exitStatus: status)
        }
    }

    private static func json(_ message: some Encodable) -> HTTPResponse {
        guard let body = try? ControlJSON.encode(message) else { return HTTPResponse(.internalServerError) }
        return HTTPResponse(.ok, type: "application/json", body: body)
    }
}

/// The open streams of events.
private final class Watchers: Sendable {
    private let count = Locked(0)

    /// Adds a stream; nil if there are `limit`.
    func add(upTo limit: Int) -> Watcher? {
        let isAdded = count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        return isAdded ? Watcher(self) : nil
    }

    fileprivate func remove() { count.withLock { $0 -= 1 } }
}

/// An open stream of events, which counts as long as it exists.
private final class Watcher: Sendable {
    let hasBegun = Atomic(false)
    private let watchers: Watchers

    fileprivate init(_ watchers: Watchers) { self.watchers = watchers }

    deinit { watchers.remove() }
}

internal import NIOHTTP1
internal import RTCShareCControlAPI
internal import RTCShareContentShare
internal import RTCShareSignaling

/// The responses of the control interface, the same at the socket of a share and on the presenter's page.
@SharingActor final class ControlResponder {
    typealias Answer = @Sendable (ControlRequest) async -> ControlAnswer
    /// Throws for a request that must be rejected.
    typealias Check = @Sendable @SharingActor (HTTPRequest) throws(ProblemDetails) -> Void

    private struct Stream {
        /// Each thread of the stream holds its events.
        weak var events: SourceEvents?
    }

    private let answer: Answer
    private let watchers: ShareWatchers
    /// The clients that wait for the end of the share.
    private var stopping: [CheckedContinuation<Void, Never>] = []
    /// The streams of sources. A closed one stays until its threads have ended: a display may not answer them.
    private var sources: [Stream] = []
    /// The number of shares that have ended.
    private var ends = 0

    /// The timeout for answers and events in progress at the end.
    static let closingTime = Duration.seconds(1)
    /// The maximum number of streams of sources, each of which follows the display on its own.
    private static let mostSourceStreams = 4

    nonisolated init(_ answer: @escaping Answer) {
        self.answer = answer
        watchers = ShareWatchers {
            guard case .status(let share) = await answer(.status) else { return nil }
            return share
        }
    }

    /// Whether a client follows the events.
    var isWatched: Bool { watchers.isWatched }

    /// Returns the response to a request that `check` accepts. With `keepsProgram`, one that stops a share ends no program
    /// without a share.
    func respond(to request: HTTPRequest, keepsProgram: Bool = false, _ check: Check) async -> HTTPResponse {
        var response: HTTPResponse
        do throws(ProblemDetails) {
            try check(request)
            response = try await self.response(to: request, keepsProgram: keepsProgram)
        } catch {
            response = error.response
        }
        response.headers.add(name: "Cache-Control", value: "no-store")
        return response
    }

    /// Notifies the clients that follow the events of a change.
    func stateDidChange() async { await watchers.stateDidChange() }

    /// Answers the clients that wait for the end of the share, and notifies those that follow the events.
    func shareDidEnd(reason: String?) {
        startDidEnd()
        watchers.shareDidEnd(reason: reason)
    }

    /// Answers the clients that wait for the end of a share that did not start.
    func startDidEnd() {
        ends += 1
        for continuation in stopping { continuation.resume() }
        stopping = []
    }

    /// Ends the streams of events, and answers the clients that wait.
    func end() {
        startDidEnd()
        watchers.end()
        for stream in sources { stream.events?.end() }
    }

    private func response(
        to request: HTTPRequest, keepsProgram: Bool
    ) async throws(ProblemDetails) -> HTTPResponse {
        switch try ControlRoute.action(for: request) {
        case .describe:
            var size = 0
            let text = control_api(&size)
            let body = Array(UnsafeBufferPointer(start: text, count: size))
            return HTTPResponse(.ok, type: "application/json", body: body)
        case .watch:
            var response = HTTPResponse(.ok, type: "text/event-stream")
            response.body = .stream(try await watchers.add())
            return response
        case .watchSources(let source):
            var response = HTTPResponse(.ok, type: "text/event-stream")
            response.body = .stream(try stream(of: source))
            return response
        case .image(let spec, let width):
            do {
                return HTTPResponse(
                    .ok, type: "image/png", body: try await SourceStream.image(of: spec, width: width))
            } catch {
                return try Self.response(with: ControlAnswer(CommandFailure(explaining: error)))
            }
        case .ask(let asked):
            let before = ends
            if asked == .stop, keepsProgram {
                let status = await answer(.status)
                if case .failed = status { return try Self.response(with: status) }
            }
            let answer = await answer(asked)
            if request.method != .GET { await watchers.stateDidChange() }
            if asked == .stop, case .done = answer, ends == before {
                await withCheckedContinuation { stopping.append($0) }
            }
            var response = try Self.response(with: answer)
            if case .start = asked { response.status = .created }
            return response
        }
    }

    /// Opens a stream of sources.
    func stream(of source: SourceStream) throws(ProblemDetails) -> AsyncStream<[UInt8]> {
        sources.removeAll { $0.events == nil }
        guard sources.count < Self.mostSourceStreams else {
            throw ProblemDetails(
                .serviceUnavailable,
                "\(Self.mostSourceStreams) pages show the sources already, or wait for a display that does not answer",
                remedy: "close one of them", exitStatus: 69)
        }
        let events = SourceEvents()
        sources.append(Stream(events: events))
        return source.start(events)
    }

    private static func response(with answer: ControlAnswer) throws(ProblemDetails) -> HTTPResponse {
        switch answer {
        case .done(let notice): return json(ControlNotice(notice: notice))
        case .status(let share): return json(share)
        case .links(let places): return json(ControlLinks(places))
        case .history(let history): return json(history)
        case .page(let url): return json(ControlPage(url: url))
        case .content(let type, let bytes): return HTTPResponse(.ok, type: type, body: bytes)
        case .offer(let viewer, let description):
            var response = json(ControlDescription(viewer: viewer, type: .offer, sdp: description))
            response.status = .created
            response.headers.add(name: "Location", value: "/v1/viewers/\(viewer)")
            return response
        case .preview(let preview, let description):
            var response = json(ControlDescription(type: .answer, sdp: description))
            response.status = .created
            response.headers.add(name: "Location", value: "/v1/previews/\(preview)")
            return response
        case .failed(let status, let reason, let list, let remedy):
            let code: HTTPResponseStatus =
                switch CommandFailure.Status(rawValue: status) {
                case .usage, .badInput: .unprocessableEntity
                case .inputMissing: .notFound
                case .unavailable, .cannotCreate: .conflict
                case .inputOutput: .insufficientStorage
                case .notPermitted: .forbidden
                case .internalError, .protocol, nil: .internalServerError
                }
            throw ProblemDetails(code, reason, list: list, remedy: remedy, exitStatus: status)
        }
    }

    private static func json(_ message: some Encodable) -> HTTPResponse {
        guard let body = try? ControlJSON.encode(message) else { return HTTPResponse(.internalServerError) }
        return HTTPResponse(.ok, type: "application/json", body: body)
    }
}

internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareTransport

/// Answers the requests to this process's share: from its control socket, and from the presenter's page.
@SharingActor final class ControlDesk {
    /// The share; nil if nothing is shared.
    private(set) var share: RunningShare?
    /// Starts shares; nil if this process has one share.
    private let presenter: Presenter?
    private var socket: ControlServer?
    /// The server of the presenter's page, which is started when the page is opened first.
    private var page: Task<PresenterServer, any Error>?
    /// The question to the router that has no answer yet.
    private var examination: Task<ControlRouter, Never>?
    private let choiceTurns = TurnQueue()
    /// The part of the desktop in the share, from the first opening of the page on; nil without a desktop.
    var desktop: DesktopParticipation?
    private lazy var responder = ControlResponder { [weak self] request in
        await self?.answer(request) ?? Self.nothingShared
    }

    init(of presenter: Presenter? = nil) { self.presenter = presenter }

    /// The name of the control socket.
    private(set) var name = ControlSocket.defaultName

    /// Whether a client follows the events.
    var isWatched: Bool { responder.isWatched }

    /// Answers requests at a socket.
    func listen(at listening: ControlSocket.Listening) async throws {
        name = listening.socket.name
        socket = try await ControlServer.start(listening, answering: responder)
    }

    /// Returns the link of the presenter's page, and serves it from then on. The desktop takes part from then on, too.
    func openPage() async throws -> String {
        let opening = page ?? Task { [responder] in try await PresenterServer.start(answering: responder) }
        page = opening
        do {
            let link = try await opening.value.link
            await joinDesktop()
            return link
        } catch {
            page = nil
            throw error
        }
    }

    // MARK: Requests

    /// Answers a request.
    func answer(_ request: ControlRequest) async -> ControlAnswer {
        do {
            switch request {
            case .openPage: return .page(url: try await openPage())
            case .start(let start): return try await answerStart(start)
            case .choices: return try ControlAnswer(json: ShareStart(storedAt: ShareStart.path).withConfiguration)
            case .keep(let choices):
                try await keep { try choices.keep() }
                return .done(notice: nil)
            case .sources: return try await Self.sources()
            case .router: return try ControlAnswer(json: await examineRouter())
            case .stop where share == nil && presenter != nil:
                presenter?.stop()
                return .done(notice: "Nothing was shared. The presenter page is closed.")
            case .status: return await share?.answer(request) ?? Self.nothingShared
            default:
                let answer = await share?.answer(request) ?? Self.nothingShared
                await shareDidChange()
                return answer
            }
        } catch {
            return ControlAnswer(CommandFailure(explaining: error))
        }
    }

    private func answerStart(_ start: ShareStart) async throws -> ControlAnswer {
        guard let presenter else {
            throw CommandFailure(.unavailable, "this share was started by another command", try: "rtcshare present")
        }
        try await presenter.start(start, on: self)
        if start.isRecording == true, let share,
            case .failed(_, let reason, let list, let remedy) = await share.answer(.record(true))
        {
            // The share runs all the same.
            let failure = CommandFailure(.unavailable, report: [reason] + list, try: remedy)
            share.tell(failure.lines(after: "Warning: "))
        }
        return .done(notice: "Viewers can join now.")
    }

    /// Calls `store`, which changes the stored choices, one after the other.
    func keep(_ store: @escaping @Sendable () throws -> Void) async throws {
        try await choiceTurns.run { try await WorkerThread.run(named: "choices", store) }
    }

    /// Returns the sources of this machine, as `rtcshare sources --json` prints them.
    private nonisolated static func sources() async throws -> ControlAnswer {
        try await WorkerThread.run(named: "sources") {
            let list = SourceListing(environment: ProcessInfo.processInfo.environment, includingMinimized: false)
            return try ControlAnswer(json: list)
        }
    }

    /// Asks the router for a port. Requests that come meanwhile get the same answer.
    private func examineRouter() async -> ControlRouter {
        let examination = examination ?? Task { ControlRouter(await RouterDiagnosis.examine()) }
        self.examination = examination
        defer { self.examination = nil }
        return await examination.value
    }

    private nonisolated static var nothingShared: ControlAnswer {
        ControlAnswer(CommandFailure(.inputMissing, "nothing is shared", try: "rtcshare serve"))
    }

    // MARK: The share

    /// Notifies the clients of a change by another one.
    func stateDidChange() async { await responder.stateDidChange() }

    /// Ends the presenter's program with the session of the desktop.
    func sessionDidEnd() { presenter?.sessionDidEnd() }

    /// Answers requests with this share.
    func begin(_ share: RunningShare) { self.share = share }

    /// Notifies the presenter that viewers can join the share.
    func shareDidStart() { presenter?.shareDidStart() }

    /// Answers clients that wait for the end of a share that did not start.
    func startDidEnd() { responder.startDidEnd() }

    /// Notifies clients of the end of the share. `reason` is the sentence about it. Without a presenter, this stops
    /// listening.
    func shareDidEnd(reason: String?) async {
        share = nil
        desktop?.show(nil)
        responder.shareDidEnd(reason: reason)
        if presenter == nil { await close() }
    }

    /// Stops listening.
    func close() async {
        async let closing: Void? = socket?.close()
        await desktop?.close()
        if let page { await (try? page.value)?.close() }
        _ = await closing
    }
}

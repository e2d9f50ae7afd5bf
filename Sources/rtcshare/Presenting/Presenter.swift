internal import RTCShareContentShare
internal import RTCShareLocks

/// The program of a presenter who works with the page alone: it runs the shares that the page starts, one after the other.
@SharingActor final class Presenter {
    private let interruption: Interruption
    private let sleep: @Sendable (Duration) async throws -> Void
    private var sharing: Task<Void, Never>?
    /// The client that waits for the start of the share.
    private var starting: AsyncStream<Result<Void, CommandFailure>>.Continuation?
    private var isEnding = false
    private let (ending, end) = AsyncStream.makeStream(of: Void.self)

    /// The time without a share and without an open page after which the program ends.
    static let patience = Duration.seconds(60)
    private static let interval = Duration.seconds(10)

    init(
        interruption: Interruption,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        (self.interruption, self.sleep) = (interruption, sleep)
    }

    /// Answers requests at a socket, and calls `open` with the link of the page. Returns at the end, after the share's.
    func run(at listening: ControlSocket.Listening, open: @SharingActor (String) async throws -> Void) async throws {
        let desk = ControlDesk(of: self)
        let watching = Task { [interruption] in
            for await _ in interruption.requested {
                stopStart()
                finish()
            }
        }
        let waiting = Task { await endWithoutClients(of: desk) }
        defer { for task in [watching, waiting] { task.cancel() } }
        do {
            try await desk.listen(at: listening)
            try await open(try await desk.openPage())
            for await _ in ending {}
            await sharing?.value
        } catch {
            await desk.close()
            throw error
        }
        await desk.close()
    }

    /// Ends the start of a share; without one, ends the program.
    func stop() {
        if sharing == nil { finish() } else { stopStart() }
    }

    /// Cancels a start. A share that runs, or ends, is left to end with its viewers.
    private func stopStart() {
        if starting != nil { sharing?.cancel() }
    }

    private func finish() {
        isEnding = true
        end.finish()
    }

    /// Ends the program and its share, as a signal does.
    func sessionDidEnd() { interruption.request() }

    /// Starts a share, and returns when viewers can join. A share that has ended closes its ports first.
    /// - Throws: The reason if it can't start, or if there is one already.
    func start(_ start: ShareStart, on desk: ControlDesk) async throws(CommandFailure) {
        // The end of a share is reported before a router has closed the ports, which can take seconds.
        if starting == nil, desk.share == nil { await sharing?.value }
        guard !isEnding else { throw CommandFailure(.unavailable, "rtcshare present is ending") }
        guard sharing == nil else {
            throw CommandFailure(.unavailable, "something is shared already", try: "rtcshare stop")
        }
        let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Void, CommandFailure>.self)
        starting = outcome
        sharing = Task { [interruption] in
            do {
                let command = try await WorkerThread.run(named: "options") { try start.command() }
                try await command.run(on: desk) { selection in
                    (try await Self.open(selection, for: command, interruption), interruption)
                }
            } catch  where Task.isCancelled {
                // The client that waits is told so.
            } catch {
                let failure = CommandFailure(explaining: error)
                if starting == nil { Terminal.shared.say(failure.lines(after: "")) }
                outcome.yield(.failure(failure))
            }
            outcome.finish()
            starting = nil
            sharing = nil
            desk.startDidEnd()
        }
        for await outcome in outcomes {
            try outcome.get()
            do {
                try await desk.keep { try start.keep() }
            } catch {
                Terminal.shared.say(
                    "Can't save the choices for the next share: \(StandardStreams.reason(of: error)).")
            }
            return
        }
        throw CommandFailure(.unavailable, "the share was stopped before viewers could join")
    }

    /// Opens the sources of a share, which can take as long as a person needs in the desktop's dialog. Nobody waits for that
    /// after a cancellation.
    private static func open(
        _ selection: SourceSelection, for command: ServeCommand, _ interruption: Interruption
    ) async throws -> OpenedSources {
        let opened = try await interruption.result {
            try await WorkerThread.run(named: "source") { try command.sharing.open(selection) }
        }
        guard let opened else { throw CancellationError() }
        return opened
    }

    /// Continues the client that waits for the start of the share.
    func shareDidStart() {
        starting?.yield(.success(()))
        starting?.finish()
        starting = nil
    }

    /// Waits until no page was open and nothing was shared for some time, and ends the program.
    private func endWithoutClients(of desk: ControlDesk) async {
        var idle = Duration.zero
        while idle < Self.patience {
            guard (try? await sleep(Self.interval)) != nil else { return }
            idle = sharing == nil && !desk.isWatched ? idle + Self.interval : .zero
        }
        finish()
    }
}

internal import Dispatch
internal import Glibc
internal import RTCShareLocks

/// SIGINT, SIGTERM and SIGHUP: the first requests a clean end, a later one that a person sent ends the process at once.
final class Interruption: Sendable {
    private let listeners = SignalListeners()
    // Dispatch sources are safe to share; the protocol does not say so. Nobody touches them after `init` but `deinit`.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    init() {
        let listeners = listeners
        sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            // The default action would end the process before the peer hears of it.
            let previous = signal(number, SIG_IGN)
            // A program under nohup outlives its terminal.
            guard number != SIGHUP || !Self.ignores(previous) else { return nil }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // A mask of blocked signals, which Dispatch may have set, would keep a default action waiting.
                if listeners.receive(number) == .atOnce { _exit(128 + number) }
            }
            source.resume()
            return source
        }
        // A viewer that ends while its pipe is being written to is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    private static func ignores(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Finishes with the first signal's number; a stream for each reader.
    var requested: AsyncStream<Int32> { listeners.stream() }

    /// The result of `body`, or nil where a signal comes first. The body is cancelled then, and not waited for.
    func result<Success: Sendable>(
        of body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success? {
        let (results, continuation) = AsyncStream.makeStream(of: Result<Success, any Error>?.self)
        let watcher = Task { [requested] in
            for await _ in requested { continuation.yield(nil) }
        }
        let work = Task {
            do {
                continuation.yield(.success(try await body()))
            } catch {
                continuation.yield(.failure(error))
            }
        }
        defer {
            watcher.cancel()
            work.cancel()
        }
        for await result in results { return try result?.get() }
        return nil
    }

    deinit {
        for source in sources { source.cancel() }
    }
}

/// Those who wait for the first signal.
private final class SignalListeners: Sendable {
    private struct State {
        var end = RequestedEnd()
        var number: Int32?
        var waiting: [AsyncStream<Int32>.Continuation] = []
    }

    private let state = Locked(State())

    /// Passes the first signal on, and returns the effect of this one.
    func receive(_ number: Int32) -> RequestedEnd.Effect {
        let (effect, waiting) = state.withLock { state in
            let effect = state.end.receive(number, at: .now)
            guard effect == .begin else { return (effect, [AsyncStream<Int32>.Continuation]()) }
            state.number = number
            defer { state.waiting = [] }
            return (effect, state.waiting)
        }
        for continuation in waiting { Self.finish(continuation, with: number) }
        return effect
    }

    func stream() -> AsyncStream<Int32> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        let number: Int32? = state.withLock { state in
            if state.number == nil { state.waiting.append(continuation) }
            return state.number
        }
        if let number { Self.finish(continuation, with: number) }
        return stream
    }

    private static func finish(_ continuation: AsyncStream<Int32>.Continuation, with number: Int32) {
        continuation.yield(number)
        continuation.finish()
    }
}

/// An end that signals request.
///
/// One request can arrive as several signals: `timeout` signals its child and then the whole group, wrappers forward signals
/// that the group has received already, and a terminal that is closed hangs up more than once.
struct RequestedEnd {
    /// The effect of a signal.
    enum Effect {
        /// Begin to end cleanly.
        case begin
        /// Continue with the clean end.
        case `continue`
        /// End the process now.
        case atOnce
    }

    /// How long after the first signal others belong to the same request.
    static let patience = Duration.seconds(1)

    private var requestTime: ContinuousClock.Instant?

    /// Takes note of a signal, and returns its effect.
    mutating func receive(_ number: Int32, at now: ContinuousClock.Instant) -> Effect {
        guard let requestTime else {
            requestTime = now
            return .begin
        }
        // No person sends SIGHUP to insist.
        return number == SIGHUP || now - requestTime < Self.patience ? .continue : .atOnce
    }
}

internal import Dispatch
internal import Glibc
internal import RTCShareLocks

/// The pipe to which the handler writes the numbers of signals: it loses none, even before a reader exists.
private nonisolated(unsafe) var signalPipe: Int32 = -1

/// SIGINT, SIGTERM and SIGHUP: the first requests a clean end, a later one from the user ends the process at once.
final class Interruption: Sendable {
    private let listeners = SignalListeners()
    private let signals: [Int32]
    // A dispatch source can be shared safely, although its protocol does not declare it. Only `deinit` uses it after
    // `init`.
    private nonisolated(unsafe) let source: (any DispatchSourceRead)?

    /// Handles `signals`, as long as this object exists.
    init(catching signals: [Int32] = [SIGINT, SIGTERM, SIGHUP]) {
        self.signals = signals
        // If a viewer's program ends while this writes to its pipe, that write fails, and the process does not end.
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        guard !signals.isEmpty, pipe(&ends) == 0 else {
            // The default action remains: signals end the process without a goodbye.
            source = nil
            return
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let (reading, writing) = (ends[0], ends[1])
        let source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: .global())
        self.source = source
        source.setEventHandler { [listeners] in
            var number: UInt8 = 0
            while read(reading, &number, 1) == 1 {
                if listeners.receive(Int32(number)) == .atOnce { _exit(128 + Int32(number)) }
            }
        }
        source.setCancelHandler {
            close(reading)
            close(writing)
        }
        source.resume()
        signalPipe = writing
        for number in signals {
            let previous = signal(number) { number in
                let error = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(signalPipe, &byte, 1)
                errno = error
            }
            // A program under nohup outlives its terminal.
            if number == SIGHUP, Self.ignores(previous) { signal(number, SIG_IGN) }
        }
    }

    private static func ignores(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// A stream for each reader, which finishes with the first signal's number.
    var requested: AsyncStream<Int32> { listeners.stream() }

    /// Requests a clean end without a signal.
    func request() { _ = listeners.receive(SIGHUP) }

    /// Returns the result of `body`, or nil if a signal arrives first. The body is canceled then, and not waited for.
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
        guard let source else { return }
        for number in signals { signal(number, SIG_IGN) }
        source.cancel()
    }
}

/// The readers that wait for the first signal.
private final class SignalListeners: Sendable {
    private struct State {
        var end = RequestedEnd()
        var number: Int32?
        var waiting: [AsyncStream<Int32>.Continuation] = []
    }

    private let state = Locked(State())

    /// Passes the first signal to the readers, and returns the effect of this one.
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

/// A requested end.
///
/// One request can arrive as several signals: `timeout` signals its child and then the whole group, wrappers forward
/// signals that the group has already received, and a closed terminal hangs up more than once.
struct RequestedEnd {
    /// The effect of a signal.
    enum Effect {
        /// Starts the clean end.
        case begin
        /// Continues the clean end.
        case `continue`
        /// Ends the process now.
        case atOnce
    }

    /// The time after the first signal in which others belong to the same request.
    static let patience = Duration.seconds(1)

    private var requestTime: ContinuousClock.Instant?

    /// Records a signal, and returns its effect.
    mutating func receive(_ number: Int32, at now: ContinuousClock.Instant) -> Effect {
        guard let requestTime else {
            requestTime = now
            return .begin
        }
        // No user sends SIGHUP to insist.
        return number == SIGHUP || now - requestTime < Self.patience ? .continue : .atOnce
    }
}

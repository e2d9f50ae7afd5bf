internal import Dispatch
internal import Glibc
internal import RTCShareLocks

/// SIGINT and SIGTERM: the first asks for a clean end, the second ends the process at once.
final class Interruption: Sendable {
    private let listeners = SignalListeners()
    // Dispatch sources are safe to share; the protocol does not say so. Nobody touches them after `init` but `deinit`.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    init() {
        let listeners = listeners
        sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the peer hears of it.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // A mask of blocked signals, which Dispatch may have set, would keep a default action waiting.
                if !listeners.raise(number) { _exit(128 + number) }
            }
            source.resume()
            return source
        }
        // A viewer that ends while its pipe is being written to is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Finishes with the first signal's number; a stream for each reader.
    var requested: AsyncStream<Int32> { listeners.stream() }

    /// The result of `body`, or nil where a signal comes first. The body then continues until the process ends.
    func result<Success: Sendable>(
        of body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success? {
        let (results, continuation) = AsyncStream.makeStream(of: Result<Success, any Error>?.self)
        let watcher = Task { [requested] in
            for await _ in requested { continuation.yield(nil) }
        }
        defer { watcher.cancel() }
        Task {
            do {
                continuation.yield(.success(try await body()))
            } catch {
                continuation.yield(.failure(error))
            }
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
        var number: Int32?
        var waiting: [AsyncStream<Int32>.Continuation] = []
    }

    private let state = Locked(State())

    /// Passes the first signal on; false where it is not the first.
    func raise(_ number: Int32) -> Bool {
        let waiting: [AsyncStream<Int32>.Continuation]? = state.withLock { state in
            guard state.number == nil else { return nil }
            state.number = number
            defer { state.waiting = [] }
            return state.waiting
        }
        guard let waiting else { return false }
        for continuation in waiting { Self.finish(continuation, with: number) }
        return true
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

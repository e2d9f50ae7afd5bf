internal import Dispatch
internal import Glibc
internal import Synchronization

/// SIGINT and SIGTERM: the first asks for a clean end, the second ends the process at once.
final class Interruption: Sendable {
    /// Finishes with the first signal's number.
    let requested: AsyncStream<Int32>
    // Dispatch sources are safe to share; the protocol does not say so. Nobody touches them after `init` but `deinit`.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
    private let wasRequested = SignalFlag()

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        requested = stream
        let wasRequested = wasRequested
        sources = [SIGINT, SIGTERM].map { number in
            // The default action would end the process before the peer hears of it.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                // A mask of blocked signals, which Dispatch may have set, would keep a default action waiting.
                if wasRequested.raise() { _exit(128 + number) }
                continuation.yield(number)
                continuation.finish()
            }
            source.resume()
            return source
        }
        // A viewer that ends while its pipe is being written to is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit {
        for source in sources { source.cancel() }
    }
}

/// Whether a signal has come.
private final class SignalFlag: Sendable {
    private let isRaised = Atomic(false)

    /// Whether it was raised before.
    func raise() -> Bool { isRaised.exchange(true, ordering: .relaxed) }
}

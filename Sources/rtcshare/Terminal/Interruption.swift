internal import Dispatch
internal import Glibc
internal import RTCShareLocks

/// SIGINT, SIGTERM and SIGHUP: the first requests a clean end, a later one that a person sent ends the process at once.
final class Interruption: Sendable {
    /// Finishes with the first signal's number.
    let requested: AsyncStream<Int32>
    // Dispatch sources are safe to share; the protocol does not say so. Nobody touches them after `init` but `deinit`.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]
    private let end = SignalledEnd()

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        requested = stream
        let end = end
        sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            // The default action would end the process before the peer hears of it.
            let previous = signal(number, SIG_IGN)
            // A program under nohup outlives its terminal.
            guard number != SIGHUP || !Self.ignores(previous) else { return nil }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                switch end.state.withLock({ $0.receive(number, at: .now) }) {
                case .begin:
                    continuation.yield(number)
                    continuation.finish()
                case .continue: return
                // A mask of blocked signals, which Dispatch may have set, would keep a default action waiting.
                case .atOnce: _exit(128 + number)
                }
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

    deinit {
        for source in sources { source.cancel() }
    }
}

/// The end that the handlers of all signals share.
private final class SignalledEnd: Sendable {
    let state = Locked(RequestedEnd())
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

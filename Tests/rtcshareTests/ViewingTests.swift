import Glibc
import RTCShareContentShare
import RTCShareLocks
import RTCShareSignaling
import RTCShareTransport
import RTCShareWireFormat
import TestSupport
import Testing

@testable import rtcshare

@Suite("A view of a share", .timeLimit(.minutes(1)))
struct ViewingTests {
    /// A player whose start ends after it was left, as that of a player whose server answers late.
    private final class LatePlayer: SharePlayer {
        let session: AttendeeSession
        let gate = Gate()
        private let ended = Locked(false)

        init(_ session: AttendeeSession) { self.session = session }

        var isWaiting: Bool { false }
        var hasEnded: Bool { ended.withLock { $0 } }

        func start() async throws {
            await WorkerThread.run(named: "test") { [gate] in gate.pass() }
            for _ in 0..<100 { await Task.yield() }
            ended.withLock { $0 = true }
            throw CancellationError()
        }

        func leave() { gate.open() }
        func reason(after error: (any Error)?) -> (any Error)? { error }
    }

    @Test("A view that is stopped while a session starts ends after the end of that session")
    func stopDuringStart() async throws {
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        let session = try await AttendeeSession.viewing(as: AttendeeID("viewer"), configuration: configuration)
        let (player, viewing) = (LatePlayer(session), try Viewing(session: session))
        let interruption = Interruption(catching: [SIGUSR1])
        async let end: Void = viewing.run(duration: nil, interruption: interruption, begun: {}) { player }
        await waitUntil { player.gate.isReached }
        await WorkerThread.run(named: "signal") {
            // Threads inherit the blocked signals of Swift's thread pool.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGUSR1)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            raise(SIGUSR1)
        }
        try await end
        #expect(player.hasEnded)
    }
}

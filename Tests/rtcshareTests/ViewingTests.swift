import Foundation
import Glibc
import RTCShareCapture
import RTCShareContentShare
import RTCShareLocks
import RTCShareMedia
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

    /// A player that a presenter of this process connects to.
    private struct NearPlayer: SharePlayer {
        let presenter: AttendeeSession
        let session: AttendeeSession
        /// The reason for the end of the session. Nil if the presenter ended it.
        let end: WHEPError?
        /// The number of frames that were shown before this session.
        let earlierFrames: Int

        var isWaiting: Bool { false }

        func start() async throws { try await presenter.connect(to: session) }
        func leave() async { await session.leave() }
        func reason(after error: (any Error)?) -> (any Error)? { end }
    }

    /// The players of a view, in order.
    private final class Players: Sendable {
        let all = Locked<[NearPlayer]>([])
    }

    private static var configuration: Connection.Configuration {
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        return configuration
    }

    private static func viewer() async throws -> AttendeeSession {
        try await AttendeeSession.viewing(as: AttendeeID("viewer"), configuration: configuration)
    }

    @Test("The recording of a view has one video track for all its sessions")
    func recording() async throws {
        let folder = try TemporaryFolder()
        let film = folder.file("seen.webm")
        let viewing = try Viewing(session: try await Self.viewer(), record: film.path)
        let players = Players()
        async let end: Void = viewing.run(duration: nil, interruption: Interruption(catching: []), begun: {}) {
            let presenter = try await AttendeeSession.offering(
                as: AttendeeID("alice"), configuration: Self.configuration)
            let source = try TestPatternSource(size: PixelSize(width: 192, height: 144), framesPerSecond: 15)
            try await presenter.contentShare.start(capturing: source)
            let isFirst = players.all.withLock { $0.isEmpty }
            let player = NearPlayer(
                presenter: presenter, session: try await Self.viewer(), end: isFirst ? .sessionGone : nil,
                earlierFrames: viewing.summary.frames)
            players.all.withLock { $0.append(player) }
            return player
        }
        for session in 1...2 {
            await waitUntil {
                guard let player = players.all.withLock({ $0.count == session ? $0.last : nil }) else { return false }
                return viewing.summary.frames >= player.earlierFrames + 3
            }
            await players.all.withLock { $0.last }?.presenter.leave()
        }
        try await end
        // The description of the tracks is in the first page.
        let head = String(decoding: try Data(contentsOf: film).prefix(4096), as: UTF8.self)
        #expect(head.components(separatedBy: "V_VP8").count == 2)
    }

    @Test("A view that is stopped while a session starts ends after the end of that session")
    func stopDuringStart() async throws {
        let session = try await Self.viewer()
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

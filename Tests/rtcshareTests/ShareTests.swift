import Foundation
import RTCShareContentShare
import RTCShareLocks
import RTCSharePeerConnection
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareTransport
@testable import rtcshare

@SharingActor @Suite("The loop of a share", .timeLimit(.minutes(1)))
struct ShareTests {
    /// A share that runs. Its end is requested by the removal of its session file.
    @SharingActor private final class Stage {
        private let removals = AsyncStream.makeStream(of: Void.self)
        private let share: Share
        private var task: Task<Void, any Error>?
        private(set) var running: RunningShare?
        private(set) var consumed = 0

        init(_ content: FakeSource = FakeSource("1"), _ options: String...) throws {
            let command = try ServeCommand.parsed(["--no-control"] + options)
            share = Share(
                room: try SharingRoom(owner: AttendeeID("alice")), sources: try .fakes(content),
                options: command.sharing, running: command.running,
                inviting: RunningShare.Inviting(
                    media: [.content], configuration: Connection.Configuration(), policy: nil),
                film: nil, interruption: Interruption(catching: []), removals: removals.stream)
        }

        /// Runs the share. `begin` makes it ready for viewers.
        func start(_ begin: @escaping @SharingActor (RunningShare) async throws -> Void) async {
            task = Task {
                try await share.run(server: nil) {
                    self.consumed += 1
                } begin: { running in
                    self.running = running
                    try await begin(running)
                }
            }
            await waitUntil { running != nil }
        }

        /// Runs the share with a viewer, and returns at its end.
        func run(on connection: Connection) async throws {
            try await share.run(on: connection, membership: RoomMembership()) {
            } consume: {
                consumed += 1
            }
        }

        func requestEnd() { removals.continuation.yield() }

        func waitUntilEnd() async throws { try await task?.value }
    }

    private struct Failure: Error {}

    @Test("A share can be stopped while the start of its source blocks, and starts no source later")
    func endDuringCapture() async throws {
        let gate = Gate()
        let stage = try Stage(FakeSource("1", start: .waits(gate)))
        await stage.start { try await $0.begin() }
        let running = try #require(stage.running)
        running.events.yield(.course(.published(report: [])))
        await waitUntil { gate.isReached }
        #expect(stage.consumed == 1)
        guard case .status(let status) = await running.answer(.status) else {
            Issue.record("no status")
            return
        }
        #expect(status.source == "1")
        stage.requestEnd()
        await waitUntil { running.isEnding }
        gate.open()
        try await stage.waitUntilEnd()
        await running.runner.finish()
        #expect((running.content.current.source as? FakeSource)?.isRunning == false)
        let sounds = running.sounds.sources.compactMap { $0 as? FakeSound }
        #expect(sounds.map(\.wasStarted) == [false, false])
    }

    @Test("A share can be stopped while it starts")
    func endDuringStart() async throws {
        let (stage, gate) = (try Stage(), Gate())
        await stage.start { _ in await WorkerThread.run(named: "test") { gate.pass() } }
        await waitUntil { gate.isReached }
        stage.requestEnd()
        try await stage.waitUntilEnd()
        gate.open()
    }

    @Test("Events during the start of a share are handled after it")
    func eventsDuringStart() async throws {
        let (stage, gate) = (try Stage(), Gate())
        await stage.start { running in
            try await running.begin()
            await WorkerThread.run(named: "test") { gate.pass() }
        }
        await waitUntil { gate.isReached }
        stage.running?.events.yield(.course(.published(report: [])))
        await settle()
        #expect(stage.consumed == 0)
        gate.open()
        await waitUntil { stage.consumed == 1 }
        stage.requestEnd()
        try await stage.waitUntilEnd()
    }

    @Test("A share that fails to start ends with the failure")
    func failedStart() async throws {
        let stage = try Stage()
        await stage.start { _ in throw Failure() }
        await #expect(throws: Failure.self) { try await stage.waitUntilEnd() }
    }

    @Test("A share that fails to start writes the last report of its statistics")
    func statisticsOfFailedStart() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("stats.jsonl")
        let stage = try Stage(FakeSource("1"), "--stats", file.path)
        await stage.start { running in
            let connection = try Connection(
                unopenedAs: .offerer, identity: LocalIdentity(media: []), configuration: Connection.Configuration())
            running.add(try running.room.register(connection, membership: RoomMembership()).viewer)
            throw Failure()
        }
        await #expect(throws: Failure.self) { try await stage.waitUntilEnd() }
        #expect(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count == 1)
    }

    @Test("A share that fails or is stopped before it has its viewer closes the connection", arguments: [false, true])
    func connectionWithoutViewer(isStopped: Bool) async throws {
        let folder = try TemporaryFolder()
        // Statistics do not replace a file of another kind.
        let file = try folder.write(isStopped ? "" : "text", to: "stats.jsonl")
        let stage = try Stage(FakeSource("1"), "--stats", file.path)
        if isStopped { stage.requestEnd() }
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        let connection = try await Connection(
            as: .offerer, identity: LocalIdentity(media: []), configuration: configuration)
        if isStopped {
            try await stage.run(on: connection)
        } else {
            await #expect(throws: CommandFailure.self) { try await stage.run(on: connection) }
        }
        #expect(await connection.isClosed)
    }

    @Test("A control socket that opens after its share was stopped is removed")
    func lateControlSocket() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("share.sock").path
        let options = try ServeCommand.parsed(["--control", path]).running
        let stage = try Stage()
        await stage.start { _ in }
        let listening = Task { try await options.listen(at: ControlDesk()) }
        listening.cancel()
        await #expect(throws: CancellationError.self) { _ = try await listening.value }
        #expect(!FileManager.default.fileExists(atPath: path))
        stage.requestEnd()
        try await stage.waitUntilEnd()
    }

    @Test("The duration of a share is limited from its capture on")
    func duration() async throws {
        let gate = Gate()
        let stage = try Stage(FakeSource("1", start: .waits(gate)), "--duration", "0.01")
        await stage.start { try await $0.begin() }
        let running = try #require(stage.running)
        running.events.yield(.course(.published(report: [])))
        await waitUntil { gate.isReached }
        #expect(!running.isEnding)
        gate.open()
        try await stage.waitUntilEnd()
    }
}

import RTCShareLocks
import RTCShareMedia
import Testing

@testable import rtcshare

@Suite("The thread of a share's sources", .timeLimit(.minutes(1)))
struct SourceRunnerTests {
    private struct Failure: Error {}

    private final class Log: Sendable {
        private let lines = Locked<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// A gate that blocks a thread until it is opened.
    private final class Door: Sendable {
        private let isOpen = Mailbox(false)

        func open() { isOpen.post { $0 = true } }
        func pass() { isOpen.take { $0 ? .done(()) : .wait(until: nil) } }
    }

    @Test("Sources start and stop in the order of the calls, and a stop that blocks delays no caller")
    func order() async throws {
        let (runner, log, door) = (SourceRunner(), Log(), Door())
        runner.stop {
            door.pass()
            log.note("first stop")
        }
        runner.stop { log.note("second stop") }
        async let started: Void = runner.start { log.note("start") }
        #expect(log.all.isEmpty)
        door.open()
        try await started
        #expect(log.all == ["first stop", "second stop", "start"])
        for number in 1...100 { runner.stop { log.note("\(number)") } }
        await runner.finish()
        #expect(log.all.suffix(100).elementsEqual((1...100).map { "\($0)" }))
    }

    @Test("The start of a source that fails throws, and later calls are executed")
    func failure() async throws {
        let (runner, log) = (SourceRunner(), Log())
        await #expect(throws: Failure.self) { try await runner.start { throw Failure() } }
        try await runner.start { log.note("start") }
        await runner.finish()
        runner.stop { log.note("stop") }
        await runner.finish()
        #expect(log.all == ["start", "stop"])
    }
}

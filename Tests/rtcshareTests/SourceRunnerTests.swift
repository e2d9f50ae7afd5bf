import RTCShareLocks
import RTCShareMedia
import TestSupport
import Testing

@testable import rtcshare

@Suite("The threads of a share's sources", .timeLimit(.minutes(1)))
struct SourceRunnerTests {
    private struct Failure: Error {}

    private final class Log: Sendable {
        private let lines = Locked<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func note(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test("A source starts and stops in the order of the calls, and a stop that blocks delays no caller")
    func order() async throws {
        let (runner, log, gate, source) = (SourceRunner(), Log(), Gate(), FakeSource("1"))
        runner.stop(source) {
            gate.pass()
            log.note("first stop")
        }
        runner.stop(source) { log.note("second stop") }
        async let started: Void = runner.start(source) { log.note("start") }
        #expect(log.all.isEmpty)
        gate.open()
        try await started
        #expect(log.all == ["first stop", "second stop", "start"])
        for number in 1...100 { runner.stop(source) { log.note("\(number)") } }
        await runner.finish()
        #expect(log.all.suffix(100).elementsEqual((1...100).map { "\($0)" }))
    }

    @Test("A stop that blocks delays no other source, but it delays the end")
    func otherSources() async throws {
        let (runner, log, gate, source) = (SourceRunner(), Log(), Gate(), FakeSource("1"))
        runner.stop(source) {
            gate.pass()
            log.note("stop")
        }
        try await runner.start(FakeSource("2")) { log.note("start") }
        #expect(log.all == ["start"])
        async let finished: Void = runner.finish()
        gate.open()
        await finished
        #expect(log.all == ["start", "stop"])
    }

    @Test("The start of a source that fails throws, and later calls are executed")
    func failure() async throws {
        let (runner, log, source) = (SourceRunner(), Log(), FakeSource("1"))
        await #expect(throws: Failure.self) { try await runner.start(source) { throw Failure() } }
        try await runner.start(source) { log.note("start") }
        await runner.finish()
        runner.stop(source) { log.note("stop") }
        await runner.finish()
        #expect(log.all == ["start", "stop"])
    }
}

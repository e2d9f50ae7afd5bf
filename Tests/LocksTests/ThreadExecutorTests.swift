import Glibc
import Testing

@testable import RTCShareLocks

@globalActor
private actor TestActor {
    static let shared = TestActor()
    static let executor = ThreadExecutor(named: "test jobs")

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }
}

/// Jobs of a global actor on one thread.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ThreadExecutorTests {
    /// The numbers that each thread posted.
    @TestActor private final class Log {
        private(set) var numbers: [Int: [Int]] = [:]

        nonisolated init() {}

        func note(_ number: Int, of poster: Int) { numbers[poster, default: []].append(number) }
    }

    private static let priorities: [TaskPriority?] = [nil, .high, .background, .low, .medium, .utility, .userInitiated]

    @Test("Tasks that one thread starts run in order, whatever their priorities", arguments: [1, 8])
    func order(threads: Int) async throws {
        let (log, count) = (Log(), 10_000)
        let posters = try (0..<threads).map { poster in
            try WorkerThread(named: "poster") {
                for number in 0..<count {
                    Task(priority: Self.priorities[(number * 31 + poster) % Self.priorities.count]) { @TestActor in
                        log.note(number, of: poster)
                    }
                }
            }
        }
        for poster in posters { await poster.finish() }
        let numbers = await Task { @TestActor in log.numbers }.value
        #expect(numbers == Dictionary(uniqueKeysWithValues: (0..<threads).map { ($0, Array(0..<count)) }))
    }

    @Test("Tasks that a job starts run after the pending ones, in order")
    func jobsOfJobs() async {
        let log = Log()
        await Task { @TestActor in
            for number in 0..<100 {
                Task(priority: number % 2 == 0 ? .high : .background) { @TestActor in
                    log.note(number, of: 0)
                    Task { @TestActor in log.note(100 + number, of: 0) }
                }
            }
        }.value
        await Task { @TestActor in }.value
        #expect(await Task { @TestActor in log.numbers }.value == [0: Array(0..<200)])
    }

    @Test("The executor recognizes its own thread, and reports its processor time")
    func thread() async {
        #expect(!TestActor.executor.isCurrent && TestActor.executor.isIsolatingCurrentContext() == false)
        await Task { @TestActor in
            TestActor.executor.checkIsolated()
            #expect(TestActor.executor.isIsolatingCurrentContext() == true)
            #expect(TestActor.executor.processorTime > .zero)
        }.value
    }

    @Test("An alarm is called once, by the next job or on request, and not if a job is pending already")
    func alarm() async {
        await Task { @TestActor in
            let (executor, count) = (TestActor.executor, Mailbox(0))
            let alarm: @Sendable () -> Void = { count.post { $0 += 1 } }
            executor.setAlarm(alarm)
            #expect(executor.hasAlarm)
            executor.soundAlarm()
            executor.soundAlarm()
            #expect(!executor.hasAlarm && count.read { $0 } == 1)
            executor.setAlarm(alarm)
            for _ in 0..<2 { Task { @TestActor in } }
            #expect(!executor.hasAlarm && count.read { $0 } == 2)
            executor.setAlarm(alarm)
            #expect(!executor.hasAlarm && count.read { $0 } == 2)
        }.value
    }

    #if RTCSHARE_CHECK_LOCKS
        @Test("In a checked build a job that waits for another thread traps")
        func waitingJob() async {
            await #expect(processExitsWith: .failure) {
                await Task { @TestActor in Mailbox(()).take { _ in .done(()) } }.value
            }
            await #expect(processExitsWith: .success) {
                await Task { @TestActor in }.value
                exit(0)
            }
        }
    #endif
}

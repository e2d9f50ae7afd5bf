import Glibc
import Testing

@testable import RTCShareLocks

/// Threads and the mailboxes at which they wait.
@Suite(.timeLimit(.minutes(1))) struct WorkerThreadTests {
    private enum Inbox { case empty, letter(Int), ended }

    /// A thread that adds up the numbers that it finds in its mailbox, until the end.
    private func makeAdder(_ mailbox: Mailbox<Inbox>, sum: Mailbox<Int>) throws -> WorkerThread {
        try WorkerThread(named: "adder") {
            while true {
                let next = mailbox.take { inbox -> Mailbox<Inbox>.Found<Int?> in
                    switch inbox {
                    case .empty: return .wait(until: nil)
                    case .letter(let number):
                        inbox = .empty
                        return .done(number)
                    case .ended: return .done(nil)
                    }
                }
                guard let next else { return }
                sum.post { $0 += next }
            }
        }
    }

    @Test("A thread receives what is posted, and every task that waits for its end resumes")
    func finish() async throws {
        let (mailbox, sum) = (Mailbox(Inbox.empty), Mailbox(0))
        let thread = try makeAdder(mailbox, sum: sum)
        for number in 1...100 {
            mailbox.post { $0 = .letter(number) }
            sum.take { $0 == number * (number + 1) / 2 ? .done(()) : .wait(until: nil) }
        }
        await withTaskGroup { group in
            for _ in 0..<3 { group.addTask { await thread.finish() } }
            group.addTask { mailbox.post { $0 = .ended } }
        }
        await thread.finish()
        thread.join()
        #expect(!thread.isCurrent)
    }

    @Test("A thread that waits for its own end continues immediately")
    func ownEnd() async throws {
        let itself = Mailbox<WorkerThread?>(nil)
        let thread = try WorkerThread(named: "itself") {
            let thread = itself.take { $0.map { .done($0) } ?? .wait(until: nil) }
            thread.join()
            #expect(thread.isCurrent)
            itself.post { $0 = nil }
        }
        itself.post { $0 = thread }
        await thread.finish()
        #expect(itself.read { $0 == nil })
    }

    @Test("The memory of a thread's body is free when its end is reported")
    func capturedMemory() async throws {
        final class Held: Sendable {}
        func begin() throws -> (WorkerThread, () -> Held?) {
            let held = Held()
            return (try WorkerThread(named: "holder") { withExtendedLifetime(held) {} }, { [weak held] in held })
        }
        let (thread, held) = try begin()
        await thread.finish()
        #expect(held() == nil)
    }

    @Test("More blocking calls than there are task threads return their results and errors")
    func blockingCalls() async {
        struct Odd: Error, Equatable { let number: Int }
        let (count, waiting) = (64, Mailbox(0))
        let results = await withTaskGroup { group in
            for number in 0..<count {
                group.addTask { () -> Result<Int, Odd> in
                    do throws(Odd) {
                        return .success(
                            try await WorkerThread.run(named: "blocked") { () throws(Odd) in
                                waiting.post { $0 += 1 }
                                // Returns when all others are here too.
                                waiting.take { $0 >= count ? .done(()) : .wait(until: nil) }
                                guard number % 2 == 0 else { throw Odd(number: number) }
                                return number
                            })
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count { (try? $0.get()) != nil } == count / 2)
        #expect(results.contains(.failure(Odd(number: 63))))
    }

    @Test("A call for which the system has no thread waits for one")
    func missingThread() async {
        let caller = pthread_self()
        let attempts = Locked(0)
        let isElsewhere = await withCheckedContinuation { continuation in
            WorkerThread.start { () throws(WorkerThreadError) in
                let attempt = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                guard attempt == 3 else { throw WorkerThreadError(errorNumber: EAGAIN) }
                _ = try WorkerThread(named: "late") {
                    continuation.resume(returning: pthread_equal(caller, pthread_self()) == 0)
                }
            }
        }
        #expect(isElsewhere && attempts.withLock { $0 } == 3)
    }

    @Test("A check of a mailbox is repeated at its deadline")
    func deadline() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let deadline = Duration.seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) + .milliseconds(5)
        var looks = 0
        Mailbox(()).take { _ -> Mailbox<Void>.Found<Void> in
            looks += 1
            return looks < 2 ? .wait(until: deadline) : .done(())
        }
        #expect(looks == 2)
    }

    #if RTCSHARE_CHECK_LOCKS
        @Test("In a checked build a thread that waits with a lock held traps")
        func lockHeldWhileWaiting() async {
            await #expect(processExitsWith: .failure) {
                Locked(()).withLock { _ in Mailbox(()).take { _ in .done(()) } }
            }
            await #expect(processExitsWith: .success) {
                Locked(()).withLock { _ in }
                Mailbox(()).take { _ in .done(()) }
                exit(0)
            }
        }
    #endif
}

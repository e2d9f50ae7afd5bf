import RTCShareLocks
import Testing

@testable import RTCShareContentShare

/// The thread of rooms, shares and sessions.
@Suite(.timeLimit(.minutes(1))) struct SharingActorTests {
    @SharingActor private final class Log {
        private(set) var numbers: [Int: [Int]] = [:]

        nonisolated init() {}

        func note(_ number: Int, of poster: Int) { numbers[poster, default: []].append(number) }
    }

    @Test("The closures that a thread posts run in their order")
    func order() async throws {
        let (log, count) = (Log(), 10_000)
        let posters = try (0..<8).map { poster in
            try WorkerThread(named: "poster") {
                for number in 0..<count { SharingActor.post { log.note(number, of: poster) } }
            }
        }
        for poster in posters { await poster.finish() }
        #expect(await log.numbers == Dictionary(uniqueKeysWithValues: (0..<8).map { ($0, Array(0..<count)) }))
    }

    @Test("Work that a thread and the actor pass to each other returns each time")
    func passing() async throws {
        let (log, count, numbers) = (Log(), 5000, Mailbox([0]))
        let thread = try WorkerThread(named: "partner") {
            while true {
                let number = numbers.take { $0.isEmpty ? .wait(until: nil) : .done($0.removeFirst()) }
                guard number < count else { return }
                SharingActor.post {
                    SharingActor.shared.preconditionIsolated()
                    log.note(number, of: 0)
                    numbers.post { $0.append(number + 1) }
                }
            }
        }
        await thread.finish()
        #expect(await log.numbers == [0: Array(0..<count)])
    }
}

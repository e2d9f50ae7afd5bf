import RTCShareContentShare
import TestSupport
import Testing

@testable import rtcshare

@SharingActor @Suite("A turn queue", .timeLimit(.minutes(1)))
struct TurnQueueTests {
    private struct Failure: Error {}

    @Test("A turn queue runs bodies one after the other in the order of the calls, after a body that throws too")
    func order() async {
        let turns = TurnQueue()
        var (log, isOpen): ([String], Bool) = ([], false)
        let tasks = (1...4).map { number in
            Task { @SharingActor in
                try await turns.run {
                    log.append("\(number) begins")
                    await waitUntil { isOpen }
                    log.append("\(number) ends")
                    if number == 2 { throw Failure() }
                }
            }
        }
        await waitUntil { turns.waiting.count == 3 }
        isOpen = true
        await #expect(throws: Failure.self) { try await tasks[1].value }
        for task in tasks { _ = await task.result }
        #expect(log == (1...4).flatMap { ["\($0) begins", "\($0) ends"] })
        await turns.run { log.append("5") }
        #expect(log.last == "5" && turns.waiting.isEmpty)
    }
}

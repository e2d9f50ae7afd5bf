import RTCShareLocks
import TestSupport
import Testing

@testable import RTCShareSignaling

@Suite("Work that its owner does not wait for", .timeLimit(.minutes(1)))
struct TaskChainTests {
    @Test("Work that never ends delays what is behind it, and not the owner of the chain")
    func order() async {
        let began = Locked<[Int]>([])
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        var chain = TaskChain()
        chain.append {
            began.withLock { $0.append(0) }
            for await _ in gate {}
        }
        for number in 1...20 {
            chain.append { began.withLock { $0.append(number) } }
        }
        await waitUntil { began.withLock { !$0.isEmpty } }
        for _ in 0..<100 { await Task.yield() }
        #expect(began.withLock { $0 } == [0])
        open.finish()
        await waitUntil { began.withLock { $0.count == 21 } }
        #expect(began.withLock { $0 } == Array(0...20))
    }
}

import Testing

@testable import RTCSharePlayback

@Suite("What waits to be played")
struct PlayoutQueueTests {
    private func measure(_ queue: inout PlayoutQueue, _ milliseconds: [Int]) -> Bool {
        milliseconds.reduce(false) { queue.measured(.milliseconds($1)) || $0 }
    }

    @Test("As much as blocks have it vary by is left as it is")
    func steady() {
        var queue = PlayoutQueue()
        #expect(!measure(&queue, [12, 30, 44, 20, 28, 40, 16, 33, 12, 41, 25, 60, 10, 22, 38, 40]))
        #expect(queue.correction == 0)
    }

    @Test("A queue that grows is made shorter, one that runs dry longer, by a little at a time")
    func drift() {
        var queue = PlayoutQueue()
        #expect(!measure(&queue, [60, 71, 58, 66, 62, 79, 55, 61]))
        #expect(queue.correction == PlayoutQueue.step)
        queue.corrected(by: 300)
        #expect(queue.correction == PlayoutQueue.step - 300)
        queue.corrected(by: 300)
        #expect(queue.correction == 0)
        #expect(!measure(&queue, [20, 3, 15, 22, 9, 18, 4, 12]))
        #expect(queue.correction == -PlayoutQueue.step)
        queue.corrected(by: -400)
        #expect(queue.correction == -80)
    }

    @Test("A device that begins late leaves a queue that is dropped at once")
    func surplus() {
        var queue = PlayoutQueue()
        #expect(measure(&queue, [900]))
        #expect(queue.correction == 0)
        #expect(!measure(&queue, [20, 30]))
    }

    @Test("What was seen before sound broke off says nothing of what comes")
    func brokeOff() {
        var queue = PlayoutQueue()
        #expect(!measure(&queue, [60, 60, 60, 60, 60, 60, 60]))
        queue.brokeOff()
        #expect(!measure(&queue, [60]))
        #expect(queue.correction == 0)
    }
}

import Testing

@testable import RTCSharePlayback

@Suite("The queue of audio to be played")
struct PlayoutQueueTests {
    private func measure(_ queue: inout PlayoutQueue, _ milliseconds: [Int]) -> Bool {
        milliseconds.reduce(false) { queue.measured(.milliseconds($1)) || $0 }
    }

    @Test("A queue that varies by the length of its blocks is not adjusted")
    func steady() {
        var queue = PlayoutQueue()
        #expect(!measure(&queue, [12, 30, 44, 20, 28, 40, 16, 33, 12, 41, 25, 60, 10, 22, 38, 40]))
        #expect(queue.correction == 0)
    }

    @Test("A queue that grows is shortened and one that runs dry is lengthened, in small steps")
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

    @Test("The queue of a device that begins late is dropped at once")
    func surplus() {
        var queue = PlayoutQueue()
        #expect(measure(&queue, [900]))
        #expect(queue.correction == 0)
        #expect(!measure(&queue, [20, 30]))
    }

    @Test("Measurements before an interruption of audio are discarded")
    func brokeOff() {
        var queue = PlayoutQueue()
        #expect(!measure(&queue, [60, 60, 60, 60, 60, 60, 60]))
        queue.brokeOff()
        #expect(!measure(&queue, [60]))
        #expect(queue.correction == 0)
    }
}

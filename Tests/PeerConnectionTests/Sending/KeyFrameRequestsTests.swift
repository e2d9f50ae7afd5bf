import Testing

@testable import RTCSharePeerConnection

@Suite struct KeyFrameRequestsTests {
    @Test("What is asked before it is passed on is passed on once")
    func once() {
        var requests = KeyFrameRequests()
        #expect(Self.taken(&requests) == 0)
        for _ in 0..<3 { requests.request() }
        #expect(Self.taken(&requests) == 1)
        requests.request()
        #expect(Self.taken(&requests) == 1)
    }

    @Test("A key frame answers who asked before it, and nobody who asks after")
    func answered() {
        var requests = KeyFrameRequests()
        requests.request()
        requests.keyFrameWasSent()
        #expect(Self.taken(&requests) == 0)
        requests.request()
        #expect(Self.taken(&requests) == 1)
    }

    @Test("Frames that are refused one after the other ask for one key frame; a peer that asks meanwhile is passed on")
    func refusedFrames() {
        var requests = KeyFrameRequests()
        for number in 0..<5 {
            requests.frameWasRefused()
            #expect(Self.taken(&requests) == (number == 0 ? 1 : 0))
        }
        requests.request()
        #expect(Self.taken(&requests) == 1)
        requests.keyFrameWasSent()
        requests.frameWasRefused()
        #expect(Self.taken(&requests) == 1)
    }

    /// How often the encoder is asked now.
    private static func taken(_ requests: inout KeyFrameRequests) -> Int {
        var count = 0
        while count < 10, requests.take() { count += 1 }
        return count
    }
}

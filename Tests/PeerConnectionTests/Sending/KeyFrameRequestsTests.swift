import Testing

@testable import RTCSharePeerConnection

@Suite struct KeyFrameRequestsTests {
    @Test("Several requests before the encoder is asked become one")
    func once() {
        var requests = KeyFrameRequests()
        #expect(Self.taken(&requests) == 0)
        for _ in 0..<3 { requests.request() }
        #expect(Self.taken(&requests) == 1)
        requests.request()
        #expect(Self.taken(&requests) == 1)
    }

    @Test("A key frame answers earlier requests and no later ones")
    func answered() {
        var requests = KeyFrameRequests()
        requests.request()
        requests.keyFrameWasSent()
        #expect(Self.taken(&requests) == 0)
        requests.request()
        #expect(Self.taken(&requests) == 1)
    }

    @Test("A series of rejected frames requests one key frame; a peer's request in between is passed on")
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

    /// Takes all requests that are now due for the encoder, and counts them.
    private static func taken(_ requests: inout KeyFrameRequests) -> Int {
        var count = 0
        while count < 10, requests.take() { count += 1 }
        return count
    }
}

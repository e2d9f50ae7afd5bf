import RTCShareMedia
import RTCSharePeerConnection
import TestSupport
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

/// The receivers of a connection, over real sockets.
@Suite(.timeLimit(.minutes(1))) struct MediaReceiversTests {
    @Test("Receivers that are added late know the peer's media and replace earlier ones")
    func late() async throws {
        let pair = try await ConnectedPair([.video(streamID: "alice#content", isContent: true)])
        let before = pair.viewer.receiveMedia()
        var events = pair.viewer.receiveMedia().makeAsyncIterator()
        let first = await events.next()
        guard case .remoteMediaChanged(let media) = first else {
            Issue.record("\(String(describing: first))")
            return await pair.close()
        }
        #expect(media.map(\.streamID) == ["alice#content"])
        for await event in before {
            guard case .remoteMediaChanged = event else {
                Issue.record("the receivers before have ended: \(event)")
                continue
            }
        }
        pair.sender.send(Loopback.frame(isKeyFrame: true, number: 1), media: 0)
        while let event = await events.next() {
            guard case .frameSizeChanged(let size, let receiver) = event else { continue }
            #expect(size.width == 1280 && size.height == 720 && receiver.index == 0)
            break
        }
        await pair.close()
    }

    @Test("The receivers of a closed connection have ended", arguments: [true, false])
    func over(isClosedHere: Bool) async throws {
        let pair = try await ConnectedPair([.video(streamID: "alice#content", isContent: true)])
        await (isClosedHere ? pair.viewer : pair.sender).close()
        for await signal in pair.viewer.signals { if case .state(let state) = signal, state.isOver { break } }
        for await event in pair.viewer.receiveMedia() {
            guard case .remoteMediaChanged = event else {
                Issue.record("\(event)")
                continue
            }
        }
        await pair.close()
    }
}

import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare
@testable import rtcshare

@Suite("The viewers of a running share", .timeLimit(.minutes(1)))
@SharingActor struct ShareViewersTests {
    @Test(
        "An invited viewer is new until it answers, and the last viewer who leaves is kept for its report",
        arguments: [true, false])
    func viewers(outlivesViewers: Bool) async throws {
        let room = try SharingRoom(owner: AttendeeID("alice"))
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        let first = try await room.addViewer(configuration: configuration)
        let second = try await room.addViewer(configuration: configuration)
        var viewers = ShareViewers(outlivesViewers: outlivesViewers)
        viewers.add(first)
        viewers.add(second, offer: try await second.session.connection.makeOffer())
        #expect(viewers[1] == .connecting && viewers[2] == .new && viewers.offers.keys.elementsEqual([2]))
        first.session.change(to: .connected)
        #expect(viewers[1] == .connected && viewers.didConnect(1) && !viewers.didConnect(1))
        #expect(viewers.hasConnected(besides: [2]) && !viewers.hasConnected(besides: [1]))
        var rest = viewers
        #expect(rest.end(1) == 0, "an invited viewer is not there yet")
        viewers.didAnswer(2)
        #expect(viewers[2] == .connecting && viewers.offers.isEmpty)
        second.session.change(to: .disconnected)
        viewers.didAnswer(2)
        #expect(viewers[2] == .disconnected)
        await first.session.leave()
        #expect(viewers.end(1) == 1 && viewers[1] == nil)
        await second.session.leave()
        #expect(viewers.end(2) == 0 && viewers[2] == (outlivesViewers ? nil : .closed))
        #expect(viewers.sessions.count == (outlivesViewers ? 0 : 1))
        await room.end()
    }
}

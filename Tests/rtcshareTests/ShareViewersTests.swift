import RTCShareContentShare
import RTCSharePeerConnection
import RTCShareSDP
import RTCShareTransport
import RTCShareWireFormat
import Testing

@testable import rtcshare

@Suite("The viewers of a running share", .timeLimit(.minutes(1)))
struct ShareViewersTests {
    @Test(
        "An invited viewer is new until it answers, and the last viewer to go stays for its report",
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
        viewers[1] = .connected
        #expect(viewers.hasConnected(besides: [2]) && !viewers.hasConnected(besides: [1]))
        var rest = viewers
        #expect(rest.end(1) == 0, "an invited viewer is not there yet")
        viewers.didAnswer(2)
        #expect(viewers[2] == .connecting && viewers.offers.isEmpty)
        viewers[2] = .disconnected
        viewers.didAnswer(2)
        #expect(viewers[2] == .disconnected)
        #expect(viewers.end(1) == 1 && viewers[1] == nil)
        #expect(viewers.end(2) == 0 && viewers[2] == (outlivesViewers ? nil : .closed))
        #expect(viewers.sessions.count == (outlivesViewers ? 0 : 1))
        await room.end()
    }
}

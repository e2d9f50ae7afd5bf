import RTCSharePeerConnection
import RTCShareTransport
import RTCShareWireFormat
import Testing

@testable import RTCShareContentShare

/// The media that each viewer of a room is sent.
@Suite @SharingActor struct RoomAudienceTests {
    @Test("The content is sent to its destination, and the owner's camera and microphone to all admitted viewers")
    func media() async throws {
        let audience = RoomAudience()
        let (design, sales) = (try Subgroup("design"), try Subgroup("sales"))
        let memberships = [
            RoomMembership(), RoomMembership(subgroups: [design]), try RoomMembership(onlySubgroups: [sales]),
            .waitingForApproval,
        ]
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        var connections: [Connection] = []
        for membership in memberships {
            let connection = try await Connection(
                as: .offerer, identity: LocalIdentity(media: []), configuration: configuration)
            #expect(audience.isActive(.content, on: connection) == nil)
            audience[connection] = membership
            connections.append(connection)
        }
        func viewers(sent medium: SharedMedia) -> [Int] {
            let sent = audience.connections(sent: medium)
            let viewers = connections.indices.filter { audience.isActive(medium, on: connections[$0]) == true }
            #expect(sent == Set(viewers.map { ObjectIdentifier(connections[$0]) }))
            return viewers
        }
        for (destination, expected) in [
            (ShareDestination.main, [0, 1]), (.subgroup(design), [1]), (.subgroup(sales), [2]),
        ] {
            audience.destination = destination
            #expect(viewers(sent: .content) == expected && viewers(sent: .contentAudio) == expected)
            #expect(viewers(sent: .camera) == [0, 1, 2] && viewers(sent: .microphone) == [0, 1, 2])
        }
        #expect(audience.subgroup == sales)
        audience[connections[2]] = nil
        #expect(viewers(sent: .content) == [] && viewers(sent: .camera) == [0, 1])
        for connection in connections { await connection.close() }
    }
}

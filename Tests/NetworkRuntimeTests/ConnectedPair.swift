import NetworkRuntime
import PeerConnection
import RTP
import SDP
import Testing
import WireFormat

/// A sender and a viewer that are connected over the loopback interface.
struct ConnectedPair {
    let sender: Connection
    let viewer: Connection

    /// With `rewriting`, the viewer's answer is another one than it gave.
    init(
        _ media: [LocalIdentity.MediaKind], rewriting: (String) -> String = { $0 }
    ) async throws {
        var configuration = Connection.Configuration()
        configuration.addresses = [Loopback.v4]
        sender = try await Connection(
            as: .offerer, identity: LocalIdentity(media: media), configuration: configuration)
        viewer = try await Connection(
            as: .answerer, identity: LocalIdentity(media: []), configuration: configuration)
        let offer = try await sender.makeOffer()
        let answer = try await viewer.answer(offer: offer).description
        try await sender.accept(answer: SessionDescription.parse(rewriting(answer)), to: offer)
        for await event in sender.events {
            if case .connected = event { break }
        }
    }

    /// The next `count` packets of sound.
    func sounds(_ count: Int) async -> [ReceivedAudioPacket] {
        var sounds: [ReceivedAudioPacket] = []
        for await event in viewer.events {
            if case .sound(let packet, _) = event { sounds.append(packet) }
            if sounds.count == count { break }
        }
        return sounds
    }

    /// The frames up to the first for which `condition` holds.
    func frames(until condition: (AssembledFrame) -> Bool) async -> [AssembledFrame] {
        var frames: [AssembledFrame] = []
        for await event in viewer.events {
            guard case .frame(let frame, _) = event else { continue }
            frames.append(frame)
            if condition(frame) { break }
        }
        return frames
    }

    /// The first bitrate told of the sender's first media for which `condition` holds.
    func target(_ condition: (DataRate) -> Bool) async -> DataRate? {
        for await event in sender.events {
            if case .targetBitrateChanged(let target, 0) = event, condition(target.bitrate) { return target.bitrate }
        }
        return nil
    }

    func close() async {
        await sender.close()
        await viewer.close()
    }
}

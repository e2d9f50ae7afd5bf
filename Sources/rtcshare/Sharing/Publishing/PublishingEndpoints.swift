internal import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSignaling
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The endpoints to which a share is published.
struct PublishingEndpoints {
    let whip: [WHIPEndpoint]
    let janus: [JanusEndpoint]
    /// The bitrate that a Janus room is asked to allow for the content.
    let requestedBitrate: DataRate?
    let layers: LayerCount
    let media: Set<SharedMedia>

    /// Returns the publications of a room's share, over connections with this configuration.
    func places(
        of room: SharingRoom, membership: RoomMembership, configuration: Connection.Configuration
    ) -> PublishingServers {
        var configuration = configuration
        configuration.contentLayers = layers.count(for: configuration.maxBitrate)
        let whip = whip.map { endpoint in
            var endpoint = endpoint
            endpoint.membership = membership
            endpoint.configuration = configuration
            return endpoint
        }
        let janus = janus.map { endpoint in
            var endpoint = endpoint
            endpoint.membership = membership
            endpoint.configuration = configuration
            if endpoint.media.contains(.content) {
                // The room's limit applies to all layers together.
                endpoint.requestedBitrate = requestedBitrate.map {
                    SimulcastLayer.bitrate(ofAll: configuration.contentLayers, wanted: $0)
                }
            }
            return endpoint
        }
        return PublishingServers(whip + janus, of: room)
    }

    /// Prints warnings about the servers before anything is sent.
    func warnOfRisks() {
        for endpoint in whip where endpoint.exposesToken {
            Terminal.shared.say(
                "Warning: the token goes to \(endpoint.name) over plain HTTP. Somebody who can monitor the network can read it. "
                    + "Use an https:// URL if the server has one.")
        }
        if let endpoint = janus.first, endpoint.exposesSecrets {
            Terminal.shared.say(
                "Warning: the room's secrets go to \(endpoint.name) unencrypted. Somebody who can monitor the network can read "
                    + "them. Use an https:// or wss:// URL if the server has one.")
        }
        let missing = [(SharedMedia.camera, "the camera"), (.microphone, "the microphone")]
            .filter { media.contains($0.0) }.map(\.1)
        guard !whip.isEmpty, !missing.isEmpty else { return }
        Terminal.shared.say(
            "WHIP servers get the shared video and audio, not \(missing.joined(separator: " and ")): a WHIP session has one "
                + "video and one audio track. --audio microphone mixes the microphone in for all viewers.")
    }
}

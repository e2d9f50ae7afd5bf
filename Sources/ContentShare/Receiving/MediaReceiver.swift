internal import RTCShareNetworkRuntime
internal import RTCSharePeerConnection

/// Hands what a peer sends to its tiles and sounds.
enum MediaReceiver {
    /// Reads what comes over a connection, until the peer is gone. Keeps nobody alive: a session that is let go of closes its
    /// connection.
    static func start(
        on connection: Connection, tiles: VideoTileController, sounds: RemoteSoundController
    ) -> Task<Void, Never> {
        let media = connection.media
        return Task { [weak connection, weak tiles, weak sounds] in
            for await event in media {
                guard let connection, let tiles, let sounds, await handle(event, of: connection, tiles, sounds)
                else { return }
            }
        }
    }

    /// Returns whether more may come.
    private static func handle(
        _ event: PeerConnection.Event, of connection: Connection, _ tiles: VideoTileController,
        _ sounds: RemoteSoundController
    ) async -> Bool {
        switch event {
        case .remoteMediaChanged:
            let media = await connection.remoteMedia
            await tiles.update(media)
            await sounds.update(media)
        case .frame(let frame, let receiver): tiles.receive(frame, receiver: receiver)
        case .sound(let packet, let receiver): sounds.receive(packet, receiver: receiver)
        case .activityChanged(let activity, let receiver):
            await tiles.activityChanged(activity, receiver: receiver)
            await sounds.activityChanged(activity, receiver: receiver)
        case .closedByPeer, .failed: return false
        // How the connection goes is its session's.
        default: break
        }
        return true
    }
}

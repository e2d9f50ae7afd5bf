package import RTCShareContentShare
internal import RTCShareCapture
internal import RTCShareMedia
package import RTCSharePeerConnection

/// The counts of playback in a session's report.
extension StatisticsReport {
    /// Adds the counts of a view that shows a tile.
    @SharingActor package mutating func add(tile: Int, of tiles: VideoTileController, shownBy view: VideoView) {
        guard let receiver = tiles.receiverIndex(ofTile: tile) else { return }
        let statistics = view.statistics
        inboundRTP[receiver]?.screen = VideoScreenStats(
            framesRendered: statistics.framesRendered, framesDropped: statistics.framesDropped,
            totalRenderDelay: statistics.totalRenderDelay)
        inboundRTP[receiver]?.setPlayout(of: statistics.captureTime, at: statistics.renderTime)
    }

    /// Adds the counts of playback of each audio stream.
    @SharingActor package mutating func add(sounds: RemoteAudioController, playedBy player: AudioPlayer) {
        for (sound, statistics) in player.statistics {
            guard let receiver = sounds.receiverIndex(ofAudio: sound.audioID), inboundRTP[receiver] != nil else {
                continue
            }
            let playout = MediaPlayoutStats(
                sound: sound.audioID, samples: statistics.samplesPlayed, delay: statistics.totalPlayoutDelay,
                breaks: statistics.breaks)
            inboundRTP[receiver]?.playoutId = playout.id
            inboundRTP[receiver]?.setPlayout(of: statistics.captureTime, at: statistics.heardTime)
            mediaPlayouts.append(playout)
        }
    }
}

extension InboundRTPStreamStats {
    /// The time from 1900, where NTP begins, to 1970.
    private static let epoch = Duration.seconds(2_208_988_800)

    /// Sets the sender's time of the media that is played now.
    fileprivate mutating func setPlayout(of captureTime: Duration?, at time: Duration?) {
        guard let captureTime, let time else { return }
        estimatedPlayoutTimestamp = (captureTime + Self.epoch + monotonicNow() - time) / .milliseconds(1)
    }
}

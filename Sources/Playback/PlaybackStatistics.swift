package import RTCShareContentShare
internal import RTCShareCapture
internal import RTCShareMedia
package import RTCSharePeerConnection

/// What was shown and heard, in the words of W3C webrtc-stats.
package enum PlaybackStatistics {
    /// Completes a session's report with what a view has shown of a tile: `framesRendered`, `framesDropped`,
    /// `totalRenderDelay` and `estimatedPlayoutTimestamp` of its `inbound-rtp`.
    package static func complete(
        _ report: [StatisticsObject], tile: Int, of tiles: VideoTileController, shownBy view: VideoView
    ) -> [StatisticsObject] {
        guard let id = tiles.statisticsID(ofTile: tile) else { return report }
        let statistics = view.statistics
        return changing(report, id: id) { object in
            object.set("framesRendered", statistics.framesRendered)
            object.set("framesDropped", (object.integer("framesDropped") ?? 0) + Int64(statistics.framesDropped))
            object.set("totalRenderDelay", seconds: statistics.totalRenderDelay)
            object.setPlayout(of: statistics.captureTime, at: statistics.renderTime)
        }
    }

    /// Completes it with what was heard: a `media-playout` for each sound, and `playoutId` and
    /// `estimatedPlayoutTimestamp` of its `inbound-rtp`.
    package static func complete(
        _ report: [StatisticsObject], sounds: RemoteSoundController, playedBy player: SoundPlayer
    ) -> [StatisticsObject] {
        var report = report
        for (sound, statistics) in player.statistics {
            guard let id = sounds.statisticsID(ofSound: sound.soundID),
                let timestamp = report.first(where: { $0.id == id })?.timestamp
            else { continue }
            var playout = StatisticsObject(id: "AP\(sound.soundID)", type: .mediaPlayout, timestamp: timestamp)
            playout.set("kind", "audio")
            playout.set("totalSamplesCount", statistics.samplesPlayed)
            playout.set("totalSamplesDuration", Double(statistics.samplesPlayed) / 48_000)
            playout.set("totalPlayoutDelay", seconds: statistics.totalPlayoutDelay)
            playout.set("synthesizedSamplesEvents", statistics.breaks)
            report = changing(report, id: id) { object in
                object.set("playoutId", playout.id)
                object.setPlayout(of: statistics.captureTime, at: statistics.heardTime)
            }
            report.append(playout)
        }
        return report
    }

    private static func changing(
        _ report: [StatisticsObject], id: String, _ body: (inout StatisticsObject) -> Void
    ) -> [StatisticsObject] {
        report.map { object in
            guard object.id == id else { return object }
            var object = object
            body(&object)
            return object
        }
    }
}

extension StatisticsObject {
    /// From 1900, from which NTP counts, to 1970.
    private static let epoch = Duration.seconds(2_208_988_800)

    /// What is seen or heard now, by the sender's clock, in milliseconds of NTP: what two media differ by is how far they are
    /// apart (W3C webrtc-stats `estimatedPlayoutTimestamp`).
    fileprivate mutating func setPlayout(of captureTime: Duration?, at time: Duration?) {
        guard let captureTime, let time else { return }
        set("estimatedPlayoutTimestamp", (captureTime + Self.epoch + monotonicNow() - time) / .milliseconds(1))
    }
}

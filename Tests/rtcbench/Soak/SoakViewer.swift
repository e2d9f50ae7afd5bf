internal import Foundation
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
import RTCShareTransport
internal import RTCShareWireFormat
internal import Synchronization

/// A viewer: a complete session that decodes the received media, and records the times of its last video and audio.
final class SoakViewer: Sendable {
    let viewer: Int
    private let session: AttendeeSession
    private let senses: SoakSenses

    init(_ viewer: Int) async throws {
        self.viewer = viewer
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        session = try await AttendeeSession.viewing(as: AttendeeID("viewer-\(viewer)"), configuration: configuration)
        senses = SoakSenses(tiles: session.tiles, sounds: session.audio)
        session.tiles.add(observer: senses)
        session.audio.add(observer: senses)
        Task { [signals = await session.signals, senses] in
            for await signal in signals {
                switch signal {
                case .state(let state): senses.note(state.rawValue)
                case .restartNeeded: senses.note("needs-restart")
                case .localCandidate, .localCandidatesEnded: continue
                }
            }
        }
        Task { [session, senses] in
            do {
                try await session.waitUntilEnd()
                senses.state.withLock { $0.ended = "closed" }
            } catch {
                senses.state.withLock { $0.ended = "\(error)" }
            }
        }
    }

    func answer(_ offer: String) async throws -> String {
        try await session.connection.answer(offer: SessionDescription.parse(offer)).description
    }

    /// Requests a key frame of each video.
    func requestKeyFrame() async {
        for (index, media) in await session.connection.remoteMedia.enumerated() where media.isVideo {
            session.connection.requestKeyFrame(ofReceiver: index)
        }
    }

    func leave() async {
        await session.leave()
        session.tiles.remove(observer: senses)
        session.audio.remove(observer: senses)
    }

    func report() async -> SoakViewerReport {
        let state = senses.state.withLock { $0 }
        let now = MonotonicTime.now
        func since(_ moment: Instant?) -> Double? { moment.map { (now - $0).seconds } }
        let tiles = await session.tiles.tiles.map { "\($0.size) \($0.pauseState.rawValue)" }.joined(separator: ", ")
        return SoakViewerReport(
            viewer: viewer, sinceSeen: since(state.seen), sinceHeard: since(state.heard),
            state: "tile \(tiles.isEmpty ? "none" : tiles), \(state.events.joined(separator: " "))",
            ended: state.ended)
    }
}

/// The received video and audio of a viewer.
final class SoakSenses: VideoTileObserver, RemoteAudioObserver {
    struct State {
        var seen: Instant?
        var heard: Instant?
        var ended: String?
        /// The latest events.
        var events: [String] = []
    }

    /// The number of frames of all viewers of the process.
    static let picturesSeen = Atomic(0)

    let state = Locked(State())
    private let tiles: VideoTileController
    private let sounds: RemoteAudioController

    init(tiles: VideoTileController, sounds: RemoteAudioController) {
        self.tiles = tiles
        self.sounds = sounds
    }

    private final class Eyes: VideoSink {
        private weak let senses: SoakSenses?

        init(_ senses: SoakSenses) { self.senses = senses }

        func receive(_ frame: VideoFrame) {
            SoakSenses.picturesSeen.add(1, ordering: .relaxed)
            senses?.state.withLock { $0.seen = MonotonicTime.now }
        }
    }

    private final class Ears: AudioSink {
        private weak let senses: SoakSenses?
        /// The amplitude below which a sample is silence, or a decoder's concealment.
        private static let audible: Float = 0.01

        init(_ senses: SoakSenses) { self.senses = senses }

        func receive(_ frame: AudioFrame) {
            guard frame.samples.contains(where: { abs($0) > Self.audible }) else { return }
            senses?.state.withLock { $0.heard = MonotonicTime.now }
        }
    }

    fileprivate func note(_ event: String) {
        state.withLock { $0.events = $0.events.suffix(5) + [event] }
    }

    func videoTileDidAdd(_ tile: VideoTileState) {
        note("added")
        try? tiles.bind(Eyes(self), toTile: tile.tileID)
    }

    func videoTileDidRemove(_ tile: VideoTileState) { note("removed") }
    func videoTileDidPause(_ tile: VideoTileState) { note("paused") }
    func videoTileDidResume(_ tile: VideoTileState) { note("resumed") }
    func videoTileSizeDidChange(_ tile: VideoTileState) {}
    func remoteAudioDidAdd(_ sound: RemoteAudio) { try? sounds.bind(Ears(self), toAudio: sound.audioID) }
}

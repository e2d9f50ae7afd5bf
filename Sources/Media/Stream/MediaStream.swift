internal import RTCShareLocks

/// Tracks that belong together for a viewer: the video and the audio of one attendee, or of one screen.
public final class MediaStream: Sendable {
    /// The stream's id, as in `a=msid` (RFC 8830).
    public let id: String

    private struct Tracks {
        var audio: [AudioTrack] = []
        var video: [VideoTrack] = []

        func has(_ id: String) -> Bool {
            audio.contains { $0.id == id } || video.contains { $0.id == id }
        }
    }

    private let tracks = Locked(Tracks())

    /// A stream without tracks; ``MediaFactory`` checks the id.
    package init(id: String) {
        self.id = id
    }

    /// The audio tracks, in the order in which they were added.
    public var audioTracks: [AudioTrack] { tracks.withLock { $0.audio } }

    /// The video tracks, in the order in which they were added.
    public var videoTracks: [VideoTrack] { tracks.withLock { $0.video } }

    /// Adds a track. Returns false if one with its id exists already.
    @discardableResult
    public func add(_ track: AudioTrack) -> Bool {
        tracks.withLock { tracks in
            guard !tracks.has(track.id) else { return false }
            tracks.audio.append(track)
            return true
        }
    }

    /// Adds a track. Returns false if one with its id exists already.
    @discardableResult
    public func add(_ track: VideoTrack) -> Bool {
        tracks.withLock { tracks in
            guard !tracks.has(track.id) else { return false }
            tracks.video.append(track)
            return true
        }
    }

    /// Removes a track. Returns false if it is not in the stream.
    @discardableResult
    public func remove(_ track: AudioTrack) -> Bool {
        tracks.withLock { tracks in
            let count = tracks.audio.count
            tracks.audio.removeAll { $0 === track }
            return tracks.audio.count < count
        }
    }

    /// Removes a track. Returns false if it is not in the stream.
    @discardableResult
    public func remove(_ track: VideoTrack) -> Bool {
        tracks.withLock { tracks in
            let count = tracks.video.count
            tracks.video.removeAll { $0 === track }
            return tracks.video.count < count
        }
    }
}

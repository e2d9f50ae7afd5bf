internal import RTCShareRTP
package import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Writes a recording: aligns the tracks of several senders, each with a clock of its own, orders their blocks by time,
/// and writes them to a file.
///
///     frames  ─▶ when they are due ─▶ their line, which has no gaps ─▶ the order of all, half a second later ─▶ file
///     packets      (SenderTimeline)     (PictureLine, SoundLine)             (RecordingHorizon)
///
/// The recording begins with the first frame or packet. An audio track begins at that time, with silence until its
/// first packet. A video track begins with its first frame. Used from one thread at a time; it reads no clock.
package final class WebMMuxer {
    private struct Picture {
        let name: String
        let isMain: Bool
        let sender: Int
        var clock = TrackClock()
        var line = PictureLine()
        /// Its tracks in the file, by their codecs.
        var numbers: [String: Int] = [:]
        /// The track of its last frame; nil if that has none.
        var number: Int?
        /// Whether the file's type can't contain a codec that it had.
        var isUnsuitable = false
    }

    private struct Sound {
        let name: String
        let isMain: Bool
        let sender: Int
        var clock = TrackClock()
        /// The audio, once the recording has begun.
        var line: SoundLine?
        var number: Int?
    }

    private let writer: WebMWriter
    private let path: String
    private let unixTimeAtZero: Duration
    /// The timelines, by the senders' numbers.
    private var senders: [Int: SenderTimeline] = [:]
    private var picturesByID: [Int: Int] = [:]
    private var soundsByID: [Int: Int] = [:]
    private var pictures: [Picture] = []
    private var sounds: [Sound] = []
    private var horizon = RecordingHorizon()
    /// The arrival time of the first frame or packet.
    private var start: Duration?
    /// The time before which everything was written.
    private var writtenUntil = Duration.zero
    private var tracksSoFar = 0
    /// The first track without space in the file, until it is reported.
    private var omission: MediaFileError?
    private var isFull = false

    /// Creates the file, which must not exist yet. `unixTimeAtZero` is the time of the wall clock since 1 January 1970
    /// when the monotonic clock read zero.
    package init(path: String, unixTimeAtZero: Duration) throws(MediaFileError) {
        writer = try WebMWriter(path: path)
        self.path = path
        self.unixTimeAtZero = unixTimeAtZero
    }

    /// The duration of the recording so far.
    package var duration: Duration { writer.duration }

    /// Adds a sender's video, with a number that no other video has. Video of the same name continues in the same
    /// track, from its next key frame on.
    package func addPicture(_ id: Int, of sender: Int, name: String, isMain: Bool) {
        if let known = pictures.firstIndex(where: { $0.sender == sender && $0.name == name }) {
            pictures[known].clock = TrackClock()
            pictures[known].line.restart()
            picturesByID[id] = known
        } else {
            picturesByID[id] = pictures.count
            pictures.append(Picture(name: name, isMain: isMain, sender: sender))
        }
    }

    /// Adds a sender's audio, with a number that no other audio has. Audio of the same name continues in the same
    /// track.
    package func addSound(_ id: Int, of sender: Int, name: String, isMain: Bool) throws(MediaFileError) {
        if let known = sounds.firstIndex(where: { $0.sender == sender && $0.name == name }) {
            sounds[known].clock = TrackClock()
            soundsByID[id] = known
        } else {
            soundsByID[id] = sounds.count
            sounds.append(Sound(name: name, isMain: isMain, sender: sender))
            if start != nil { try begin(sound: sounds.count - 1, at: writtenUntil) }
        }
    }

    /// Restarts the clocks of a sender, whose media come over a new connection from now on. They continue in the tracks
    /// of their names after they were added again.
    package func restart(sender: Int) { senders[sender] = nil }

    /// Adds a frame of a video, in decoding order. A track has the rotation of its first frame, which applies to all of
    /// them. A frame of another codec than the last one continues in the video's track for that codec.
    /// - Returns: Whether to request a key frame.
    /// - Throws: `unsuitableVideo`, once for each video, if the file can't contain the codec. All other media continue.
    package func receive(
        frame: RecordedFrame, _ times: MediaTimes, ofPicture id: Int
    ) throws(MediaFileError) -> Bool {
        guard let index = picturesByID[id], let codec = try suitableCodec(of: frame, index) else { return false }
        let since = try sinceStart(times.arrival)
        let time = senders[pictures[index].sender, default: SenderTimeline()].timeOfPicture(
            times, clock: &pictures[index].clock, now: horizon.now(at: since))
        horizon.note(time, arrival: since)
        return pictures[index].line.add(frame, as: codec, at: time)
    }

    /// Adds an Opus packet, in any order.
    package func receive(packet: [UInt8], _ times: MediaTimes, ofSound id: Int) throws(MediaFileError) {
        guard let index = soundsByID[id] else { return }
        let since = try sinceStart(times.arrival)
        let time = senders[sounds[index].sender, default: SenderTimeline()].timeOfSound(
            times, track: index, clock: &sounds[index].clock, now: horizon.now(at: since))
        horizon.note(time, arrival: since)
        sounds[index].line?.add(packet, at: time)
    }

    /// Writes the blocks that can't change any more.
    /// - Throws: `tooManyTracks`, once, if the file has no space for a track. All other media continue.
    package func advance(to now: Duration) throws(MediaFileError) {
        guard let start else { return }
        let horizon = horizon.horizon(at: now - start)
        guard horizon > writtenUntil else { return }
        writtenUntil = horizon
        try write(until: horizon)
    }

    /// Writes all blocks, and ends the file, or removes it if it is empty.
    package func close() throws(MediaFileError) {
        var failure: MediaFileError?
        do throws(MediaFileError) {
            try write(until: nil)
        } catch {
            failure = error
        }
        // The written part is worth a regular end, whatever else failed.
        try writer.close()
        if let failure { throw failure }
    }

    /// Whether a file with this path can contain a codec.
    package static func canContain(codec name: String, in path: String) -> Bool {
        RecordedCodec.named(name).map { DocumentType(path: path).canContain($0) } ?? false
    }

    // MARK: Parts

    /// Returns the codec of a frame; nil if the file can't contain it, which the first frame throws.
    private func suitableCodec(of frame: RecordedFrame, _ index: Int) throws(MediaFileError) -> RecordedCodec? {
        if let codec = RecordedCodec.of(frame.format), writer.type.canContain(codec) { return codec }
        pictures[index].line.restart()
        guard !pictures[index].isUnsuitable else { return nil }
        pictures[index].isUnsuitable = true
        throw .unsuitableVideo(path: path, name: pictures[index].name, codec: frame.format.encodingName)
    }

    /// Returns the time since the beginning of the recording, which is the first `arrival`.
    private func sinceStart(_ arrival: Duration) throws(MediaFileError) -> Duration {
        if let start { return arrival - start }
        start = arrival
        try writer.begin(date: (arrival + unixTimeAtZero).wholeNanoseconds)
        for index in sounds.indices { try begin(sound: index, at: .zero) }
        return .zero
    }

    private func begin(sound index: Int, at time: Duration) throws(MediaFileError) {
        sounds[index].line = SoundLine(start: time)
        let sound = sounds[index]
        sounds[index].number = try addTrack(.opus, name: sound.name, isMain: sound.isMain)
    }

    /// Makes a video continue in its track for a codec, which is added if there is none.
    private func setTrack(of index: Int, for video: WebMTrack.Video) throws(MediaFileError) {
        let picture = pictures[index]
        let number =
            if let known = picture.numbers[video.codecID] { known as Int? } else {
                try addTrack(.video(video), name: picture.name, isMain: picture.isMain)
            }
        pictures[index].number = number
        pictures[index].numbers[video.codecID] = number
    }

    private func addTrack(
        _ kind: WebMTrack.Kind, name: String, isMain: Bool
    ) throws(MediaFileError) -> Int? {
        let track = WebMTrack(number: tracksSoFar + 1, kind: kind, name: name, isMain: isMain)
        guard try writer.add(track) else {
            if !isFull { omission = .tooManyTracks(path: path, name: name) }
            isFull = true
            return nil
        }
        tracksSoFar += 1
        return track.number
    }

    /// Writes the blocks before a time; all of them for nil.
    private func write(until horizon: Duration?) throws(MediaFileError) {
        var blocks: [WebMBlock] = []
        for index in pictures.indices {
            for frame in pictures[index].line.take(until: horizon) {
                if let video = frame.video { try setTrack(of: index, for: video) }
                guard let number = pictures[index].number else { continue }
                blocks.append(
                    WebMBlock(track: number, time: frame.time, data: frame.data, isKeyFrame: frame.video != nil))
            }
        }
        for index in sounds.indices {
            let packets = sounds[index].line?.take(until: horizon) ?? []
            guard let number = sounds[index].number else { continue }
            blocks += packets.map {
                WebMBlock(
                    track: number, time: $0.time, duration: $0.duration, data: $0.payload, isKeyFrame: true)
            }
        }
        // Of blocks with the same time, video comes first, as in this array: the sort is stable.
        try writer.write(blocks.sorted { $0.time < $1.time })
        guard let omission else { return }
        self.omission = nil
        throw omission
    }
}

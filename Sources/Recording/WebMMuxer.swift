package import RTCShareVideoCoding
internal import RTCShareWireFormat

/// What a recording is made of: tracks of several senders, each with a clock of its own, brought into one order and written.
///
///     frames  ─▶ when they are due ─▶ their line, which has no gaps ─▶ the order of all, half a second later ─▶ file
///     packets      (SenderTimeline)     (PictureLine, SoundLine)             (RecordingHorizon)
///
/// The film begins with the first frame or packet. A sound is there from the beginning, silent until something is heard; a
/// picture has a track from its first frame on. Used from one thread at a time; it reads no clock.
package final class WebMMuxer {
    private struct Picture {
        let name: String
        let isMain: Bool
        let sender: Int
        var clock = TrackClock()
        var line = PictureLine()
        /// Its track in the file, once it has one.
        var number: Int?
    }

    private struct Sound {
        let name: String
        let isMain: Bool
        let sender: Int
        var clock = TrackClock()
        /// Where the film has begun.
        var line: SoundLine?
        var number: Int?
    }

    private let writer: WebMWriter
    private let unixTimeAtZero: Duration
    /// By the numbers that they were given.
    private var senders: [Int: SenderTimeline] = [:]
    private var picturesByID: [Int: Int] = [:]
    private var soundsByID: [Int: Int] = [:]
    private var pictures: [Picture] = []
    private var sounds: [Sound] = []
    private var horizon = RecordingHorizon()
    /// When the first thing arrived.
    private var start: Duration?
    /// All before this was written.
    private var writtenUntil = Duration.zero
    private var tracksSoFar = 0

    /// Makes the file, which must not be there yet. `unixTimeAtZero` is what the wallclock showed when the monotonic clock
    /// stood at zero, since 1 January 1970.
    package init(path: String, unixTimeAtZero: Duration) throws(MediaFileError) {
        writer = try WebMWriter(path: path)
        self.unixTimeAtZero = unixTimeAtZero
    }

    /// How long the film is so far.
    package var duration: Duration { writer.duration }

    /// A picture of a sender, under a number that no other picture has. One of the same name goes on in the same track, from
    /// a frame on that can be decoded on its own.
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

    /// A sound of a sender, under a number that no other sound has. One of the same name goes on in the same track.
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

    /// Takes a VP8 frame of a picture, in the order in which they are decoded. It is upright after so many quarter turns
    /// clockwise: the track tells players how to turn its first frame, and holds for all of them.
    /// - Returns: whether a frame that can be decoded on its own is to be asked for.
    package func receive(
        frame: [UInt8], quarterTurns: Int = 0, _ times: MediaTimes, ofPicture id: Int
    ) throws(MediaFileError) -> Bool {
        guard let index = picturesByID[id] else { return false }
        let since = try sinceStart(times.arrival)
        let time = senders[pictures[index].sender, default: SenderTimeline()].timeOfPicture(
            times, clock: &pictures[index].clock, now: horizon.now(at: since))
        horizon.note(time, arrival: since)
        return pictures[index].line.add(frame, quarterTurns: quarterTurns, at: time)
    }

    /// Takes an Opus packet of a sound, in any order.
    package func receive(packet: [UInt8], _ times: MediaTimes, ofSound id: Int) throws(MediaFileError) {
        guard let index = soundsByID[id] else { return }
        let since = try sinceStart(times.arrival)
        let time = senders[sounds[index].sender, default: SenderTimeline()].timeOfSound(
            times, track: index, clock: &sounds[index].clock, now: horizon.now(at: since))
        horizon.note(time, arrival: since)
        sounds[index].line?.add(packet, at: time)
    }

    /// Writes what can't change any more.
    package func advance(to now: Duration) throws(MediaFileError) {
        guard let start else { return }
        let horizon = horizon.horizon(at: now - start)
        guard horizon > writtenUntil else { return }
        writtenUntil = horizon
        try write(until: horizon)
    }

    /// Writes all that came, and ends the file; one in which nothing is, is removed.
    package func close() throws(MediaFileError) {
        var failure: MediaFileError?
        do throws(MediaFileError) {
            try write(until: nil)
        } catch {
            failure = error
        }
        // What is written already is worth its end whatever else failed.
        try writer.close()
        if let failure { throw failure }
    }

    // MARK: Parts

    /// The time since the film's beginning, which is now where there was none yet.
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

    private func addTrack(
        _ kind: WebMTrack.Kind, name: String, isMain: Bool
    ) throws(MediaFileError) -> Int? {
        let track = WebMTrack(number: tracksSoFar + 1, kind: kind, name: name, isMain: isMain)
        guard try writer.add(track) else { return nil }
        tracksSoFar += 1
        return track.number
    }

    /// Writes what is due before a time, or with nil all that came.
    private func write(until horizon: Duration?) throws(MediaFileError) {
        var blocks: [WebMBlock] = []
        for index in pictures.indices {
            let frames = pictures[index].line.take(until: horizon)
            if pictures[index].number == nil, let first = frames.first, let size = first.size {
                let picture = pictures[index]
                pictures[index].number = try addTrack(
                    .vp8(size, quarterTurns: first.quarterTurns), name: picture.name, isMain: picture.isMain)
            }
            guard let number = pictures[index].number else { continue }
            blocks += frames.map {
                WebMBlock(track: number, time: $0.time, data: $0.data, isKeyFrame: $0.size != nil)
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
        // Of one time pictures come first, as here: the sort leaves them where they are.
        try writer.write(blocks.sorted { $0.time < $1.time })
    }
}

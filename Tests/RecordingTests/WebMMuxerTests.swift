import RTCShareMedia
import RTCShareVideoCoding
import Testing

@testable import RTCShareRecording

struct WebMMuxerTests {
    private let folder: TestFolder
    private let path: String

    init() throws {
        folder = try TestFolder()
        path = folder.path("film.webm")
    }

    /// Times of a sender in this process, whose clocks are the monotonic one.
    private func times(_ milliseconds: Int, delay: Int = 5) -> MediaTimes {
        let time = Duration.seconds(1000) + .milliseconds(milliseconds)
        return MediaTimes(media: time, capture: time, arrival: time + .milliseconds(delay))
    }

    private func now(_ milliseconds: Int) -> Duration { .seconds(1000) + .milliseconds(milliseconds) }

    @Test("Video and audio of a sender are in the order of their times, whichever arrived first")
    func order() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice#content", isMain: true)
        try muxer.addSound(2, of: 0, name: "alice#content", isMain: true)
        for block in 0..<100 {
            // A frame takes 60 ms to encode, and audio almost no time.
            if block % 2 == 0 {
                let frame = block == 0 ? Samples.keyFrame() : Samples.interFrame(tag: block)
                _ = try muxer.receive(frame: .vp8(frame), times(20 * block, delay: 60), ofPicture: 1)
            }
            try muxer.receive(packet: Samples.packet(tag: block), times(20 * block), ofSound: 2)
            try muxer.advance(to: now(20 * block + 5))
        }
        try muxer.close()
        let film = try WebMFile(path: path)
        #expect(film.blocks.map(\.milliseconds) == film.blocks.map(\.milliseconds).sorted())
        let sound = try #require(film.tracks.first { $0.codec == "A_OPUS" })
        #expect(film.blocks(of: sound.number).compactMap { Samples.tag(of: $0.data) } == Array(0..<100))
        let picture = try #require(film.tracks.first { $0.codec == "V_VP8" })
        // The video came first and begins the recording. The audio is at its capture time.
        let offset = film.blocks(of: picture.number)[10].milliseconds - 400
        let heard = try #require(film.blocks(of: sound.number).first { Samples.tag(of: $0.data) == 20 })
        #expect(heard.milliseconds - offset == 400)
    }

    @Test("Audio whose times run ahead of the clock lengthens a recording by at most a tenth")
    func racingSound() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        try muxer.addSound(1, of: 0, name: "alice", isMain: true)
        for packet in 0..<2000 {
            let media = Duration.milliseconds(900 * packet)
            let arrival = Duration.seconds(1000) + .milliseconds(10 * packet)
            try muxer.receive(
                packet: Samples.packet(tag: packet), MediaTimes(media: media, capture: nil, arrival: arrival),
                ofSound: 1)
            try muxer.advance(to: arrival)
        }
        try muxer.close()
        #expect(muxer.duration < .seconds(20 + 2 + 2 + 1))
    }

    @Test("Extreme times are replaced by the times of arrival", arguments: [Int64.min, Int64.max])
    func extremeTimes(_ seconds: Int64) throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice", isMain: true)
        try muxer.addSound(2, of: 0, name: "alice", isMain: true)
        for step in 0..<50 {
            let far = Duration.seconds(step.isMultiple(of: 2) ? seconds : ~seconds)
            let times = MediaTimes(media: far, capture: far, arrival: now(20 * step))
            let frame = step == 0 ? Samples.keyFrame() : Samples.interFrame(tag: step)
            _ = try muxer.receive(frame: .vp8(frame), times, ofPicture: 1)
            try muxer.receive(packet: Samples.packet(tag: step), times, ofSound: 2)
            try muxer.advance(to: now(20 * step))
        }
        try muxer.close()
        #expect(muxer.duration >= .milliseconds(980) && muxer.duration < .seconds(2))
    }

    @Test("A rotated video has a track with its rotation", arguments: [0, 1, 2, 3])
    func rotation(quarterTurns: Int) throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice", isMain: true)
        _ = try muxer.receive(frame: .vp8(Samples.keyFrame(), quarterTurns: quarterTurns), times(0), ofPicture: 1)
        try muxer.close()
        #expect(try WebMFile(path: path).tracks.first?.roll == [nil, -90, 180, 90][quarterTurns])
    }

    @Test("An audio track has silence before its first packet and during pauses")
    func silentSound() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice#content", isMain: true)
        try muxer.addSound(2, of: 0, name: "alice", isMain: false)
        for number in 0..<50 {
            let frame = number == 0 ? Samples.keyFrame() : Samples.interFrame()
            _ = try muxer.receive(frame: .vp8(frame), times(100 * number), ofPicture: 1)
            if (20..<30).contains(number) {
                for part in 0..<5 {
                    let time = 100 * number + 20 * part
                    try muxer.receive(packet: Samples.packet(tag: time), times(time), ofSound: 2)
                }
            }
            try muxer.advance(to: now(100 * number))
        }
        try muxer.close()
        let film = try WebMFile(path: path)
        let sound = try #require(film.tracks.first { $0.codec == "A_OPUS" })
        let blocks = film.blocks(of: sound.number)
        #expect(blocks.first?.milliseconds == 0 && blocks.last.map { $0.milliseconds >= 4300 } == true)
        #expect(zip(blocks, blocks.dropFirst()).allSatisfy { (0...21).contains($1.milliseconds - $0.milliseconds) })
        let heard = blocks.filter { Samples.tag(of: $0.data) != nil }
        #expect(heard.first?.milliseconds == 2000 && heard.count == 50)
    }

    @Test("A video has a track from its first frame on, with the size of that frame, and continues in it after a pause")
    func laterPicture() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        try muxer.addSound(1, of: 0, name: "alice", isMain: false)
        muxer.addPicture(2, of: 0, name: "alice", isMain: false)
        for block in 0..<100 { try muxer.receive(packet: Samples.packet(), times(20 * block), ofSound: 1) }
        try muxer.advance(to: now(2000))
        #expect(try WebMFile(path: path).tracks.map(\.codec) == ["A_OPUS"])
        _ = try muxer.receive(
            frame: .vp8(Samples.keyFrame(PixelSize(width: 320, height: 180), tag: 1)), times(2100), ofPicture: 2)
        // Its peer started it again under another number, with other sequence numbers.
        muxer.addPicture(3, of: 0, name: "alice", isMain: false)
        _ = try muxer.receive(frame: .vp8(Samples.interFrame(tag: 2)), times(2200), ofPicture: 3)
        _ = try muxer.receive(
            frame: .vp8(Samples.keyFrame(PixelSize(width: 640, height: 480), tag: 3)), times(2300), ofPicture: 3)
        try muxer.close()
        let film = try WebMFile(path: path)
        let picture = try #require(film.tracks.first { $0.codec == "V_VP8" })
        #expect(film.tracks.count == 2 && picture.width == 320 && picture.height == 180)
        #expect(film.blocks(of: picture.number).map(\.milliseconds) == [2100, 2300])
    }

    @Test("Tracks of the same name of two senders are separate")
    func senders() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice", isMain: false)
        muxer.addPicture(2, of: 1, name: "alice", isMain: false)
        _ = try muxer.receive(frame: .vp8(Samples.keyFrame(tag: 1)), times(0), ofPicture: 1)
        _ = try muxer.receive(frame: .vp8(Samples.keyFrame(tag: 2)), times(10), ofPicture: 2)
        try muxer.close()
        #expect(try WebMFile(path: path).tracks.count == 2)
    }

    @Test("A video continues in its track at its arrival when its sender has a new connection with another clock")
    func newConnection() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice", isMain: true)
        _ = try muxer.receive(frame: .vp8(Samples.keyFrame(tag: 1)), times(0), ofPicture: 1)
        muxer.restart(sender: 0)
        muxer.addPicture(2, of: 0, name: "alice", isMain: true)
        let slow = MediaTimes(media: now(5000), capture: now(5000), arrival: now(10_005))
        _ = try muxer.receive(frame: .vp8(Samples.keyFrame(tag: 2)), slow, ofPicture: 2)
        try muxer.close()
        let film = try WebMFile(path: path)
        #expect(film.tracks.count == 1 && film.blocks.map(\.milliseconds) == [0, 10_000])
    }

    @Test("A track without space in the file is reported once, and the tracks before it are recorded")
    func space() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        for id in 0..<100 {
            muxer.addPicture(id, of: id, name: "alice", isMain: false)
            _ = try muxer.receive(frame: .vp8(Samples.keyFrame(tag: id)), times(id), ofPicture: id)
        }
        #expect(throws: MediaFileError.tooManyTracks(path: path, name: "alice")) { try muxer.advance(to: now(2000)) }
        _ = try muxer.receive(frame: .vp8(Samples.keyFrame(tag: 40)), times(3000), ofPicture: 99)
        try muxer.advance(to: now(5000))
        try muxer.close()
        let film = try WebMFile(path: path)
        #expect((14..<100).contains(film.tracks.count) && film.blocks.count == film.tracks.count)
    }

    @Test("All but the last half second is in the file if the process is killed")
    func upToDate() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .zero)
        muxer.addPicture(1, of: 0, name: "alice#content", isMain: true)
        for number in 0..<300 {
            let frame = number == 0 ? Samples.keyFrame() : Samples.interFrame()
            _ = try muxer.receive(frame: .vp8(frame), times(33 * number, delay: 0), ofPicture: 1)
            try muxer.advance(to: now(33 * number))
            guard number % 20 == 19 else { continue }
            let film = try WebMFile(path: path)
            #expect(film.milliseconds >= Double(33 * number - 533))
        }
        withExtendedLifetime(muxer) {}
    }

    @Test("The date of a recording is the arrival of its first frame or packet")
    func date() throws {
        let muxer = try WebMMuxer(path: path, unixTimeAtZero: .seconds(978_307_200))
        muxer.addPicture(1, of: 0, name: "alice", isMain: false)
        _ = try muxer.receive(frame: .vp8(Samples.keyFrame()), times(0, delay: 0), ofPicture: 1)
        try muxer.close()
        #expect(try WebMFile(path: path).date == 1_000_000_000_000)
    }
}

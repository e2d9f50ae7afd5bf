import Foundation
import RTCShareMedia
import RTCShareVideoCoding
import Testing

@testable import RTCShareRecording

struct EBMLTests {
    @Test(
        "A size takes the fewest bytes, and none equals the unknown size",
        arguments: [
            (0, [0x80]), (1, [0x81]), (126, [0xFE]), (127, [0x40, 0x7F]), (16_382, [0x7F, 0xFE]),
            (16_383, [0x20, 0x3F, 0xFF]),
            (2_097_150, [0x3F, 0xFF, 0xFE]), (2_097_151, [0x10, 0x1F, 0xFF, 0xFF]),
        ] as [(Int, [UInt8])])
    func sizes(count: Int, bytes: [UInt8]) {
        #expect(EBML.size(count) == bytes)
    }

    @Test("A void element has the requested length", arguments: [2, 3, 100, 127, 128, 129, 5000])
    func nothing(byteCount: Int) {
        var writer = EBML()
        writer.writeVoid(byteCount: byteCount)
        #expect(writer.bytes.count == byteCount && writer.bytes[0] == 0xEC)
    }
}

struct CueIndexTests {
    /// A file of an index and nothing else, for the reader.
    private func read(_ room: [UInt8]) throws -> [WebMFile.Cue] {
        var file = EBML()
        file.write(.ebml, [])
        file.write(.segment) { $0.write(.cues, room) }
        return try WebMFile(file.bytes).cues
    }

    @Test("The index can be read between any two writes, and has all entries for which there is room")
    func wholeAtEveryMoment() throws {
        let capacity = 16
        var index = CueIndex(capacity: capacity)
        var room = [UInt8](repeating: 0, count: index.byteCount)
        func apply(_ write: CueIndex.Write) {
            room.replaceSubrange(write.offset..<write.offset + write.bytes.count, with: write.bytes)
        }
        apply(index.empty)
        #expect(try read(room).isEmpty)
        for number in 0..<100 {
            for write in index.add(track: 1, milliseconds: 1000 * number, clusterPosition: 500 * number) {
                #expect(write.bytes.count == 9 || write.bytes.count % 32 == 0 && write.offset % 32 == 0)
                apply(write)
                let cues = try read(room)
                // New data is written last, in one piece.
                #expect(cues.allSatisfy { $0.track == 1 && $0.milliseconds <= 1000 * number })
            }
            let times = try read(room).map(\.milliseconds)
            #expect(times.first == 0 && times.last == 1000 * number)
            #expect(times == times.sorted() && times.count <= capacity && times.count >= min(number + 1, capacity / 2))
        }
    }
}

struct WebMWriterTests {
    private let folder: TestFolder
    private let path: String

    init() throws {
        folder = try TestFolder()
        path = folder.path("film.webm")
    }

    private let picture = WebMTrack(
        number: 2, kind: .video(.init(codecID: "V_VP8", size: PixelSize(width: 640, height: 360))),
        name: "alice#content", isMain: true)
    private let sound = WebMTrack(number: 1, kind: .opus, name: "alice", isMain: false)

    private func writer() throws -> WebMWriter {
        let writer = try WebMWriter(path: path)
        try writer.begin(date: 978_307_200_000_000_000 + 5)
        #expect(try writer.add(sound))
        #expect(try writer.add(picture))
        return writer
    }

    private func frame(at milliseconds: Int, isKeyFrame: Bool = false) -> WebMBlock {
        WebMBlock(
            track: 2, time: .milliseconds(milliseconds),
            data: isKeyFrame ? Samples.keyFrame(tag: milliseconds) : Samples.interFrame(tag: milliseconds),
            isKeyFrame: isKeyFrame)
    }

    private func packet(at milliseconds: Int) -> WebMBlock {
        WebMBlock(
            track: 1, time: .milliseconds(milliseconds), duration: .milliseconds(20),
            data: Samples.packet(tag: milliseconds), isKeyFrame: true)
    }

    @Test("A finished recording has its duration, its tracks with the main ones first, and all frames")
    func ended() throws {
        let writer = try writer()
        try writer.write([frame(at: 0, isKeyFrame: true), packet(at: 0), packet(at: 20), frame(at: 33)])
        try writer.write([packet(at: 40), frame(at: 66)])
        try writer.close()
        let film = try WebMFile(path: path)
        #expect(film.leadsRight && film.milliseconds == 67 && film.date == 5)
        #expect(
            film.tracks.map(\.name) == ["alice#content", "alice"] && film.tracks.map(\.codec) == ["V_VP8", "A_OPUS"])
        #expect(film.tracks.map(\.isDefault) == [true, true], "each is the first of its kind")
        #expect(film.tracks[0].width == 640 && film.tracks[0].height == 360)
        #expect(film.blocks(of: 1).map(\.milliseconds) == [0, 20, 40])
        #expect(film.blocks(of: 2).map(\.milliseconds) == [0, 33, 66])
        #expect(film.blocks.map(\.isKeyFrame) == [true, true, true, false, true, false])
        #expect(
            film.blocks(of: 2).map(\.data) == [
                Samples.keyFrame(tag: 0), Samples.interFrame(tag: 33), Samples.interFrame(tag: 66),
            ])
        #expect(!film.clusters.contains { !$0.isEnded })
    }

    @Test("The file can be read to its end after every write")
    func wholeAtEveryMoment() throws {
        let writer = try writer()
        #expect(try WebMFile(path: path).tracks.count == 2)
        var written = 0
        for second in 0..<30 {
            for part in 0..<4 {
                let time = second * 1000 + part * 250
                try writer.write([frame(at: time, isKeyFrame: second % 7 == 0 && part == 0), packet(at: time)])
                written += 2
                let film = try WebMFile(path: path)
                #expect(film.blocks.count == written && film.milliseconds == Double(time + 20))
                #expect(!film.clusters.dropLast().contains { !$0.isEnded })
            }
        }
        let film = try WebMFile(path: path)
        #expect(film.cues.map(\.milliseconds) == [0, 7000, 14_000, 21_000, 28_000])
        for cue in film.cues {
            let cluster = try #require(film.clusters.first { $0.offset == cue.clusterOffset })
            #expect(cluster.milliseconds == cue.milliseconds)
            #expect(cluster.blocks.first?.track == 2 && cluster.blocks.first?.isKeyFrame == true)
        }
    }

    @Test("A track that is added later changes only the header's list of tracks")
    func laterTrack() throws {
        let writer = try writer()
        try writer.write([frame(at: 0, isKeyFrame: true)])
        let video = WebMTrack.Video(codecID: "V_VP8", size: PixelSize(width: 320, height: 180))
        let later = WebMTrack(number: 3, kind: .video(video), name: "alice", isMain: false)
        #expect(try writer.add(later))
        try writer.write([WebMBlock(track: 3, time: .seconds(3), data: Samples.keyFrame(), isKeyFrame: true)])
        let film = try WebMFile(path: path)
        #expect(film.tracks.map(\.number) == [2, 3, 1] && film.tracks.map(\.isDefault) == [true, false, true])
        #expect(film.blocks(of: 2).count == 1 && film.blocks(of: 3).count == 1)
    }

    @Test("The first tracks are kept if there are more than there is room for")
    func manyTracks() throws {
        let writer = try writer()
        let name = String(repeating: "n", count: 72)
        let added = try (3..<100).filter { number in
            try writer.add(WebMTrack(number: number, kind: .opus, name: name, isMain: false))
        }
        #expect(added.count >= 14 && added == Array(3..<3 + added.count))
        #expect(try WebMFile(path: path).tracks.count == added.count + 2)
    }

    @Test("A recording that has only audio has a cluster every five seconds")
    func soundAlone() throws {
        let writer = try WebMWriter(path: path)
        try writer.begin(date: 0)
        _ = try writer.add(sound)
        try writer.write((0..<1000).map { packet(at: 20 * $0) })
        try writer.close()
        #expect(try WebMFile(path: path).cues.map(\.milliseconds) == [0, 5000, 10_000, 15_000])
    }

    @Test("A block that is earlier than its cluster gets the cluster's time")
    func earlyBlock() throws {
        let writer = try writer()
        try writer.write([frame(at: 0, isKeyFrame: true), frame(at: 1000, isKeyFrame: true)])
        try writer.write([packet(at: 980), frame(at: 1033)])
        try writer.close()
        #expect(try WebMFile(path: path).blocks(of: 1).map(\.milliseconds) == [1000])
    }

    @Test("An existing file is not changed, and a file in a missing directory is not created")
    func unwritable() throws {
        try Data("mine".utf8).write(to: URL(filePath: path))
        #expect(throws: MediaFileError.alreadyExists(path: path)) { try WebMWriter(path: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        let elsewhere = folder.path("missing/film.webm")
        let reason = "there is no directory \(folder.path("missing"))"
        #expect(throws: MediaFileError.cannotOpen(path: elsewhere, reason: reason)) {
            try WebMWriter(path: elsewhere)
        }
    }

    @Test("An empty recording leaves no file")
    func empty() throws {
        let writer = try WebMWriter(path: path)
        #expect(FileManager.default.fileExists(atPath: path))
        try writer.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A recording without a block leaves no file, although it has tracks")
    func noBlock() throws {
        let writer = try writer()
        try writer.write([])
        try writer.close()
        #expect(!FileManager.default.fileExists(atPath: path))
        try Data("mine".utf8).write(to: URL(filePath: path))
        try writer.close()
        #expect(FileManager.default.fileExists(atPath: path), "the second close does nothing")
    }
}

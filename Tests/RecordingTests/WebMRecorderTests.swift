import Dispatch
import Foundation
import RTCShareLocks
import RTCShareMedia
import RTCShareRTP
import RTCShareStreams
import RTCShareTransport
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCShareRecording

struct WebMRecorderTests {
    private let folder: TestFolder
    private let path: String
    /// All media come an hour from now: the recorder's own timer finds nothing that is due, and its end writes all.
    private let start = Duration.nanoseconds(MonotonicClock.now.nanoseconds) + .seconds(3600)

    init() throws {
        folder = try TestFolder()
        path = folder.path("film.webm")
    }

    private func times(_ milliseconds: Int) -> MediaTimes {
        let time = start + .milliseconds(milliseconds)
        return MediaTimes(media: time, capture: time, arrival: time + .milliseconds(5))
    }

    private func fileExists() -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test("Each video and each audio of each sender is a track with its name")
    func tracks() async throws {
        let recorder = try WebMRecorder(path: path) { Issue.record("\($0)") }
        let (alice, bob) = (recorder.addSource(), recorder.addSource())
        let content = alice.picture(name: "alice#content", isMain: true) {}
        let sound = alice.sound(name: "alice#content", isMain: true)
        let face = bob.picture(name: "bob", isMain: false) {}
        for number in 0..<50 {
            content(.vp8(number == 0 ? Samples.keyFrame(tag: 1) : Samples.interFrame(tag: 1)), times(100 * number))
            face(.vp8(number == 0 ? Samples.keyFrame(tag: 2) : Samples.interFrame(tag: 2)), times(100 * number))
            for part in 0..<5 { sound(Samples.packet(tag: 3), times(100 * number + 20 * part)) }
        }
        try await recorder.close()
        let film = try WebMFile(path: path)
        #expect(film.tracks.map(\.name).sorted() == ["alice#content", "alice#content", "bob"])
        #expect(film.tracks.filter(\.isDefault).map(\.name) == ["alice#content", "alice#content"])
        for (name, codec, tag, count) in [
            ("alice#content", "V_VP8", 1, 50), ("bob", "V_VP8", 2, 50), ("alice#content", "A_OPUS", 3, 250),
        ] {
            let track = try #require(film.tracks.first { $0.name == name && $0.codec == codec })
            let blocks = film.blocks(of: track.number)
            #expect(blocks.count == count && blocks.allSatisfy { $0.data.last == UInt8(tag) }, "\(name), \(codec)")
        }
        #expect(recorder.duration >= .milliseconds(4900) && recorder.duration <= .milliseconds(5100))
    }

    @Test("An empty recording is removed, and its end can be requested twice")
    func nothing() async throws {
        let recorder = try WebMRecorder(path: path) { Issue.record("\($0)") }
        #expect(fileExists())
        _ = recorder.addSource().picture(name: "alice", isMain: true) {}
        try await recorder.close()
        try await recorder.close()
        #expect(!fileExists() && recorder.duration == .zero)
    }

    @Test("An existing file is not changed")
    func existingFile() throws {
        try Data("mine".utf8).write(to: URL(filePath: path))
        #expect(throws: MediaFileError.alreadyExists(path: path)) { _ = try WebMRecorder(path: path) }
        #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == "mine")
    }

    @Test("A recorder that has ended takes nothing and reports its end to its sources")
    func end() async throws {
        let recorder = try WebMRecorder(path: path) { Issue.record("\($0)") }
        let endings = Locked<[String]>([])
        recorder.onEnd { endings.withLock { $0.append("before") } }
        let picture = recorder.addSource().picture(name: "alice", isMain: true) {}
        picture(.vp8(Samples.keyFrame()), times(0))
        picture(.vp8(Samples.interFrame()), times(100))
        #expect(recorder.isOpen && endings.withLock(\.isEmpty))
        try await recorder.close()
        #expect(!recorder.isOpen && endings.withLock { $0 } == ["before"])
        recorder.onEnd { endings.withLock { $0.append("after") } }
        #expect(endings.withLock { $0 } == ["before", "after"])
        let written = try Data(contentsOf: URL(filePath: path))
        picture(.vp8(Samples.keyFrame()), times(200))
        #expect(try Data(contentsOf: URL(filePath: path)) == written)
    }

    /// Sends a key frame and the frames of twelve seconds. At the last one an index entry is due.
    private func fill(_ picture: (RecordedFrame, MediaTimes) -> Void) {
        picture(.vp8(Samples.keyFrame()), times(0))
        for number in 1...300 { picture(.vp8(Samples.interFrame(tag: number)), times(40 * number)) }
    }

    @Test("A key frame is requested once when an index entry is due, and frames before the first are dropped")
    func keyFrameRequests() async throws {
        let recorder = try WebMRecorder(path: path)
        let requests = Locked(0)
        let picture = recorder.addSource().picture(name: "alice", isMain: true) { requests.withLock { $0 += 1 } }
        picture(.vp8(Samples.interFrame(tag: 9)), times(-40))
        fill(picture)
        try await recorder.close()
        #expect(requests.withLock { $0 } == 1)
        let blocks = try WebMFile(path: path).blocks
        #expect(blocks.count == 301 && blocks.first?.isKeyFrame == true)
    }

    @Test("A recording ends once if the disk is too slow, and its earlier part is kept")
    func slowDisk() async throws {
        let failures = Locked<[MediaFileError]>([])
        let isReported = DispatchSemaphore(value: 0)
        let recorder = try WebMRecorder(path: path) { failure in
            failures.withLock { $0.append(failure) }
            isReported.signal()
        }
        let ended = Locked(false)
        recorder.onEnd { ended.withLock { $0 = true } }
        // A slow disk: the queue is blocked during the notification that a key frame is due.
        let (isWaiting, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let picture = recorder.addSource().picture(name: "alice", isMain: true) {
            isWaiting.signal()
            goesOn.wait()
        }
        fill(picture)
        isWaiting.wait()
        let padding = [UInt8](repeating: 7, count: 8 << 20)
        for number in 1...7 { picture(.vp8(Samples.interFrame() + padding), times(12_000 + 40 * number)) }
        #expect(failures.withLock(\.isEmpty) && recorder.isOpen)
        for number in 8...10 { picture(.vp8(Samples.interFrame() + padding), times(12_000 + 40 * number)) }
        let reason = MediaFileError.cannotWrite(path: path, reason: "the disk is too slow, record to another")
        isReported.wait()
        #expect(failures.withLock { $0 } == [reason] && ended.withLock { $0 } && !recorder.isOpen)
        goesOn.signal()
        await #expect(throws: reason) { try await recorder.close() }
        #expect(failures.withLock(\.count) == 1)
        let film = try WebMFile(path: path)
        #expect(film.blocks.count >= 308 && film.blocks.first?.isKeyFrame == true)
    }

    @Test("A video whose codec the file can't contain is reported once, and everything else is recorded")
    func unsuitableVideo() async throws {
        let failures = Locked<[MediaFileError]>([])
        let recorder = try WebMRecorder(path: path) { failure in failures.withLock { $0.append(failure) } }
        let source = recorder.addSource()
        let (content, face) = (
            source.picture(name: "alice#content", isMain: true) {}, source.picture(name: "alice", isMain: false) {}
        )
        let slice = RecordedFrame(data: [0, 0, 1, 0x65, 0x88, 0x84], format: .h264)
        face(.vp8(Samples.keyFrame()), times(0))
        content(slice, times(10))
        content(slice, times(20))
        face(.vp8(Samples.interFrame()), times(40))
        // The encoder of the content changes.
        content(.vp8(Samples.keyFrame()), times(60))
        let reason = MediaFileError.unsuitableVideo(path: path, name: "alice#content", codec: "H264")
        await #expect(throws: reason) { try await recorder.close() }
        #expect(failures.withLock { $0 } == [reason])
        let film = try WebMFile(path: path)
        #expect(film.tracks.map { "\($0.name) \($0.codec)" } == ["alice#content V_VP8", "alice V_VP8"])
        #expect(film.blocks.map(\.milliseconds) == [0, 40, 60])
    }

    @Test(
        "Only a name that ends in .mkv makes a Matroska file", arguments: ["film.webm", "mkv", "film.mkv", "film.MKV"])
    func documentType(name: String) async throws {
        let file = folder.path(name)
        let recorder = try WebMRecorder(path: file) { Issue.record("\($0)") }
        recorder.addSource().picture(name: "alice", isMain: true) {}(.vp8(Samples.keyFrame()), times(0))
        try await recorder.close()
        #expect(try WebMFile(path: file).documentType == (name.lowercased() == "film.mkv" ? "matroska" : "webm"))
    }

    @Test("A recording of ten minutes has that duration and an index entry for each key frame")
    func longFilm() async throws {
        let recorder = try WebMRecorder(path: path) { Issue.record("\($0)") }
        let source = recorder.addSource()
        let picture = source.picture(name: "alice", isMain: true) {}
        let sound = source.sound(name: "alice", isMain: true)
        for block in 0..<(600 * 50) {
            if block % 10 == 0 {
                let isKeyFrame = block % 500 == 0
                picture(
                    .vp8(isKeyFrame ? Samples.keyFrame(tag: block) : Samples.interFrame(tag: block)),
                    times(20 * block))
            }
            sound(Samples.packet(tag: block), times(20 * block))
        }
        try await recorder.close()
        #expect(recorder.duration >= .milliseconds(599_800) && recorder.duration <= .milliseconds(600_200))
        let film = try WebMFile(path: path)
        #expect(film.leadsRight && abs(film.milliseconds - 600_000) <= 200)
        let track = try #require(film.tracks.first { $0.codec == "V_VP8" }).number
        let blocks = film.blocks(of: track)
        #expect(
            blocks.count == 3000
                && zip(blocks, blocks.dropFirst()).allSatisfy { $1.milliseconds - $0.milliseconds == 200 })
        #expect(film.cues.filter { $0.track == track }.map(\.milliseconds) == (0..<60).map { 10_000 * $0 })
        for cue in film.cues {
            let cluster = try #require(film.clusters.first { $0.offset == cue.clusterOffset })
            #expect(
                cluster.blocks.contains {
                    $0.track == cue.track && $0.isKeyFrame && $0.milliseconds == cue.milliseconds
                })
        }
    }
}

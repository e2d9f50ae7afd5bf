import RTCShareMedia
import Testing

@Suite("MediaStream and MediaFactory")
struct StreamTests {
    private let factory = MediaFactory()

    @Test("A stream has one track per id, of both kinds, in the order of addition")
    func tracks() throws {
        let stream = try factory.mediaStream(withID: "alice#content")
        let (video, audio) = (factory.videoSource(forScreencast: true), PushAudioSource())
        let first = try factory.videoTrack(with: video, id: "v1")
        let second = try factory.videoTrack(with: video, id: "v0")
        let sound = try factory.audioTrack(with: audio, id: "a1")
        #expect(stream.add(first) && stream.add(second) && stream.add(sound))
        #expect(!stream.add(first))
        #expect(!stream.add(try factory.videoTrack(with: video, id: "v1")))
        #expect(!stream.add(try factory.videoTrack(with: video, id: "a1")))
        #expect(!stream.add(try factory.audioTrack(with: audio, id: "v0")))
        #expect(stream.videoTracks.map(\.id) == ["v1", "v0"] && stream.audioTracks.map(\.id) == ["a1"])
        #expect(!stream.remove(try factory.videoTrack(with: video, id: "v1")))
        #expect(stream.remove(first) && !stream.remove(first))
        #expect(stream.remove(sound) && !stream.remove(sound))
        #expect(stream.add(first))
        #expect(stream.videoTracks.map(\.id) == ["v0", "v1"] && stream.audioTracks.isEmpty)
    }

    @Test(
        "An id of any token is accepted",
        arguments: ["a", "alice#content", "!#$%&'*+-.^_`{|}~", "0", String(repeating: "x", count: 64)])
    func ids(id: String) throws {
        #expect(try factory.mediaStream(withID: id).id == id)
    }

    @Test(
        "An id that would break a description is rejected by every factory method",
        arguments: [
            "", " ", "a b", "a\r\na=sendrecv", "a\n", "a\0", "é", "👩‍💻", "a:b", "a/b", "a\"b", "(a)", "a,b", "a;b", "a@b",
            "[a]", "a\u{7F}", "a\u{202E}b", String(repeating: "x", count: 65), String(repeating: "🧨", count: 100_000),
        ])
    func hostile(id: String) {
        #expect(throws: MediaError.identifier(id)) { _ = try factory.mediaStream(withID: id) }
        #expect(throws: MediaError.identifier(id)) {
            _ = try factory.videoTrack(with: factory.videoSource(forScreencast: false), id: id)
        }
        #expect(throws: MediaError.identifier(id)) { _ = try factory.audioTrack(with: PushAudioSource(), id: id) }
        // The error is one short line.
        let words = MediaError.identifier(id).description
        #expect(words.count < 1500 && !words.contains("\n") && !words.contains("\r"))
    }

    @Test("A source is of a screen or not")
    func sources() {
        #expect(factory.videoSource(forScreencast: true).isScreencast)
        #expect(factory.videoSource(forScreencast: false).contentHint == .motion)
    }
}

@Suite("VideoStatisticsSink and observers")
struct StatisticsSinkTests {
    @Test("Frames, rests, sizes, gaps and the rate are counted by the frames' timestamps")
    func counts() {
        let (source, sink) = (PushVideoSource(), VideoStatisticsSink())
        source.add(sink)
        #expect(sink.statistics.frames == 0 && sink.statistics.size == nil)
        for index in 0..<20 { source.capture(grey(at: index * 100, damage: index % 4 == 1 ? [] : nil)) }
        source.capture(grey(32, 32, at: 2900))
        source.capture(grey(32, 32, at: 2950, outputSize: PixelSize(width: 8, height: 8)))
        var statistics = sink.statistics
        #expect(statistics.frames == 22 && statistics.framesWithoutChange == 5)
        #expect(statistics.size == PixelSize(width: 8, height: 8) && statistics.sizeChanges == 2)
        #expect(statistics.longestGap == .seconds(1) && statistics.lastTimestamp == .milliseconds(2950))
        #expect(statistics.framesPerSecond == 2 && !statistics.hasEnded)
        source.remove(sink)
        source.end()
        #expect(!sink.statistics.hasEnded)
        source.add(sink)
        source.end()
        statistics = sink.statistics
        #expect(statistics.hasEnded)
    }

    @Test("The rate is that of the last second, also with timestamps that jump back or repeat")
    func rate() {
        let sink = VideoStatisticsSink()
        for index in 0...30 { sink.receive(grey(at: index * 1000 / 30)) }
        #expect(sink.statistics.framesPerSecond == 30)
        sink.receive(grey(at: -60_000))
        #expect(sink.statistics.framesPerSecond == 1 && sink.statistics.longestGap < .milliseconds(40))
        for _ in 0..<3000 { sink.receive(grey(at: 5)) }
        #expect(sink.statistics.framesPerSecond == 1000)
    }

    @Test("Observers are notified of start, stop and failure once each, and not after their removal")
    func observers() {
        struct Odd: CaptureFailure {
            let kind = CaptureSourceError.Kind.configurationFailure
        }
        struct Unknown: Error {}
        let source = PushVideoSource()
        let observer = ObserverLog()
        source.add(observer: observer)
        source.add(observer: observer)
        source.broadcaster.start()
        source.end()
        source.end(error: Odd())
        source.end(error: Unknown())
        source.end(error: CaptureSourceError(.systemFailure, "gone"))
        source.remove(observer: observer)
        source.broadcaster.start()
        #expect(observer.entries == ["start", "stop", "configurationFailure", "unknown", "systemFailure"])
    }

    @Test("An observer is not retained, and the remaining ones are notified")
    func forgottenObserver() {
        let source = PushVideoSource()
        let kept = ObserverLog()
        weak var forgotten: ObserverLog?
        do {
            let observer = ObserverLog()
            forgotten = observer
            source.add(observer: observer)
            source.add(observer: kept)
            source.broadcaster.start()
            #expect(observer.entries == ["start"])
        }
        #expect(forgotten == nil)
        source.end()
        #expect(kept.entries == ["start", "stop"])
    }
}

import RTCShareLocks
import RTCShareMedia
import Testing

@Suite("VideoTrack")
struct VideoTrackTests {
    private let source = PushVideoSource()
    private let rectangle = PixelRectangle(x: 0, y: 0, size: PixelSize(width: 2, height: 2))

    @Test("A track is a sink of its source only while it has sinks, and a removed sink gets nothing")
    func connection() {
        let track = VideoTrack(id: "v", source: source)
        let (one, two) = (FrameLog(), FrameLog())
        #expect(!source.broadcaster.hasSinks)
        track.add(one)
        track.add(two)
        track.add(two)
        source.capture(grey(at: 1))
        track.remove(one)
        source.capture(grey(at: 2))
        track.remove(two)
        #expect(!source.broadcaster.hasSinks)
        source.capture(grey(at: 3))
        source.end()
        #expect(one.frames.map(\.timestamp) == [.milliseconds(1)])
        #expect(two.frames.map(\.timestamp) == [.milliseconds(1), .milliseconds(2)])
        #expect(one.entries.ends == 0 && two.entries.ends == 0)
        track.add(one)
        source.capture(grey(at: 4))
        source.end()
        #expect(one.frames.count == 2 && one.entries.ends == 1)
    }

    /// Counts the sinks that are added and removed.
    private final class CountedSource: VideoSource, AudioSource {
        let contentHint = ContentHint.detail
        let sinks = Locked(0)

        func add(_ sink: any VideoSink) { sinks.withLock { $0 += 1 } }
        func remove(_ sink: any VideoSink) { sinks.withLock { $0 -= 1 } }
        func add(_ sink: any AudioSink) { sinks.withLock { $0 += 1 } }
        func remove(_ sink: any AudioSink) { sinks.withLock { $0 -= 1 } }
    }

    private final class Listener: AudioSink {
        func receive(_ frame: AudioFrame) {}
    }

    @Test(
        "A track is removed from its source once: with its last sink, or when it is released", arguments: [false, true])
    func leavesOnce(isReleasedFirst: Bool) {
        let (pictures, sounds) = (CountedSource(), CountedSource())
        do {
            let video = VideoTrack(id: "v", source: pictures)
            let audio = AudioTrack(id: "a", source: sounds)
            let (viewer, listener) = (FrameLog(), Listener())
            video.add(viewer)
            audio.add(listener)
            #expect(pictures.sinks.withLock { $0 } == 1 && sounds.sinks.withLock { $0 } == 1)
            if !isReleasedFirst {
                video.remove(viewer)
                audio.remove(listener)
            }
        }
        #expect(pictures.sinks.withLock { $0 } == 0 && sounds.sinks.withLock { $0 } == 0)
    }

    @Test("A sink that is added to others gets the newest frame with full damage")
    func newestFrame() {
        let track = VideoTrack(id: "v", source: source)
        let (one, late) = (FrameLog(), FrameLog())
        track.add(one)
        source.capture(grey(at: 1))
        track.add(late)
        #expect(late.frames.count == 1 && late.frames.first?.damage == nil)
        track.isPaused = true
        let latest = FrameLog()
        track.add(latest)
        #expect(latest.frames.isEmpty)
        track.isPaused = false
        #expect(latest.frames.count == 1)
    }

    @Test("Neither a source nor a sink retains a track, and a released track takes nothing")
    func leak() {
        weak var gone: VideoTrack?
        let log = FrameLog()
        do {
            let track = VideoTrack(id: "v", source: source)
            track.add(log)
            gone = track
            source.capture(grey())
        }
        #expect(gone == nil)
        #expect(!source.broadcaster.hasSinks)
        source.capture(grey())
        #expect(log.frames.count == 1)
    }

    @Test("The source's hint reaches all sinks, also later ones, until the track has its own")
    func hints() {
        let track = VideoTrack(id: "v", source: source)
        let (log, late) = (FrameLog(), FrameLog())
        #expect(track.contentHint == .detail)
        source.contentHint = .text
        #expect(track.contentHint == .text)
        track.add(log)
        source.contentHint = .motion
        source.contentHint = .motion
        track.add(late)
        track.contentHint = .detail
        source.contentHint = .text
        #expect(log.entries.hints == [.text, .motion, .detail])
        #expect(late.entries.hints == [.motion, .detail])
        #expect(track.contentHint == .detail)
    }

    @Test("A hint that the source changed while the track had no sinks reaches the next sink")
    func hintWhileAway() {
        let track = VideoTrack(id: "v", source: source)
        let (first, second) = (FrameLog(), FrameLog())
        track.add(first)
        track.remove(first)
        source.contentHint = .motion
        track.add(second)
        #expect(second.entries.hints == [.motion])
    }

    @Test("A mute reaches all sinks, also later ones, and the newest frame is delivered when the mute ends")
    func mute() {
        let track = VideoTrack(id: "v", source: source)
        let (log, late) = (FrameLog(), FrameLog())
        track.add(log)
        track.isPaused = true
        track.isPaused = true
        track.add(late)
        source.capture(grey(16, 16))
        source.capture(grey(32, 32))
        #expect(log.frames.isEmpty)
        track.isPaused = false
        #expect(log.frames.map(\.size.width) == [32] && late.frames.map(\.size.width) == [32])
        source.capture(grey(64, 64))
        #expect(log.entries.mutes == [true, false] && late.entries.mutes == [true, false])
        #expect(log.frames.map(\.size.width) == [32, 64] && track.framesMuted == 2)
    }

    @Test("The end of a source's mute does not end the track's own mute, nor the reverse")
    func twoMutes() {
        let track = VideoTrack(id: "v", source: source)
        let log = FrameLog()
        track.add(log)
        track.isPaused = true
        source.broadcaster.isMuted = true
        source.broadcaster.isMuted = false
        #expect(track.isMuted)
        source.broadcaster.isMuted = true
        track.isPaused = false
        #expect(track.isMuted)
        source.broadcaster.isMuted = false
        #expect(!track.isMuted)
        #expect(log.entries.mutes == [true, false])
    }

    @Test("A source that was unmuted while the track had no sinks leaves the track unmuted")
    func unmutedWhileAway() {
        let track = VideoTrack(id: "v", source: source)
        let log = FrameLog()
        track.add(log)
        source.broadcaster.isMuted = true
        track.remove(log)
        source.broadcaster.isMuted = false
        track.add(log)
        source.capture(grey())
        #expect(!track.isMuted && log.frames.count == 1)
    }

    @Test(
        "A disabled track delivers black: once with damage, then without. The first frame after it has full damage."
    )
    func disabled() {
        let track = VideoTrack(id: "v", source: source)
        let log = FrameLog()
        track.add(log)
        track.isEnabled = false
        source.capture(grey(20, 10, at: 1, rotation: .quarter))
        source.capture(grey(20, 10, at: 2))
        track.isEnabled = false
        source.capture(grey(20, 10, at: 3))
        source.capture(grey(10, 10, at: 4))
        track.isEnabled = true
        source.capture(grey(10, 10, at: 5, damage: []))
        let frames = log.frames
        #expect(frames.map { $0.damage?.isEmpty } == [nil, true, true, nil, nil, true])
        #expect(frames[0].rotation == .quarter && frames[0].size == PixelSize(width: 20, height: 10))
        #expect(frames[3].size == PixelSize(width: 10, height: 10))
        let luma = frames.map { frame in frame.buffer.withPlanes { $0.planes[0][0] } }
        #expect(luma == [16, 16, 16, 16, 128, 128])
    }

    @Test("Disabling a track acts at once on a source at rest, muted or not")
    func switchOfStillSource() {
        let track = VideoTrack(id: "v", source: source)
        let log = FrameLog()
        track.add(log)
        track.adaptOutputFormat(width: 100, height: 100, fps: 1)
        source.capture(grey())
        let luma = { log.frames.map { frame in frame.buffer.withPlanes { $0.planes[0][0] } } }
        track.isEnabled = false
        #expect(luma() == [128, 16])
        track.isEnabled = true
        #expect(luma() == [128, 16, 128])
        #expect(log.frames.map(\.damage) == [nil, nil, nil])
        track.isPaused = true
        track.isEnabled = false
        #expect(log.frames.count == 3)
        track.adaptOutputFormat(width: 100, height: 100, fps: 0)
        track.isPaused = false
        #expect(luma() == [128, 16, 128, 16])
    }

    @Test("Unusable frames are counted, reported and not delivered, and a usable one passes after them")
    func refused() {
        let (log, observer) = (FrameLog(), ObserverLog())
        let track = VideoTrack(id: "v", source: source)
        source.add(observer: observer)
        track.add(log)
        source.adaptOutputFormat(width: 8, height: 8, fps: 0)
        source.capture(grey(at: 0, damage: []))
        source.capture(VideoFrame(buffer: ShortBuffer(), timestamp: .zero))
        source.capture(grey(at: 1, outputSize: PixelSize(width: 0, height: 4)))
        source.capture(VideoFrame(buffer: ShortBuffer(size: PixelSize(width: -1, height: .max)), timestamp: .zero))
        source.capture(grey(at: 2, damage: []))
        #expect(source.framesRefused == 3)
        #expect(observer.entries == ["invalidFrame", "invalidFrame", "invalidFrame"])
        #expect(log.frames.map(\.timestamp) == [.zero, .milliseconds(2)])
        // The damage of the lost frames is unknown.
        #expect(log.frames[1].damage == nil)
    }

    @Test("A disabled track rejects an unusable frame, rather than making black of it")
    func refusedWhileDisabled() {
        let unchecked = UncheckedSource()
        let track = VideoTrack(id: "v", source: unchecked)
        let (log, observer) = (FrameLog(), ObserverLog())
        track.add(log)
        track.add(observer: observer)
        track.isEnabled = false
        unchecked.give(grey(outputSize: PixelSize(width: .max, height: .max)))
        unchecked.give(grey(outputSize: PixelSize(width: -1, height: 1)))
        unchecked.give(grey())
        #expect(log.frames.count == 1)
        #expect(observer.entries == ["invalidFrame", "invalidFrame"])
    }

    @Test("The damage of dropped frames is added to that of the next frame that passes")
    func damage() {
        let track = VideoTrack(id: "v", source: source, timer: ManualTimer().timer)
        let log = FrameLog()
        track.add(log)
        track.adaptOutputFormat(width: 100, height: 100, fps: 10)
        let other = PixelRectangle(x: 4, y: 4, size: PixelSize(width: 4, height: 4))
        source.capture(grey(at: 0, damage: [rectangle]))
        source.capture(grey(at: 10, damage: [other]))
        source.capture(grey(at: 20, damage: []))
        source.capture(grey(at: 100, damage: [rectangle]))
        source.capture(grey(at: 110, damage: nil))
        source.capture(grey(at: 200, damage: []))
        source.capture(grey(at: 300, damage: []))
        // The track saw nothing of the source before its first frame.
        #expect(log.frames.map(\.damage) == [nil, [other, rectangle], nil, []])
        track.isPaused = true
        source.capture(grey(at: 400, damage: [other]))
        source.capture(grey(at: 500, damage: []))
        track.isPaused = false
        #expect(log.frames.last?.damage == [other])
        // A frame of another size has full damage.
        track.adaptOutputFormat(width: 8, height: 8, fps: 0)
        source.capture(grey(at: 700, damage: []))
        #expect(log.frames.suffix(2).map(\.damage) == [nil, []])
    }

    @Test("A track's request applies to the frame after the source's request, and never enlarges it")
    func twoAdapters() {
        let track = VideoTrack(id: "v", source: source)
        let log = FrameLog()
        track.add(log)
        source.adaptOutputFormat(width: 640, height: 360, fps: 0)
        for (width, height, mode) in [
            (1920, 1080, OutputFormatMode.fit), (320, 180, .fit), (1000, 1000, .crop), (1920, 1080, .crop),
        ] {
            track.adaptOutputFormat(width: width, height: height, fps: 0, mode: mode)
            source.capture(grey(1280, 720))
        }
        // Each but the first is of the frame before, too.
        let sizes = log.frames.map(\.outputSize.description)
        #expect(sizes == ["640x360", "320x180", "320x180", "360x360", "360x360", "640x360", "640x360"])
        #expect(
            log.frames.map(\.size.description) == [
                "1280x720", "1280x720", "1280x720", "720x720", "720x720", "1280x720", "1280x720",
            ])
    }

    @Test("Without a mode, a screen is fitted and a camera is cropped")
    func defaultModes() {
        for (isScreen, expected) in [(true, "960x720"), (false, "1280x720")] {
            let source = PushVideoSource(isScreencast: isScreen)
            let log = FrameLog()
            source.add(log)
            source.adaptOutputFormat(width: 1280, height: 720, fps: 0)
            source.capture(grey(1920, 1440))
            #expect(log.frames[0].outputSize.description == expected)
            #expect(log.entries.hints == [isScreen ? .detail : .motion])
        }
    }
}

/// A source that delivers any frame unchecked.
private final class UncheckedSource: VideoSource {
    let contentHint = ContentHint.none
    private let sinks = SinkList()

    func add(_ sink: any VideoSink) { sinks.list.append(sink) }
    func remove(_ sink: any VideoSink) { sinks.list.removeAll { $0 === sink } }
    func give(_ frame: VideoFrame) { for sink in sinks.list { sink.receive(frame) } }

    /// Only used on the test's thread.
    private final class SinkList: @unchecked Sendable {
        var list: [any VideoSink] = []
    }

    /// A buffer that counts the accesses to its planes.
    private final class WatchedBuffer: VideoFrameBuffer {
        let size = PixelSize(width: 16, height: 16)
        let format = PixelFormat.bgra
        let looks = Locked(0)

        func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
            looks.withLock { $0 += 1 }
            return try [UInt8](repeating: 0, count: 1024).withUnsafeBytes {
                try body(PlaneSet(planes: [$0], strides: [64]))
            }
        }
    }

    @Test("A frame is checked once, at its entry, however many tracks and lists of sinks it passes")
    func validatedOnce() {
        let source = PushVideoSource()
        let track = VideoTrack(id: "outer", source: VideoTrack(id: "inner", source: source))
        let (log, buffer) = (FrameLog(), WatchedBuffer())
        track.add(log)
        for number in 0..<3 { source.capture(VideoFrame(buffer: buffer, timestamp: .milliseconds(number * 33))) }
        #expect(log.frames.count == 3 && buffer.looks.withLock { $0 } == 3)
    }
}

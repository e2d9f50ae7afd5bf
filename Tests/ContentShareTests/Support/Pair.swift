import Foundation
import RTCShareCapture
import RTCShareContentShare
import RTCShareMedia
import RTCSharePeerConnection
import RTCShareTransport
import RTCShareWireFormat
import Testing

/// Alice, who shares, and Bob, who views, over real sockets on the loopback interface.
struct Pair {
    let alice: AttendeeSession
    let bob: AttendeeSession
    let sharing = ShareLog()
    let tiles: TileLog
    let sounds: SoundLog

    init(_ media: Set<SharedMedia> = [.content], binds: Bool = true, connects: Bool = true) async throws {
        alice = try await .offering(as: AttendeeID("alice"), media: media, configuration: Self.configuration)
        bob = try await .viewing(as: AttendeeID("bob"), configuration: Self.configuration)
        tiles = TileLog(binding: binds ? bob.tiles : nil)
        sounds = SoundLog(binding: bob.audio)
        alice.contentShare.add(observer: sharing)
        bob.tiles.add(observer: tiles)
        bob.audio.add(observer: sounds)
        if connects { try await alice.connect(to: bob) }
    }

    static var configuration: Connection.Configuration {
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        return configuration
    }

    func end() async {
        await alice.leave()
        await bob.leave()
    }

    /// Returns the state of both ends, for the message of a wait that had no result.
    func summary() async -> String {
        let names = [
            "framesSent", "framesEncoded", "keyFramesEncoded", "targetBitrate", "availableOutgoingBitrate",
            "framesReceived", "framesDecoded", "pliCount", "nackCount", "packetsSent", "packetsReceived", "packetsLost",
        ]
        var lines = ["tiles: \(tiles.log.entries)", "share: \(sharing.log.entries)"]
        for (name, session) in [("alice", alice), ("bob", bob)] {
            for object in await session.stats().objects {
                let values = names.compactMap { key in object.number(key).map { "\(key) \($0)" } }
                if !values.isEmpty { lines.append("\(name): \(values.joined(separator: ", "))") }
            }
        }
        return lines.joined(separator: "\n")
    }
}

/// The events of the sharing side's observer.
final class ShareLog: ContentShareObserver {
    enum Event: Hashable {
        case didStart
        case didStop(ContentShareStatus)
        case sourceIsSilent(Duration)
        case sourceDidEnd(String?)
    }

    let log = EventLog<Event>()

    func contentShareDidStart() { log.append(.didStart) }
    func contentShareDidStop(status: ContentShareStatus) { log.append(.didStop(status)) }
    func contentShareSourceIsSilent(for time: Duration) { log.append(.sourceIsSilent(time)) }
    func contentShareSourceDidEnd(error: (any Error)?) { log.append(.sourceDidEnd(error.map { "\($0)" })) }
}

/// The tile events of the viewing side, and the frames of the tiles that it binds.
final class TileLog: VideoTileObserver {
    struct Event: Hashable {
        enum Kind { case added, removed, paused, resumed, resized }
        let kind: Kind
        let tile: VideoTileState
    }

    let log = EventLog<Event>()
    let pictures = EventLog<PictureSink.Picture>()
    private let controller: VideoTileController?

    init(binding controller: VideoTileController?) { self.controller = controller }

    var kinds: [Event.Kind] { Self.withoutStalls(log.entries).map(\.kind) }
    /// The kinds of events, with each sequence of a pause and its end only once. On a busy machine even reports are
    /// late, so that a running share may seem to pause.
    var kindsWithPausesOnce: [Event.Kind] {
        kinds.reduce(into: []) { kinds, kind in
            kinds.append(kind)
            if kinds.suffix(4) == [.paused, .resumed, .paused, .resumed] { kinds.removeLast(2) }
        }
    }

    /// The kinds of events without pauses and their ends, for a share that never pauses.
    var kindsButPauses: [Event.Kind] { kinds.filter { $0 != .paused && $0 != .resumed } }

    func wait(_ location: SourceLocation = #_sourceLocation, for kind: Event.Kind, count: Int = 1) async
        -> VideoTileState?
    {
        let events = await log.wait(location) { Self.withoutStalls($0).count { $0.kind == kind } >= count }
        return Self.withoutStalls(events).last { $0.kind == kind }?.tile
    }

    /// Removes pauses for a poor connection and their ends, which occur on a busy machine.
    private static func withoutStalls(_ events: [Event]) -> [Event] {
        var isStalled: [Int: Bool] = [:]
        return events.filter { event in
            let wasStalled = isStalled[event.tile.tileID] ?? false
            isStalled[event.tile.tileID] = event.tile.pauseState == .pausedForPoorConnection
            switch event.kind {
            case .paused: return event.tile.pauseState != .pausedForPoorConnection
            case .resumed: return !wasStalled
            case .added, .removed, .resized: return true
            }
        }
    }

    func videoTileDidAdd(_ tile: VideoTileState) {
        log.append(Event(kind: .added, tile: tile))
        try? controller?.bind(PictureSink(pictures, of: tile.attendeeID), toTile: tile.tileID)
    }

    func videoTileDidRemove(_ tile: VideoTileState) { log.append(Event(kind: .removed, tile: tile)) }
    func videoTileDidPause(_ tile: VideoTileState) { log.append(Event(kind: .paused, tile: tile)) }
    func videoTileDidResume(_ tile: VideoTileState) { log.append(Event(kind: .resumed, tile: tile)) }
    func videoTileSizeDidChange(_ tile: VideoTileState) { log.append(Event(kind: .resized, tile: tile)) }
}

/// A sink that records each frame.
final class PictureSink: VideoSink {
    struct Picture: Sendable {
        let attendee: AttendeeID
        let size: PixelSize
        /// The number in the test pattern. Nil for other frames.
        let counter: Int?
        /// The mean luma.
        let luma: Double
    }

    private let log: EventLog<Picture>
    private let attendee: AttendeeID

    init(_ log: EventLog<Picture>, of attendee: AttendeeID) {
        self.log = log
        self.attendee = attendee
    }

    func receive(_ frame: VideoFrame) {
        let size = frame.size
        let luma = frame.buffer.withPlanes { planes in
            (0..<size.height).reduce(0.0) { sum, row in
                let start = row * planes.strides[0]
                return planes.planes[0][start..<start + size.width].reduce(sum) { $0 + Double($1) }
            }
        }
        log.append(
            Picture(
                attendee: attendee, size: size, counter: TestPattern.readCounter(from: frame.buffer),
                luma: luma / Double(size.area)))
    }
}

/// The audio events of the viewing side.
final class SoundLog: RemoteAudioObserver {
    enum Event: Hashable {
        case added(String)
        case removed(String)
    }

    let log = EventLog<Event>()
    let blocks = EventLog<(attendee: String, frame: AudioFrame)>()
    private let controller: RemoteAudioController

    init(binding controller: RemoteAudioController) { self.controller = controller }

    func remoteAudioDidAdd(_ sound: RemoteAudio) {
        log.append(.added(sound.attendeeID.rawValue))
        try? controller.bind(Sink(blocks, of: sound.attendeeID.rawValue), toAudio: sound.audioID)
    }

    func remoteAudioDidRemove(_ sound: RemoteAudio) { log.append(.removed(sound.attendeeID.rawValue)) }

    /// Waits until an attendee's audio is one tone for a tenth of a second. On a busy machine, gaps can come before.
    func hear(_ frequency: Double, of attendee: String, _ location: SourceLocation = #_sourceLocation) async {
        await blocks.wait(location) { blocks in
            let newest = blocks.suffix(40).filter { $0.attendee == attendee }.suffix(5)
            return newest.count == 5
                && share(of: frequency, in: newest.flatMap { $0.frame.mixed(toChannels: 1).samples }) > 0.9
        }
    }

    private final class Sink: AudioSink {
        private let log: EventLog<(attendee: String, frame: AudioFrame)>
        private let attendee: String

        init(_ log: EventLog<(attendee: String, frame: AudioFrame)>, of attendee: String) {
            self.log = log
            self.attendee = attendee
        }

        func receive(_ frame: AudioFrame) { log.append((attendee, frame)) }
    }
}

/// Returns the ratio of one frequency's power at 48 kHz to that of all audio (Goertzel). It is 1 for a pure tone.
func share(of frequency: Double, in samples: [Float]) -> Double {
    let coefficient = 2 * cos(2 * .pi * frequency / 48_000)
    var last = 0.0
    var before = 0.0
    var energy = 0.0
    for sample in samples {
        (last, before) = (Double(sample) + coefficient * last - before, last)
        energy += Double(sample) * Double(sample)
    }
    let power = last * last + before * before - coefficient * last * before
    return energy > 0 ? 2 * power / (energy * Double(samples.count)) : 0
}

/// Returns a gray frame without a counter.
func grey(_ width: Int, _ height: Int, luma: UInt8 = 128) -> VideoFrame {
    let buffer = PixelBuffer(size: PixelSize(width: width, height: height), format: .i420) { planes, _ in
        for (plane, value) in zip(planes, [luma, 128, 128]) {
            plane.initializeMemory(as: UInt8.self, repeating: value)
        }
    }
    return VideoFrame(buffer: buffer, timestamp: .nanoseconds(MonotonicClock.now.nanoseconds))
}

/// Returns a running test pattern.
func pattern(_ width: Int, _ height: Int) throws -> TestPatternSource {
    let source = try TestPatternSource(size: PixelSize(width: width, height: height), framesPerSecond: 15)
    try source.start()
    return source
}

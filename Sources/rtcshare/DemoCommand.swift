internal import ArgumentParser
internal import FoundationEssentials
internal import RTCShareCapture
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Test rtcshare on this machine with a built-in viewer.",
        discussion: """
            Shares a test pattern over loopback. Only the screen and the network are left out: SDP, ICE, DTLS, SRTP and the video codec
            are real. The demo prints what the viewer received, and saves its last frame.

                rtcshare demo
                rtcshare demo --size 1920x1080 --duration 10
            """)

    @Option(
        help: ArgumentHelp("Share for this many seconds. Default: 5.", valueName: "s"),
        transform: OptionValue.demoDuration)
    var duration = 5.0

    @Option(
        help: ArgumentHelp("Size of the test pattern. Default: 1280x720.", valueName: "WxH"),
        transform: OptionValue.patternSize)
    var size = PixelSize(width: 1280, height: 720)

    @Option(
        help: ArgumentHelp(
            "Maximum video bitrate, in kbit/s. Default: by the size and the codec.", valueName: "kbps"),
        transform: OptionValue.videoBitrate)
    var maxBitrate: Int?

    @Option(
        help: ArgumentHelp(
            "Where to save the last frame. The file must not exist. Default: rtcshare-demo.png, which is replaced.",
            valueName: "file.png"),
        completion: .file(extensions: ["png"]), transform: OptionValue.snapshot)
    var snapshot: String?

    @OptionGroup var encoding: EncodingOptions

    @Flag(help: "Print the results as JSON.") var json = false

    func run() async throws {
        try await reportingFailure {
            let demo = try await Demo(
                size: size, bitrate: maxBitrate.map(DataRate.kilobitsPerSecond), encoding: encoding)
            let result = try await demo.run(duration: duration, snapshot: snapshot)
            if json {
                try StandardStreams.writeJSON(result)
            } else {
                try StandardStreams.writeLines(result.lines)
            }
            guard result.framesReceived > 0 else {
                throw CommandFailure(.unavailable, "no video arrived at the viewer")
            }
            if !json { try StandardStreams.writeLines(["", result.verdict]) }
        }
    }
}

/// A sender and a viewer in one process, connected by two UDP sockets.
private struct Demo {
    private let sender: AttendeeSession
    private let viewer: AttendeeSession
    private let source: any CaptureSource
    private let sound = BeepSource()
    private let size: PixelSize
    private let parameters: VideoEncodingParameters
    private let started = ContinuousClock.now
    private static let framesPerSecond = 30.0

    /// The media that the viewer received. Times are in seconds from the start; nil for events that did not occur.
    struct Result: Encodable {
        let stream: String
        let connectedAfter: Double?
        let firstFrameAfter: Double?
        let framesSent: Int64
        let framesReceived: Int
        let seconds: Double
        let width: Int?
        let height: Int?
        let bytes: Int64
        /// The mean structural similarity of received frames to the source.
        let similarity: Double?
        let soundSeconds: Double
        let concealedSeconds: Double
        let snapshot: String

        var lines: [String] {
            func milliseconds(_ seconds: Double?) -> String {
                seconds.map { String(printing: "%.0f ms", $0 * 1000) } ?? "never"
            }
            let rows = [
                ("connected after", milliseconds(connectedAfter)),
                ("first frame after", milliseconds(firstFrameAfter)),
                (
                    "frames",
                    "\(framesSent) sent, \(framesReceived) received, "
                        + String(printing: "%.1f per second", Double(framesReceived) / seconds)
                ),
                ("resolution", width.flatMap { width in height.map { "\(width)x\($0)" } } ?? "none"),
                ("bitrate", String(printing: "%.0f kbit/s", Double(bytes) * 8 / 1000 / seconds)),
                ("similarity (SSIM)", similarity.map { String(printing: "%.4f of 1", $0) } ?? "unknown"),
                (
                    "audio",
                    String(
                        printing: "%.1f s received, %.0f ms of it filled in for lost packets", soundSeconds,
                        concealedSeconds * 1000)
                ),
                ("last frame", snapshot),
            ]
            return rows.map { "\(($0.0 + ":").padded(to: 21))\($0.1)" }
        }

        var verdict: String {
            soundSeconds > 0
                ? "rtcshare works on this machine: the viewer received video and audio."
                : "The viewer received video, but no audio."
        }
    }

    init(size: PixelSize, bitrate: DataRate?, encoding: EncodingOptions) async throws {
        self.size = size
        var parameters = VideoEncodingParameters(
            maxSize: size, usesPartialUpdates: !encoding.noPartialUpdates, codecs: encoding.codecs)
        let bitrate = bitrate ?? parameters.usualBitrate(of: size)
        parameters.maxBitrate = bitrate
        self.parameters = parameters
        var configuration = Connection.Configuration()
        configuration.addresses = [.v4(0x7F00_0001)]
        configuration.maxBitrate = bitrate + SharedMedia.contentAudio.defaultBitrate
        let attendee = try AttendeeID("demo")
        sender = try await AttendeeSession.offering(
            as: attendee, media: [.content, .contentAudio], configuration: configuration)
        viewer = try await AttendeeSession.viewing(as: AttendeeID("viewer"), configuration: configuration)
        source = try SourceSpecification.test(size: size, framesPerSecond: Self.framesPerSecond).open()
    }

    func run(duration: Double, snapshot: String?) async throws -> Result {
        let path = snapshot ?? "rtcshare-demo.png"
        let judge = SimilarityJudge(size: size, framesPerSecond: Self.framesPerSecond)
        let viewing = try Viewing(
            session: viewer, snapshot: path, replacesSnapshot: snapshot == nil, saysSnapshot: false, observer: judge)
        try await sender.contentShare.start(
            source: source, audio: sound, parameters: parameters)
        let (runner, source, sound) = (SourceRunner(), source, sound)
        try await runner.start(source)
        try await runner.start(sound)
        try await viewing.run(duration: duration, interruption: Interruption()) {
            let offer = try await sender.connection.makeOffer()
            let answer = try await viewer.connection.answer(offer: SessionDescription.parse(offer.description))
            try await sender.connection.accept(answer: SessionDescription.parse(answer.description), to: offer)
        }
        let end = ContinuousClock.now
        runner.stop(source)
        runner.stop(sound)
        await runner.finish()
        let streams = await sender.stats().outboundRTP.values
        let buffers = await viewer.stats().inboundRTP.values.compactMap(\.jitterBuffer)
        await sender.leave()
        let seen = viewing.summary
        return Result(
            stream: "demo#content", connectedAfter: seen.connected.map { ($0 - started).seconds },
            firstFrameAfter: seen.firstPicture.map { ($0 - started).seconds },
            framesSent: streams.reduce(0) { $0 + Int64(clamping: $1.video?.framesSent ?? 0) },
            framesReceived: seen.frames,
            seconds: seen.firstPicture.map { (end - $0).seconds } ?? duration, width: seen.size?.width,
            height: seen.size?.height,
            bytes: streams.reduce(0) { $0 + Int64(clamping: $1.sent.bytesSent + $1.sent.headerBytesSent) },
            similarity: judge.mean, soundSeconds: Double(seen.soundBlocks) * 0.02,
            concealedSeconds: Double(buffers.reduce(0) { $0 + $1.concealedSamples }) / 48_000, snapshot: path)
    }
}

/// Compares received frames with the test pattern itself: the counter in the frame is its number.
private final class SimilarityJudge: VideoSink {
    private struct State {
        var seen = 0
        var sum = 0.0
        var compared = 0
    }

    private let state = Locked(State())
    private let pattern: TestPattern
    /// The interval of compared frames: comparing costs as much as encoding.
    private static let stride = 10

    init(size: PixelSize, framesPerSecond: Double) {
        pattern = TestPattern(size: size, framesPerSecond: framesPerSecond)
    }

    func receive(_ frame: VideoFrame) {
        let picture = frame.buffer
        let isDue = state.withLock { state in
            defer { state.seen += 1 }
            return state.seen % Self.stride == Self.stride - 1
        }
        guard isDue, picture.size == pattern.size, let frame = TestPattern.readCounter(from: picture),
            let similarity = try? StructuralSimilarity.luma(picture, pattern.render(frame: frame))
        else { return }
        state.withLock { state in
            state.sum += similarity
            state.compared += 1
        }
    }

    /// The mean over the compared frames; nil if there are none.
    var mean: Double? {
        state.withLock { $0.compared > 0 ? $0.sum / Double($0.compared) : nil }
    }
}

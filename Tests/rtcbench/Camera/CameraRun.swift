internal import Foundation
internal import RTCShareLocks
internal import RTCShareMedia
import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// One video, encoded once in real time.
struct CameraRun {
    let film: CameraFilm
    let codec: VideoCodec
    let settings: VideoEncoder.Settings
    private static let framesPerSecond = 30.0

    /// The results of a run.
    struct Result {
        /// The processor time of the process per frame of the source.
        var processor = 0.0
        var kilobits = 0.0
        var pictures = 0
        /// The similarity of the viewer's frames to the noiseless ones.
        var similarity = 0.0
        var signalToNoise = 0.0
        /// The minimum width that was sent.
        var leastWidth = 0
    }

    func run() throws -> Result {
        let encoded = Locked<[EncodedVideoFrame]>([])
        let thread = try VideoEncoder(codec, settings: settings) { frame, _ in encoded.withLock { $0.append(frame) } }
        let source = PushVideoSource(isScreencast: false)
        thread.show(source)
        let before = ProcessorTime.now
        let begin = MonotonicClock.now
        var times: [Duration] = []
        for (index, picture) in film.noisy.enumerated() {
            let due = begin.advanced(by: .seconds(Double(index) / Self.framesPerSecond))
            let rest = due - MonotonicClock.now
            if rest > .zero { Thread.sleep(forTimeInterval: rest.seconds) }
            let time = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
            times.append(time)
            source.capture(VideoFrame(buffer: picture, timestamp: time))
        }
        Thread.sleep(forTimeInterval: 0.1)
        let used = ProcessorTime.now - before
        thread.stop()
        let seconds = Double(film.noisy.count) / Self.framesPerSecond
        return try judge(encoded.withLock { $0 }, times, processor: Double(used.total) / 1e6, seconds: seconds)
    }

    private func judge(
        _ frames: [EncodedVideoFrame], _ times: [Duration], processor: Double, seconds: Double
    ) throws -> Result {
        var result = Result()
        result.processor = processor / Double(times.count)
        result.kilobits = Double(frames.reduce(0) { $0 + $1.data.count }) / 125 / seconds
        result.leastWidth = frames.map(\.size.width).min() ?? 0
        let decoder = try VP8Decoder()
        let converter = VideoConverter()
        var shown: (any VideoFrameBuffer)?
        var next = frames[...]
        // At each frame's time, the frame that a viewer sees then.
        for (index, time) in times.enumerated() {
            while let frame = next.first, frame.timestamp <= time {
                if let picture = try decoder.decode(frame.data) { shown = picture }
                next.removeFirst()
                result.pictures += 1
            }
            // The first second has the key frame, and the low quality after it.
            guard let shown, Double(index) >= Self.framesPerSecond else { continue }
            let seen = shown.size == film.size ? shown : try converter.convert(shown, to: film.size)
            result.similarity += try StructuralSimilarity.luma(seen, film.clean[index])
            result.signalToNoise += try StructuralSimilarity.peakSignalToNoiseRatio(seen, film.clean[index])
        }
        let judged = max(Double(times.count) - Self.framesPerSecond, 1)
        result.similarity /= judged
        result.signalToNoise /= judged
        return result
    }
}

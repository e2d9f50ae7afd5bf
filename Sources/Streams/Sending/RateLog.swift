internal import Logging
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Logs the bitrates and the resulting quantizer of each encoding once per second.
struct RateLog {
    /// The bitrates of an encoding.
    struct Rates {
        /// The target bitrates of its viewers' routes.
        let targets: [DataRate]
        /// The bitrate of its encoder.
        let encoder: DataRate
    }

    private struct Second {
        let begin: Duration
        var frames = 0
        var byteCount = 0
        var quantizers = 0
    }

    private let logger: Logger
    private var seconds: [Int: Second] = [:]

    /// Creates a log; nil if the logger does not log traces.
    init?(logger: Logger = Logger(label: "rtcshare.rate")) {
        guard logger.logLevel == .trace else { return nil }
        self.logger = logger
    }

    /// Counts a frame of an encoding. The first one after a second is the last one of that second's line.
    mutating func count(_ frame: EncodedVideoFrame, of encoding: Int, now: Duration, rates: () -> Rates) {
        var second = seconds[encoding] ?? Second(begin: now)
        second.frames += 1
        second.byteCount += frame.data.count
        second.quantizers += frame.quantizer
        seconds[encoding] = second
        guard now - second.begin >= .seconds(1) else { return }
        seconds[encoding] = nil
        let rates = rates()
        let least = rates.targets.min().map(Self.text) ?? "none"
        logger.trace(
            """
            encoding \(encoding): viewers \(rates.targets.count), least target \(least), encoder \(Self.text(rates.encoder)), \
            frames \(second.frames), bytes \(second.byteCount), quantizer \(second.quantizers / second.frames) of 127
            """)
    }
    private static func text(_ rate: DataRate) -> String { "\(rate.bitsPerSecond / 1000) kbit/s" }
}

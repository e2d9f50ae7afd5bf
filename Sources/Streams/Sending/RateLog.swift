internal import Logging
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Logs once a second the bitrates that go into each encoding of a stream, and the quantizer that comes out.
struct RateLog {
    /// The bitrates of an encoding.
    struct Rates {
        /// The viewers of the encoding.
        let viewers: Int
        /// The targets of those that the encoder follows: their queues take it, and their peers answer.
        let targets: [DataRate]
        /// The bitrate of the encoder.
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

    /// Counts a frame that an encoding made of a track, or, with nil, time without a frame. The first call after a
    /// second is the last one of that second's line.
    mutating func count(
        _ frame: EncodedVideoFrame?, of encoding: Int, track: String?, now: Duration, rates: () -> Rates
    ) {
        var second = seconds[encoding] ?? Second(begin: now)
        if let frame {
            second.frames += 1
            second.byteCount += frame.data.count
            second.quantizers += frame.coarseness
        }
        seconds[encoding] = second
        guard now - second.begin >= .seconds(1) else { return }
        seconds[encoding] = nil
        let rates = rates()
        let least = rates.targets.min().map(Self.text) ?? "none"
        let quantizer = second.frames > 0 ? "\(second.quantizers / second.frames) of 127" : "none"
        logger.trace(
            """
            \(track ?? "no track") encoding \(encoding): viewers \(rates.viewers), least target \(least), \
            encoder \(Self.text(rates.encoder)), frames \(second.frames), bytes \(second.byteCount), quantizer \(quantizer)
            """)
    }

    private static func text(_ rate: DataRate) -> String { "\(rate.bitsPerSecond / 1000) kbit/s" }
}

import Logging
import RTCShareLocks
import RTCShareMedia
import RTCShareRTP
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

@Suite struct RateLogTests {
    @Test("Once a second the log has an encoding's bitrates and its quantizer, also without a frame")
    func line() throws {
        let lines = LogLines()
        var log = try #require(RateLog(logger: lines.logger(label: "rtcshare.rate")))
        let rates = RateLog.Rates(
            viewers: 3, targets: [.kilobitsPerSecond(900), .kilobitsPerSecond(700)], encoder: .kilobitsPerSecond(650))
        for number in 0...20 {
            let frame = EncodedVideoFrame(
                data: [UInt8](repeating: 0, count: 100), format: .vp8, isKeyFrame: false,
                size: PixelSize(width: 64, height: 48),
                timestamp: .milliseconds(100 * number), quantizer: number < 11 ? 40 : 60)
            log.count(frame, of: 0, track: "content-1", now: .milliseconds(100 * number)) { rates }
        }
        // Nothing is encoded for a second.
        for number in 21...33 { log.count(nil, of: 0, track: "content-1", now: .milliseconds(100 * number)) { rates } }
        let rest =
            "frames 11, bytes 1100, quantizer 40 of 127; frames 10, bytes 1000, quantizer 60 of 127; "
            + "frames 0, bytes 0, quantizer none"
        let expected = rest.split(separator: "; ").map {
            "content-1 encoding 0: viewers 3, least target 700 kbit/s, encoder 650 kbit/s, " + $0
        }
        #expect(lines.all.withLock { $0 } == expected)
        #expect(RateLog(logger: lines.logger(label: "rtcshare.rate", level: .debug)) == nil)
    }
}

import Logging
import RTCShareLocks
import RTCShareMedia
import RTCShareVideoCoding
import RTCShareWireFormat
import TestSupport
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

@Suite struct RateLogTests {
    @Test("The log has an encoding's bitrates and quantizer once per second")
    func line() throws {
        let lines = LogLines()
        var log = try #require(RateLog(logger: lines.logger(label: "rtcshare.rate")))
        let rates = RateLog.Rates(
            targets: [.kilobitsPerSecond(900), .kilobitsPerSecond(700)], encoder: .kilobitsPerSecond(650))
        for number in 0...20 {
            let frame = EncodedVideoFrame(
                data: [UInt8](repeating: 0, count: 100), isKeyFrame: false, size: PixelSize(width: 64, height: 48),
                timestamp: .milliseconds(100 * number), quantizer: number < 11 ? 40 : 60)
            log.count(frame, of: 0, now: .milliseconds(100 * number)) { rates }
        }
        #expect(
            lines.all.withLock { $0 } == [
                "encoding 0: viewers 2, least target 700 kbit/s, encoder 650 kbit/s, frames 11, bytes 1100, "
                    + "quantizer 40 of 127"
            ])
        #expect(RateLog(logger: lines.logger(label: "rtcshare.rate", level: .debug)) == nil)
    }
}

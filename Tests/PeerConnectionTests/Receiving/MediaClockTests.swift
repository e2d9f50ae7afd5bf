@testable import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

@Suite("Capture times from sender reports")
struct MediaClockTests {
    @Test("A capture time is as far from the report's as the timestamps are apart", arguments: [48_000, 90_000])
    func mapping(clockRate: Int) {
        var clock = MediaClock(clockRate: clockRate)
        #expect(clock.captureTime(of: RTPTimestamp(5), arrival: at(milliseconds: 0)) == nil)
        // The clock wraps between the report and the media.
        clock.receive(report(at: .seconds(1_700_000_000), timestamp: .max - 99), now: at(milliseconds: 50))
        for milliseconds in [-2000, -20, 0, 20, 9000] {
            let timestamp = RTPTimestamp(.max - 99).advanced(by: milliseconds * clockRate / 1000)
            let time = clock.captureTime(of: timestamp, arrival: at(milliseconds: 50 + milliseconds))
            #expect(time == .seconds(1_700_000_000) + .milliseconds(milliseconds))
        }
    }

    @Test("Audio and video of the same instant have capture times within a millisecond")
    func synchronization() throws {
        let epoch = Duration.seconds(1_700_000_000)
        var sound = MediaClock(clockRate: 48_000)
        var video = MediaClock(clockRate: 90_000)
        func timestamp(_ instant: Int, _ clockRate: Int, _ offset: UInt32) -> RTPTimestamp {
            RTPTimestamp(
                mediaTime: .microseconds(instant), clockRate: clockRate, offset: RTPTimestamp(offset))
        }
        var generator = SeededGenerator(seed: 3)
        // An hour, with reports at times of each stream's own.
        for second in 0..<3600 {
            let now = at(milliseconds: second * 1000)
            let micros = second * 1_000_000
            let other = micros + 437_111
            sound.receive(
                report(at: epoch + .microseconds(micros), timestamp: timestamp(micros, 48_000, .max - 7).rawValue),
                now: now)
            video.receive(
                report(at: epoch + .microseconds(other), timestamp: timestamp(other, 90_000, 1 << 31).rawValue),
                now: now.advanced(by: .microseconds(437_111)))
            let instant = other + Int.random(in: 0..<1_000_000, using: &generator)
            let arrival = Instant(nanoseconds: Int64(instant) * 1000)
            let heard = try #require(sound.captureTime(of: timestamp(instant, 48_000, .max - 7), arrival: arrival))
            let seen = try #require(video.captureTime(of: timestamp(instant, 90_000, 1 << 31), arrival: arrival))
            #expect(abs((heard - seen).milliseconds) < 0.1)
            #expect(abs((heard - epoch - .microseconds(instant)).milliseconds) < 0.1)
        }
    }

    @Test("The newest report counts, even when the sender's wallclock was set")
    func newest() {
        var clock = MediaClock(clockRate: 48_000)
        clock.receive(report(at: .seconds(1000), timestamp: 0), now: at(milliseconds: 0))
        clock.receive(report(at: .seconds(900), timestamp: 48_000), now: at(milliseconds: 1000))
        #expect(clock.captureTime(of: RTPTimestamp(96_000), arrival: at(milliseconds: 2000)) == .seconds(901))
    }

    @Test("A report without a wallclock is ignored, and one of another clock gives no time until the next")
    func hostile() {
        var clock = MediaClock(clockRate: 90_000)
        clock.receive(
            SenderReport(
                source: TestPacket.sound, ntpTimestamp: NTPTimestamp(0), rtpTimestamp: RTPTimestamp(0), packetCount: 0,
                octetCount: 0), now: at(milliseconds: 0))
        #expect(clock.captureTime(of: RTPTimestamp(0), arrival: at(milliseconds: 0)) == nil)
        clock.receive(report(at: .seconds(1000), timestamp: 0x8000_0000), now: at(milliseconds: 0))
        #expect(clock.captureTime(of: RTPTimestamp(0), arrival: at(milliseconds: 0)) == nil)
        clock.receive(report(at: .seconds(1000), timestamp: 0), now: at(milliseconds: 0))
        #expect(clock.captureTime(of: RTPTimestamp(900_000), arrival: at(milliseconds: 0)) == .seconds(1010))
        #expect(clock.captureTime(of: RTPTimestamp(900_090), arrival: at(milliseconds: 0)) == nil)
        #expect(clock.captureTime(of: RTPTimestamp(0), arrival: at(milliseconds: 10_000)) == .seconds(1000))
        #expect(clock.captureTime(of: RTPTimestamp(0), arrival: at(milliseconds: 10_001)) == nil)
        clock.restart()
        #expect(clock.captureTime(of: RTPTimestamp(0), arrival: at(milliseconds: 0)) == nil)
    }
}

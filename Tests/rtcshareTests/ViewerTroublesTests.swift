import Foundation
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection
@testable import rtcshare

@Suite("The troubles of viewers, and the rates of the last minutes")
struct ViewerTroublesTests {
    /// One second of a viewer: its loss, its round trip in milliseconds, its target bitrate in kbit/s and the part of it that
    /// is sent, and its requests for key frames so far.
    struct Second: Sendable {
        var lost = 0.0
        var trip = 20
        var target: Int? = 2000
        var use = 0.9
        var requests: UInt64 = 0
    }

    private static func troubles(_ seconds: [Second]) -> [ViewerTroubles.Condition?] {
        var troubles = ViewerTroubles()
        var sent: UInt64 = 0
        return seconds.enumerated().map { index, second in
            var summary = SendingSummary(time: Instant(nanoseconds: Int64(index + 1) * 1_000_000_000))
            var video = OutboundStatistics.Video()
            video.pliCount = second.requests
            summary.video = video
            summary.fractionLost = second.lost
            summary.roundTripTime = .milliseconds(second.trip)
            summary.targetBitrate = second.target.map { .kilobitsPerSecond($0) }
            sent += UInt64(Double(second.target ?? 0) * second.use * 125)
            summary.bytesSent = sent
            troubles.update(with: [1: summary], maxBitrate: .kilobitsPerSecond(3000))
            return troubles[1]
        }
    }

    private static func times(_ count: Int, _ second: Second) -> [Second] { Array(repeating: second, count: count) }

    /// Returns one letter a second: of the trouble, or a dot.
    private static func letters(_ seconds: [Second]) -> String {
        troubles(seconds).map { $0?.trouble.map { String($0.rawValue.prefix(2)) } ?? ".." }.joined(separator: " ")
    }

    @Test(
        "A trouble appears when its fact lasts, and stays for some seconds after that",
        arguments: [
            (times(6, Second()), ".. .. .. .. .. .."),
            (times(4, Second(lost: 0.03)) + times(6, Second()), ".. .. lo lo lo lo lo lo .. .."),
            (times(4, Second(lost: 0.029)), ".. .. .. .."),
            // One report is none.
            ([Second(lost: 0.5)] + times(6, Second()), ".. .. .. .. .. .. .."),
            (times(3, Second(trip: 400)), ".. .. la"), (times(3, Second(trip: 399)), ".. .. .."),
            (times(13, Second(target: 999)), ".. .. .. .. .. .. .. .. .. .. .. sl sl"),
            // An unchanged screen needs less.
            (times(13, Second(target: 999, use: 0.4)), ".. .. .. .. .. .. .. .. .. .. .. .. .."),
            (times(12, Second(target: 1000)), ".. .. .. .. .. .. .. .. .. .. .. .."),
            // A paused share.
            (times(12, Second(target: 0)), ".. .. .. .. .. .. .. .. .. .. .. .."),
            (times(12, Second(target: nil)), ".. .. .. .. .. .. .. .. .. .. .. .."),
            (times(3, Second(lost: 0.1, trip: 900)), ".. .. lo"),
        ])
    func course(seconds: [Second], letters: String) { #expect(Self.letters(seconds) == letters) }

    @Test(
        "A viewer is stuck that keeps asking for a key frame",
        arguments: [
            // Those from before the first second, one that is answered, and two of a new viewer.
            ([5, 5, 5, 5, 5, 5], ".. .. .. .. .. .."), ([0, 1, 1, 1, 1, 1, 1], ".. .. .. .. .. .. .."),
            ([0, 1, 2, 2, 2, 2, 2], ".. .. .. .. .. .. .."),
            ([0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4], ".. .. .. st st st st st st st st st .."),
            ([0, 1, 1, 1, 2, 2, 2, 3, 3], ".. .. .. .. st st st st st"),
        ] as [([UInt64], String)])
    func stuck(requests: [UInt64], letters: String) {
        #expect(Self.letters(requests.map { Second(requests: $0) }) == letters)
    }

    @Test("A trouble has the figure of its last second, also in the seconds after it")
    func figure() {
        func figures(_ seconds: [Second]) -> [Double?] { Self.troubles(seconds).map { $0?.figure } }
        #expect(figures([0, 1, 2, 3, 4, 5].map { Second(requests: $0) }) == [nil, nil, nil, 2, 3, 4])
        #expect(figures(Self.times(3, Second(lost: 0.12)) + Self.times(2, Second())) == [nil, nil, 0.12, 0.12, 0.12])
        #expect(figures(Self.times(12, Second(target: 900))).last == 900)
        #expect(figures(Self.times(3, Second(trip: 500))).last == 0.5)
    }

    @Test("A viewer who left has no condition")
    func departure() {
        var troubles = ViewerTroubles()
        troubles.update(with: [1: SendingSummary(time: Instant(nanoseconds: 1))], maxBitrate: .kilobitsPerSecond(1))
        #expect(troubles[1] != nil)
        troubles.update(with: [:], maxBitrate: .kilobitsPerSecond(1))
        #expect(troubles[1] == nil)
    }

    @Test("The history has the last 300 seconds, with the worst round trip and loss of all viewers")
    func history() {
        var history = ShareHistory()
        for second in 0..<400 {
            var rates = ShareRates()
            rates.bitsPerSecond = Double(second) * 1000
            for viewer in 1...2 {
                rates.viewers[viewer] = ViewerRates(
                    codec: nil, bitsPerSecond: 0, roundTripTime: Double(viewer) / 10,
                    fractionLost: viewer == 1 ? nil : 0.25, path: nil)
            }
            let time = Date(timeIntervalSince1970: TimeInterval(second))
            history.add(ShareHistory.Sample(rates, viewers: 2, at: time))
        }
        #expect(history.samples.map(\.bitrate) == (100..<400).map(Double.init))
        #expect(history.samples.last?.roundTripTime == 0.2 && history.samples.last?.fractionLost == 0.25)
        #expect(history.samples.first?.time == Date(timeIntervalSince1970: 100))
    }
}

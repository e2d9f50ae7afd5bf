import RTCSharePeerConnection
import RTCShareVideoCoding
import RTCShareWireFormat
import Testing

@testable import RTCShareStreams
@testable import RTCShareTransport

/// A group with numbered senders, and a test's reports on them. A description limits a fraction of the frames.
extension EncodingGroup<NumberedVideoSender> {
    static func wanting(_ senders: [Int], at now: Duration = .zero) -> EncodingGroup {
        var group = EncodingGroup(wanted: .init(bitrate: .kilobitsPerSecond(1000000), framesPerSecond: 1))
        for (sender, rate) in senders.enumerated() {
            group.join(sender, now: now)
            group.setRate(rate, of: sender, now: now)
        }
        return group
    }

    mutating func join(_ sender: Int, share: Double = 1, now: Duration) {
        add(NumberedVideoSender(sender), isActive: true)
        setShare(share, of: sender, now: now)
    }

    /// Returns the senders whose quality it changes, with their new qualities, in order.
    @discardableResult
    mutating func setShare(_ share: Double, of sender: Int, now: Duration) -> [[Int]] {
        var agreement = SenderAgreement()
        agreement.media = .agreed
        if share < 1 { agreement.limits.maximumFramesPerSecond = share }
        return moved { group in group.senders[sender].map { group.negotiated(agreement, of: $0, now: now) } }
    }

    mutating func setRate(_ rate: Int, isQueueFull: Bool = false, of sender: Int, now: Duration = .zero) {
        let target = BitrateTarget(bitrate: .bitsPerSecond(Int64(rate)), isQueueFull: isQueueFull)
        senders[sender].map { targetChanged(target, of: $0, now: now) }
    }

    mutating func setUnresponsive(_ isUnresponsive: Bool, of sender: Int, now: Duration) {
        senders[sender].map { setUnresponsive(isUnresponsive, $0, now: now) }
    }

    mutating func remove(number sender: Int, now: Duration) { senders[sender].map { remove($0, now: now) } }

    func quality(of sender: Int) -> Int { senders[sender]?.state.quality.index ?? 0 }

    var qualities: [Int] { senders.keys.sorted().map { quality(of: $0) } }

    /// Returns the bitrate of a quality in bits per second.
    func rate(of quality: Int, now: Duration) -> Int? {
        senders.values.first { $0.state.quality.index == quality }
            .map { Int(settings(of: encoding(of: $0), now: now).bitrate.bitsPerSecond) }
    }

    /// Returns the senders whose quality changes at a time, with their new qualities, in order.
    mutating func moved(now: Duration) -> [[Int]] { moved { $0.move(now: now) } }

    private mutating func moved(_ body: (inout EncodingGroup) -> Void) -> [[Int]] {
        let before = senders.keys.sorted().map { ($0, quality(of: $0)) }
        body(&self)
        return before.filter { quality(of: $0) != $1 }.map { [$0.0, quality(of: $0.0)] }
    }

    /// Advances the time in tenths of a second. Returns the senders whose quality changes, with their new qualities, in
    /// order.
    mutating func pass(from start: Int, to end: Int) -> [[Int]] {
        (start * 10..<end * 10).flatMap { moved(now: .milliseconds($0 * 100)) }
    }
}

/// The assignment of viewers to encodings.
@Suite struct QualityTests {
    @Test(
        "A viewer that does not answer has no effect if there are others, and a new one is sent its own route's bitrate"
    )
    func away() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_000_000])
        #expect(group.pass(from: 0, to: 5).isEmpty)
        group.setRate(30_000, of: 0, now: .seconds(5))
        #expect(group.rate(of: 0, now: .seconds(5)) == 30_000)
        group.setUnresponsive(true, of: 0, now: .seconds(6))
        // It is the only one, so its bitrate counts.
        #expect(group.rate(of: 0, now: .seconds(6)) == 30_000)
        group.join(1, now: .seconds(7))
        group.setRate(1_500_000, of: 1, now: .seconds(7))
        #expect(group.rate(of: 0, now: .seconds(7)) == 1_500_000)
        #expect(group.pass(from: 7, to: 20).isEmpty)
        #expect(group.rate(of: 0, now: .seconds(20)) == 1_500_000)
        // It counts again when it is back.
        group.setUnresponsive(false, of: 0, now: .seconds(20))
        #expect(group.rate(of: 0, now: .seconds(20)) == 30_000)
        #expect(group.pass(from: 20, to: 24) == [[0, 1]])
        #expect(group.rate(of: 0, now: .seconds(24)) == 1_500_000)
    }

    @Test("A single viewer, or one among equals, keeps its quality, however slow its route")
    func aloneAmongEquals() {
        var alone = EncodingGroup<NumberedVideoSender>.wanting([90_000])
        #expect(alone.pass(from: 0, to: 20).isEmpty)
        #expect(alone.rate(of: 0, now: .seconds(20)) == 90_000)
        var equals = EncodingGroup<NumberedVideoSender>.wanting([1_000_000, 800_000, 510_000])
        #expect(equals.pass(from: 0, to: 20).isEmpty)
        #expect(equals.rate(of: 0, now: .seconds(20)) == 510_000)
    }

    @Test("A viewer with less than half goes down a quality, one with far less another, and none slows the others")
    func stepsDown() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([
            2_500_000, 2_000_000, 900_000, 300_000, 100_000, 50_000,
        ])
        #expect(group.pass(from: 0, to: 10).sorted { $0[0] < $1[0] } == [[2, 1], [3, 2], [4, 2], [5, 2]])
        #expect(group.rate(of: 0, now: .seconds(10)) == 2_000_000)
        #expect(group.rate(of: 1, now: .seconds(10)) == 900_000)
        #expect(group.rate(of: 2, now: .seconds(10)) == 50_000)
        #expect(group.qualities == [0, 0, 1, 2, 2, 2])
    }

    @Test("A viewer returns to a higher quality after its route has recovered for a while")
    func stepsUp() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_000_000, 500_000])
        #expect(group.pass(from: 0, to: 5) == [[1, 1]])
        group.setRate(1_100_000, of: 1)
        #expect(group.pass(from: 5, to: 15).isEmpty, "Half is not enough to come up.")
        group.setRate(1_300_000, of: 1)
        #expect(group.pass(from: 15, to: 19).isEmpty)
        #expect(group.pass(from: 19, to: 21) == [[1, 0]])
        group.setRate(1_050_000, of: 1)
        #expect(group.pass(from: 21, to: 40).isEmpty, "What suffices to stay does not swing.")
    }

    @Test("A short dip changes no quality")
    func shortDip() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_000_000, 1_500_000])
        #expect(group.pass(from: 0, to: 5).isEmpty)
        group.setRate(400_000, of: 1)
        _ = group.moved(now: .seconds(5))
        #expect(group.moved(now: .milliseconds(5900)).isEmpty)
        group.setRate(1_500_000, of: 1)
        #expect(group.pass(from: 6, to: 20).isEmpty)
    }

    @Test("A new viewer, and one that is sent nothing, slow no other viewer")
    func newViewer() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_000_000])
        group.join(7, now: .seconds(10))
        group.setRate(300_000, of: 7)
        #expect(group.rate(of: 0, now: .seconds(11)) == 2_000_000)
        #expect(group.rate(of: 0, now: .seconds(13)) == 300_000)
        group.setRate(300_000, isQueueFull: true, of: 7)
        #expect(group.rate(of: 0, now: .seconds(13)) == 2_000_000)
        group.remove(number: 0, now: .seconds(13))
        #expect(group.rate(of: 0, now: .seconds(13)) == 300_000, "Who is alone is who there is to go by.")
    }

    @Test("A viewer whose description permits far less than the others is separated before it is sent anything")
    func lowDescription() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_000_000, 1_500_000])
        group.join(7, share: 0.03, now: .zero)
        #expect(group.quality(of: 7) == EncodingGroup<NumberedVideoSender>.limitedQualities.lowerBound)
        group.setRate(9_000_000, of: 7)
        #expect(group.pass(from: 0, to: 10).isEmpty, "Its path sets no measure for the others.")
        #expect(group.rate(of: 0, now: .seconds(10)) == 1_500_000)
        #expect(
            group.rate(of: EncodingGroup<NumberedVideoSender>.limitedQualities.lowerBound, now: .seconds(10))
                == 9_000_000)
    }

    @Test("A description that permits far less holds at once, and its reversal after a while")
    func changedDescription() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_000_000, 1_500_000, 600_000])
        #expect(group.pass(from: 0, to: 5) == [[2, 1]])
        #expect(group.setShare(0.49, of: 1, now: .seconds(5)) == [[1, 3]])
        #expect(group.setShare(0.59, of: 1, now: .seconds(5)).isEmpty)
        #expect(group.pass(from: 5, to: 20).isEmpty)
        #expect(group.setShare(1, of: 1, now: .seconds(20)).isEmpty)
        #expect(group.pass(from: 20, to: 25).isEmpty)
        #expect(group.pass(from: 25, to: 27) == [[1, 0]])
    }

    @Test("A viewer that takes next to nothing does not slow those that take a third")
    func nextToNothing() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_000_000])
        group.join(1, share: 0.33, now: .zero)
        group.join(2, share: 0.4, now: .zero)
        group.join(3, share: 0.02, now: .zero)
        #expect(group.qualities == [0, 3, 3, 4])
        #expect(group.setShare(0.24, of: 3, now: .zero).isEmpty)
        #expect(group.pass(from: 0, to: 5).isEmpty)
        #expect(group.pass(from: 5, to: 6) == [[3, 3]], "Six tenths of the best of them, for five seconds.")
        #expect(group.setShare(0.15, of: 1, now: .seconds(6)) == [[1, 4]])
    }

    @Test("A single viewer, or viewers that all take little, are not separated by their descriptions")
    func littleForAll() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([])
        for (viewer, share) in [0.13, 0.07, 0.2].enumerated() { group.join(viewer, share: share, now: .zero) }
        #expect(group.qualities == [0, 0, 0])
        group.join(3, share: 1, now: .seconds(1))
        #expect(
            group.moved(now: .seconds(1)).sorted { $0[0] < $1[0] }
                == [[0, 3], [1, 4], [2, 3]])
        // After it has left, only the remaining viewers count.
        group.remove(number: 3, now: .seconds(1))
        #expect(
            group.pass(from: 1, to: 10).sorted { $0[0] < $1[0] } == [[0, 0], [1, 3], [2, 0]],
            "Six tenths is what it takes to come up.")
    }

    @Test("The remaining viewers go up when the best one leaves")
    func bestLeaves() {
        var group = EncodingGroup<NumberedVideoSender>.wanting([2_500_000, 600_000, 500_000])
        #expect(group.pass(from: 0, to: 5).sorted { $0[0] < $1[0] } == [[1, 1], [2, 1]])
        group.remove(number: 0, now: .seconds(5))
        #expect(group.pass(from: 5, to: 12).sorted { $0[0] < $1[0] } == [[1, 0], [2, 0]])
    }
}

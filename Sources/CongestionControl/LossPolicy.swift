internal import Glibc
import RTCShareRTP
package import RTCShareWireFormat

/// The measures of a video stream against loss: the amount of forward error correction (FEC), and the time for which
/// the receiver holds frames. They depend on the receiver's loss and round-trip time.
///
/// A retransmission takes a round trip, in which a receiver shows an old frame. If the round trip is short, or no
/// packets are lost, this policy does nothing. Otherwise a frame has ``packetsPerLoss`` packets of correction for each
/// of its packets that is likely to be lost, and at least one, within its share of the rate. Small frames, such as
/// those of typing, are doubled, which costs little. If the share is not sufficient, the frames of up to a round trip
/// have one packet together.
///
/// Packets that are still missing are retransmitted. They arrive before their frame is shown if the receiver holds
/// frames for a little more than a round trip, ``hold``, which applies only while packets are lost. With heavy loss
/// retransmissions are also lost, and would take another round trip. Distant receivers then get each retransmission
/// twice, the second one a little later, after the end of the burst that may have dropped the first
/// (``repeatsRetransmissions``).
///
/// The loss is that in receiver reports, or in requests while these are rare (``RequestedLoss``), with decreasing weight
/// for older ones.
package struct LossPolicy: Sendable {
    /// The number of correction packets per expected lost packet. With three, less than a tenth of the frames stay
    /// incomplete at any size at a loss of 5 percent. Four leave one in twenty, but a real receiver showed worse video
    /// with them.
    package static let packetsPerLoss = 3.0
    /// The maximum ratio of correction to video. Beyond it the video loses more quality than it gains in smoothness.
    package static let maximumRatio = 0.5
    /// The loss above which correction starts. It ends below ``leastLoss``.
    package static let notableLoss = 0.01
    /// The loss below which correction ends; see ``notableLoss``.
    package static let leastLoss = 0.005
    /// The minimum number of lost packets before the loss counts.
    package static let leastPacketsLost = 2.0
    /// The round-trip time below which retransmissions arrive before a loss is visible.
    package static let shortestRoundTrip = Duration.milliseconds(60)
    /// The half-life of recorded losses.
    package static let halfLife = Duration.seconds(4)
    /// The round-trip time below which retransmissions arrive within a frame's duration, so that frames are not held.
    package static let shortestHeldRoundTrip = Duration.milliseconds(30)
    /// The loss above which retransmissions are likely to be lost as well. Frames are then held long enough for a
    /// second retransmission, until the loss is below ``leastHeavyLoss``.
    package static let heavyLoss = 0.08
    /// The loss below which heavy loss ends; see ``heavyLoss``.
    package static let leastHeavyLoss = 0.06
    /// The loss above which no retransmission is repeated: the repetitions would take too much of the rate (`rtcbench
    /// network loss-20`).
    package static let mostRepeatedLoss = 0.16
    /// The time in which a receiver notices a missing packet and this side retransmits it.
    package static let repairTime = Duration.milliseconds(40)
    /// The time until a second retransmission arrives, which is sent with the next frame.
    package static let repetitionTime = Duration.milliseconds(60)
    /// The maximum ``hold``, usually and with heavy loss. Viewers would notice a longer one more than a freeze.
    package static let longestHold = (usual: Duration.milliseconds(200), heavy: Duration.milliseconds(300))
    /// The minimum change of the hold.
    package static let holdStep = Duration.milliseconds(20)
    /// The time for which unused correction can be saved and then sent at once.
    package static let savedTime = Duration.milliseconds(500)

    /// The numbers of expected and lost packets, both with decreasing weight.
    private var packets = (expected: 0.0, lost: 0.0)
    private var lastSample: Instant?
    /// The round-trip time at the latest loss.
    package private(set) var roundTripTime = Duration.zero
    /// Whether the loss is high enough to be visible.
    private var isLossy = false
    /// Whether the loss is high enough to affect retransmissions.
    private var isHeavilyLossy = false
    /// Whether forward error correction is active.
    package var isActive: Bool { isLossy && roundTripTime >= Self.shortestRoundTrip }
    /// Whether each retransmission is sent a second time.
    package var repeatsRetransmissions: Bool { isHeavilyLossy && isActive && loss < Self.mostRepeatedLoss }
    /// The time for which the receiver holds a frame before it shows it; zero while nothing is lost.
    package private(set) var hold = Duration.zero

    /// The bitrate of corrections, and the number of bytes that are left of it.
    private var allowance = DataRate.zero
    private var credit = (bytes: 0.0, at: Instant(nanoseconds: 0))

    /// Creates an inactive policy for a receiver without reports.
    package init() {}

    /// The fraction of packets that is lost.
    package var loss: Double { packets.expected > 0 ? packets.lost / packets.expected : 0 }

    /// The ratio of correction to video for frames of many packets; zero for none.
    package var ratio: Double {
        isActive ? min(loss * Self.packetsPerLoss, Self.maximumRatio) : 0
    }

    /// The ratio of correction and repeated retransmissions to video.
    package var overhead: Double { ratio + (repeatsRetransmissions ? loss : 0) }

    /// Processes a loss.
    package mutating func receive(_ sample: LossSample, roundTripTime: Duration?, now: Instant) {
        let elapsed = lastSample.map { now - $0 } ?? .zero
        let kept = exp2(-elapsed.seconds / Self.halfLife.seconds)
        lastSample = now
        packets.expected = packets.expected * kept + Double(sample.packets)
        packets.lost = packets.lost * kept + Double(sample.packets) * sample.fractionLost
        self.roundTripTime = roundTripTime ?? .zero
        decide()
    }

    private mutating func decide() {
        if isLossy {
            isLossy = loss >= Self.leastLoss
        } else {
            isLossy = loss >= Self.notableLoss && packets.lost >= Self.leastPacketsLost
        }
        isHeavilyLossy = isLossy && loss >= (isHeavilyLossy ? Self.leastHeavyLoss : Self.heavyLoss)
        decideHold()
    }

    private mutating func decideHold() {
        guard isLossy, roundTripTime >= Self.shortestHeldRoundTrip else {
            hold = .zero
            return
        }
        let repair = roundTripTime + Self.repairTime
        let second = repeatsRetransmissions ? Self.repetitionTime : roundTripTime
        let wanted =
            isHeavilyLossy ? min(repair + second, Self.longestHold.heavy) : min(repair, Self.longestHold.usual)
        if max(wanted, hold) - min(wanted, hold) >= Self.holdStep { hold = wanted }
    }

    /// Sets the bitrate of video with its correction and repeated retransmissions.
    package mutating func setRate(_ rate: DataRate) {
        allowance = rate * (ratio / (1 + overhead))
    }

    /// Returns the number of correction packets after `count` packets, which are about to be sent or were just sent.
    package mutating func corrections(
        forPackets count: Int, bytesEach: Int, atMost most: Int = ULPFECMask.maximumCorrections, now: Instant
    ) -> Int {
        guard isActive, count > 0, bytesEach > 0 else { return 0 }
        let limit = Double(allowance.bytes(in: Self.savedTime))
        let gained = Double(allowance.bitsPerSecond) / 8 * max(0, (now - credit.at).seconds)
        let bytes = min(limit, credit.bytes + gained)
        let wanted = (Double(min(count, ULPFECHeader.maximumPackets)) * ratio).rounded(.up)
        let affordable = (bytes / Double(bytesEach)).rounded(.down)
        let number = Int(max(0, min(wanted, affordable, Double(most))))
        credit = (bytes - Double(number * bytesEach), now)
        return number
    }
}

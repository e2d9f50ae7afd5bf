internal import Glibc
import RTCShareRTP
package import RTCShareWireFormat

/// What a stream of pictures does against loss, by what its receiver loses and how far away it is: how much forward error
/// correction there is, and how long its receiver holds pictures.
///
/// A lost packet that is asked for again costs a round trip, for which a receiver shows an old picture. Where that is
/// short, or nothing is lost, nothing is paid. Elsewhere a frame has ``packetsPerLoss`` packets of correction for each of
/// its packets that is likely to be lost, and at least one, as far as its share of the rate goes: small frames, as of
/// somebody who types, are doubled, which costs little beside what a path carries. Where the share does not go so far, the
/// frames of up to a round trip have one together.
///
/// What is still missing is asked for, and is there when its picture is shown if that waits a little more than a round trip,
/// ``hold``: while packets are lost, and no longer. Where much is lost so are answers, and would be asked for again a round
/// trip later: far receivers have each twice then, the second time a little later, when the burst is over that may have
/// taken the first (``repeatsRetransmissions``).
///
/// What is lost is that which receiver reports tell, with the older forgotten by and by.
package struct LossPolicy: Sendable {
    /// With three, less than a tenth of the frames stay incomplete at any size where a twentieth of the packets is lost.
    /// Four leave one in twenty, and pictures that a receiver showed to be worse for it.
    package static let packetsPerLoss = 3.0
    /// The most correction, as a share of the pictures: beyond, the pictures lose more than their smoothness is worth.
    package static let maximumRatio = 0.5
    /// From this loss on there is correction, and below ``leastLoss`` no more.
    package static let notableLoss = 0.01
    /// See ``notableLoss``.
    package static let leastLoss = 0.005
    /// How many packets have to be lost before that says anything.
    package static let leastPacketsLost = 2.0
    /// Nearer receivers have a packet again before its absence shows.
    package static let shortestRoundTrip = Duration.milliseconds(60)
    /// In this time what was lost comes to count for half.
    package static let halfLife = Duration.seconds(4)
    /// Nearer receivers have a packet again within the time of a picture, and hold none.
    package static let shortestHeldRoundTrip = Duration.milliseconds(30)
    /// From this loss on what is sent again is likely to be lost again, sooner or later: pictures are held until it was there
    /// a second time, until the loss is below ``leastHeavyLoss``.
    package static let heavyLoss = 0.08
    /// See ``heavyLoss``.
    package static let leastHeavyLoss = 0.06
    /// From this loss on nothing is sent again twice: it takes more of the rate than it is worth (`rtcbench network loss-20`).
    package static let mostRepeatedLoss = 0.16
    /// What a receiver takes to notice that a packet is missing, and this side to send it once more.
    package static let repairTime = Duration.milliseconds(40)
    /// What is sent again is sent a second time with the next frame, which is there in this time.
    package static let repetitionTime = Duration.milliseconds(60)
    /// The longest ``hold``, and where much is lost: whoever is farther away would notice it more than a freeze.
    package static let longestHold = (usual: Duration.milliseconds(200), heavy: Duration.milliseconds(300))
    /// Holds that differ by less are alike.
    package static let holdStep = Duration.milliseconds(20)
    /// The correction of so long may leave at once, having been saved up.
    package static let savedTime = Duration.milliseconds(500)

    /// Packets that reports tell of and those among them that were lost, both forgotten by and by.
    private var packets = (expected: 0.0, lost: 0.0)
    private var lastReport: Instant?
    /// That of the newest report.
    package private(set) var roundTripTime = Duration.zero
    /// Whether so much is lost that it shows.
    private var isLossy = false
    /// Whether so much is lost that what is sent again is, too.
    private var isHeavilyLossy = false
    /// Whether there is forward error correction now.
    package var isActive: Bool { isLossy && roundTripTime >= Self.shortestRoundTrip }
    /// Whether what is sent again leaves a second time.
    package var repeatsRetransmissions: Bool { isHeavilyLossy && isActive && loss < Self.mostRepeatedLoss }
    /// How long the receiver is to hold a picture before it shows it; zero while nothing is lost.
    package private(set) var hold = Duration.zero

    /// What the corrections may take, and how many bytes of that are left.
    private var allowance = DataRate.zero
    private var credit = (bytes: 0.0, at: Instant(nanoseconds: 0))

    /// A policy for a receiver of whom nothing is known: nothing is done.
    package init() {}

    /// The share of packets that is lost.
    package var loss: Double { packets.expected > 0 ? packets.lost / packets.expected : 0 }

    /// How much correction there is to so much picture, where frames have many packets; zero for none.
    package var ratio: Double {
        isActive ? min(loss * Self.packetsPerLoss, Self.maximumRatio) : 0
    }

    /// How much goes beside so much picture: correction, and what is sent again a second time.
    package var overhead: Double { ratio + (repeatsRetransmissions ? loss : 0) }

    /// Takes what a receiver report says of so many packets.
    package mutating func receive(
        _ report: LossReport, packets count: Int, roundTripTime: Duration?, now: Instant
    ) {
        let elapsed = lastReport.map { now - $0 } ?? .zero
        let kept = exp2(-elapsed.seconds / Self.halfLife.seconds)
        lastReport = now
        packets.expected = packets.expected * kept + Double(count)
        packets.lost = packets.lost * kept + Double(count) * report.fractionLost
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

    /// Sets what pictures may take with all that goes beside them.
    package mutating func setRate(_ rate: DataRate) {
        allowance = rate * (ratio / (1 + overhead))
    }

    /// How many packets of correction follow so many packets that are about to leave, or have left just now.
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

/// The expected fraction of lost packets, from the fractions in receiver reports.
///
/// A report covers fifty packets in a second: a single loss is two percent of them. Losses come in bursts, so half of a
/// reported loss counts at once, and decays slowly.
struct ExpectedLoss: Sendable, Hashable {
    /// The weight of a report with a higher loss.
    private static let attack = 0.5
    /// The weight of a report with a lower loss: half is forgotten after seven of them.
    private static let decay = 0.1
    /// The maximum for music: from nine percent on libopus codes music as speech, so that it can repeat it, which is
    /// worse for music than an occasional concealed gap.
    private static let mostForMusic = 0.08

    private var value = 0.0

    /// Records the fraction, 0 to 1, that a report has of packets lost since the one before.
    mutating func note(_ share: Double) {
        guard share.isFinite else { return }
        let share = min(max(share, 0), 1)
        value += (share - value) * (share > value ? Self.attack : Self.decay)
    }

    /// Returns the loss that the encoder must expect, 0 to 1: the reported one, or a known one if that is higher.
    func share(isVoice: Bool, atLeast known: Double = 0) -> Double {
        let share = max(value, known.isFinite ? min(max(known, 0), 1) : 0)
        return isVoice ? share : min(share, Self.mostForMusic)
    }
}

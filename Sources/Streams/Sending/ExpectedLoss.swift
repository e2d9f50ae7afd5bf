/// The share of packets that is expected to be lost next, of the shares that receiver reports say.
///
/// One report is a second's fifty packets: a single loss is two percent of it. Loss comes in bursts, so one that is
/// reported is believed at once by half, and forgotten slowly.
struct ExpectedLoss: Sendable, Hashable {
    /// What a report that says more counts.
    private static let attack = 0.5
    /// What one that says less counts: half is forgotten after seven of them.
    private static let decay = 0.1
    /// From nine percent on libopus codes music as speech, so that it can repeat it: worse for music than a gap now and
    /// then that is concealed.
    private static let mostForMusic = 0.08

    private var value = 0.0

    /// A report said that this share, 0 to 1, was lost since the one before.
    mutating func note(_ share: Double) {
        guard share.isFinite else { return }
        let share = min(max(share, 0), 1)
        value += (share - value) * (share > value ? Self.attack : Self.decay)
    }

    /// What the encoder is to expect, 0 to 1: what the reports say, or what is known otherwise where that is more.
    func share(isVoice: Bool, atLeast known: Double = 0) -> Double {
        let share = max(value, known.isFinite ? min(max(known, 0), 1) : 0)
        return isVoice ? share : min(share, Self.mostForMusic)
    }
}

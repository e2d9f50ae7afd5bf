internal import RTCShareMedia

/// Whether what nobody gave a hint for moves as a film does: most of the picture is new, again and again.
///
///              most of each picture is new for 1.5 s
///     detail ─────────────────────────────────────────▶ motion
///            ◀─────────────────────────────────────────
///              next to nothing is new for a second
///
/// What scrolls is not new: it was there before. Someone who leafs through pages fast is taken for a film as long as it
/// lasts, and nobody reads meanwhile.
struct MotionDetector {
    /// Of a picture, the part that is new in each picture of a film.
    static let filmShare = 0.5
    /// The part below which a picture is as good as still.
    static let stillShare = 0.15
    /// How long a film has to go on before it is taken for one.
    static let patience = Duration.seconds(1.5)
    /// The longest time between two pictures of a film: where bits are short, few of them are encoded.
    static let longestGap = Duration.milliseconds(400)
    /// How long next to nothing is new before it is over.
    static let rest = Duration.seconds(1)

    /// `detail` or `motion`.
    private(set) var hint = ContentHint.detail
    /// Since when each picture was new for the most part.
    private var movesSince: Duration?
    /// When the newest of these came.
    private var movedAt: Duration?

    /// A picture was encoded of which so large a part was new, 0 to 1.
    mutating func update(newShare share: Double, now: Duration) {
        if let movedAt, hint == .detail, now - movedAt > Self.longestGap { movesSince = nil }
        if share >= (hint == .motion ? Self.stillShare : Self.filmShare) {
            movesSince = movesSince ?? now
            movedAt = now
        } else if hint == .detail {
            movesSince = nil
        }
        update(now: now)
    }

    /// Time passes.
    mutating func update(now: Duration) {
        guard let movedAt else { return }
        if hint == .motion, now - movedAt >= Self.rest {
            self = MotionDetector()
        } else if let movesSince, now - movesSince >= Self.patience {
            hint = .motion
        }
    }
}

internal import RTCShareMedia

/// Detects whether content without a hint moves like a video: most of each frame is new, repeatedly.
///
///              most of each frame, except single ones, is new for 1.5 s, in four frames or more
///     detail ─────────────────────────────────────────▶ motion
///            ◀─────────────────────────────────────────
///              almost nothing is new for a second
///
/// Scrolling content is not new, since it was visible before. Fast turning of pages is detected as video as long as it
/// lasts, but nobody reads at that time.
struct MotionDetector {
    /// The fraction of a frame that is new in each frame of a video.
    static let filmShare = 0.5
    /// The fraction below which a frame is almost still.
    static let stillShare = 0.15
    /// The minimum duration of a video before it is detected.
    static let patience = Duration.seconds(1.5)
    /// The minimum number of frames with mostly new content before it is detected. Fewer can be pages with an animation
    /// between them.
    static let fewestMoves = 4
    /// The maximum time from a video's frame to the next change. If bits are scarce, few frames are encoded, each of which
    /// shows many changes.
    static let longestGap = Duration.milliseconds(400)
    /// The time without motion after which a video is over.
    static let rest = Duration.seconds(1)

    /// The detected hint: `detail` or `motion`.
    private(set) var hint = ContentHint.detail
    /// The start of the period in which most of each frame was new.
    private var movesSince: Duration?
    /// The number of these frames.
    private var moves = 0
    /// The time of the latest of them.
    private var movedAt: Duration?
    /// Whether less of the next frame was new. A player that shows more frames than its video has repeats single ones.
    private var hasStillFrame = false

    /// Records an encoded frame, of which the fraction `share`, 0 to 1, was new, and the time of the first change that it
    /// shows.
    mutating func update(newShare share: Double, changedAt: Duration, now: Duration) {
        if let movedAt, hint == .detail, changedAt - movedAt > Self.longestGap { movesSince = nil }
        if share >= (hint == .motion ? Self.stillShare : Self.filmShare) {
            moves = movesSince == nil ? 1 : moves + 1
            movesSince = movesSince ?? now
            movedAt = now
            hasStillFrame = false
        } else if hint == .detail {
            if hasStillFrame { movesSince = nil }
            hasStillFrame = true
        }
        update(now: now)
    }

    /// Begins, or resumes after a pause in which nothing was encoded. If it was motion, or is that for another encoder of
    /// the same content, it is motion until it rests.
    mutating func resume(found: ContentHint?, now: Duration) {
        let isMotion = hint == .motion || found == .motion
        self = MotionDetector()
        if isMotion { (hint, movedAt) = (.motion, now) }
    }

    /// Advances the time.
    mutating func update(now: Duration) {
        guard let movedAt else { return }
        if hint == .motion, now - movedAt >= Self.rest {
            self = MotionDetector()
        } else if let movesSince, movedAt - movesSince >= Self.patience, moves >= Self.fewestMoves {
            hint = .motion
        }
    }
}

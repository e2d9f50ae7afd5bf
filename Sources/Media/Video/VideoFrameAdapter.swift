/// Applies a request for an output format to frames, and keeps what they say of their damage true: what changed in a
/// frame that was left out has changed in the next one too, as those behind see it.
struct VideoFrameAdapter: Sendable {
    private var format = VideoFormatAdapter()
    private var ledger = DamageLedger()
    private var last: VideoFormatAdapter.Adaptation?

    mutating func setOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode) {
        format.setOutputFormat(width: width, height: height, fps: fps, mode: mode)
    }

    /// Whatever comes next differs from what those behind saw last.
    mutating func invalidate() {
        ledger.invalidate()
    }

    /// The frame came and goes no further.
    mutating func skip(_ frame: VideoFrame) {
        ledger.skip(frame.damage)
    }

    /// Whether a frame taken at `timestamp` would pass.
    func isDue(at timestamp: Duration) -> Bool { format.timeToWait(at: timestamp) == .zero }

    /// The time after `timestamp` at which a frame passes; nil where none does.
    func timeToWait(at timestamp: Duration) -> Duration? { format.timeToWait(at: timestamp) }

    /// A usable frame as the format has it; nil where it is left out.
    mutating func adapt(_ frame: VideoFrame, regardlessOfRate: Bool = false) -> VideoFrame? {
        guard
            let adaptation = format.adapt(
                frame.size, timestamp: frame.timestamp, regardlessOfRate: regardlessOfRate)
        else {
            ledger.skip(frame.damage)
            return nil
        }
        if let last, last != adaptation { ledger.invalidate() }
        last = adaptation
        // What an adapter before this one made smaller stays so.
        let isUntouched = adaptation.outputSize == frame.size
        let output = isUntouched ? frame.outputSize : adaptation.outputSize.fitted(within: frame.outputSize)
        let whole = frame.withDamage(ledger.take(frame.damage))
        // Encoders need even sides. A picture that would be scaled by one pixel for that would be blurred as a whole.
        let even = adaptation.crop.size.even
        if output.width >= even.width, output.height >= even.height {
            let corner = PixelRectangle(x: adaptation.crop.x, y: adaptation.crop.y, size: even)
            return whole.cropped(to: corner, outputSize: even)
        }
        return whole.cropped(to: adaptation.crop, outputSize: output)
    }
}

/// Sums up the damage of frames that were left out.
struct DamageLedger: Sendable {
    /// More rectangles than this say no more than that something changed.
    private static let capacity = 64
    /// Of the frames left out; nil where it is not known.
    private var missed: [PixelRectangle]? = []

    /// What changed is not known.
    mutating func invalidate() {
        missed = nil
    }

    /// A frame with this damage is left out.
    mutating func skip(_ damage: [PixelRectangle]?) {
        missed = sum(damage)
    }

    /// The damage of a frame that passes, with that of those left out before it.
    mutating func take(_ damage: [PixelRectangle]?) -> [PixelRectangle]? {
        defer { missed = [] }
        return sum(damage)
    }

    private func sum(_ damage: [PixelRectangle]?) -> [PixelRectangle]? {
        Self.sum(missed, damage)
    }

    /// The damage of two frames after each other.
    static func sum(_ first: [PixelRectangle]?, _ second: [PixelRectangle]?) -> [PixelRectangle]? {
        guard let first, let second else { return nil }
        if first.isEmpty { return second }
        let both = first + second
        return both.count <= capacity ? both : nil
    }
}

extension VideoFrame {
    /// This frame as one sees it who did not see `missed`, the frame before it: what changed in either has changed.
    public func following(missed: VideoFrame) -> VideoFrame {
        withDamage(missed.size == size ? DamageLedger.sum(missed.damage, damage) : nil)
    }

    /// The same frame with other damage.
    func withDamage(_ damage: [PixelRectangle]?) -> VideoFrame {
        var frame = self
        frame.damage = damage
        return frame
    }
}

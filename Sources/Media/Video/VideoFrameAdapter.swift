/// Applies a requested output format to frames, and keeps their damage correct: the changes of a skipped frame are
/// added to the next one.
struct VideoFrameAdapter: Sendable {
    private var format = VideoFormatAdapter()
    private var ledger = DamageLedger()
    private var last: VideoFormatAdapter.Adaptation?

    mutating func setOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode) {
        format.setOutputFormat(width: width, height: height, fps: fps, mode: mode)
    }

    /// Marks the damage of the next frame as unknown.
    mutating func invalidate() {
        ledger.invalidate()
    }

    /// Records that a frame was skipped.
    mutating func skip(_ frame: VideoFrame) {
        ledger.skip(frame.damage)
    }

    /// Returns whether a frame captured at `timestamp` would pass.
    func isDue(at timestamp: Duration) -> Bool { format.timeToWait(at: timestamp) == .zero }

    /// Returns the time after `timestamp` at which a frame passes; nil if none does.
    func timeToWait(at timestamp: Duration) -> Duration? { format.timeToWait(at: timestamp) }

    /// Returns a valid frame in the output format; nil if it is skipped.
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
        // A smaller target size from an earlier adapter is kept.
        let isUntouched = adaptation.outputSize == frame.size
        let output = isUntouched ? frame.outputSize : adaptation.outputSize.fitted(within: frame.outputSize)
        let whole = frame.withDamage(ledger.take(frame.damage))
        // Encoders need even sides. Scaling by one pixel for that would blur the whole frame.
        let even = adaptation.crop.size.even
        if output.width >= even.width, output.height >= even.height {
            let corner = PixelRectangle(x: adaptation.crop.x, y: adaptation.crop.y, size: even)
            return whole.cropped(to: corner, outputSize: even)
        }
        return whole.cropped(to: adaptation.crop, outputSize: output)
    }
}

extension VideoFrame {
    /// Returns this frame for a receiver that missed the frame before it: it has the changes of both.
    public func following(missed: VideoFrame) -> VideoFrame {
        withDamage(missed.size == size ? DamageLedger.sum(missed.damage, damage) : nil)
    }

    /// Returns the frame with other damage.
    func withDamage(_ damage: [PixelRectangle]?) -> VideoFrame {
        var frame = self
        frame.damage = damage
        return frame
    }
}

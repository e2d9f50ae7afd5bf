public import RTCShareMedia

extension CaptureFormat {
    /// The frame rates that the sources of this module support.
    public static let frameRates: ClosedRange<Double> = 0.1...240

    /// Throws if no source supports this frame rate.
    static func check(framesPerSecond: Double) throws(CaptureError) {
        guard frameRates.contains(framesPerSecond) else { throw .invalidFrameRate(framesPerSecond) }
    }
}

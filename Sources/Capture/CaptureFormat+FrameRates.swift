public import RTCShareMedia

extension CaptureFormat {
    /// The frame rates that a source of this module can be asked for.
    public static let frameRates: ClosedRange<Double> = 0.1...240

    /// Throws where a source can't be asked for so many frames a second.
    static func check(framesPerSecond: Double) throws(CaptureError) {
        guard frameRates.contains(framesPerSecond) else { throw .invalidFrameRate(framesPerSecond) }
    }
}

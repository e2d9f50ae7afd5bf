/// The quantizers of a ``FrameCoder``, from 0, and their uses.
struct QuantizerRange: Sendable {
    /// The sizes of frames at each quantizer.
    let scale: QuantizerControl.Scale
    /// The sizes of a video's frames, which decrease much faster than those of text.
    let motionScale: QuantizerControl.Scale
    /// The ``Coarseness`` at each quantizer.
    let coarseness: [Int]
    /// The finest quantizer of a key frame: what is finer arrives later, and would not be seen.
    let finestKeyFrame: Int
    /// The finest quantizer of changes, if the rest is not finer.
    let finestChange: Int
    /// The quantizers with which unchanged content becomes finer, one after the other.
    let passes: [Int]
    /// Whether a new page is coded as a key frame, because a delta frame of it takes several times as long.
    var codesPagesAsKeyFrames = false

    /// The coarsest quantizer.
    var coarsest: Int { coarseness.count - 1 }

    /// Returns the coarsest quantizer up to a coarseness.
    func quantizer(upTo maximum: Int) -> Int { coarseness.lastIndex { $0 <= maximum } ?? coarsest }

    /// Returns the values from 0 to the last key, of which some are given.
    static func interpolated(_ points: [(Int, Double)]) -> [Double] {
        var values = [points[0].1]
        for (from, to) in zip(points, points.dropFirst()) {
            for index in 1...(to.0 - from.0) {
                values.append(from.1 + (to.1 - from.1) * Double(index) / Double(to.0 - from.0))
            }
        }
        return values
    }
}

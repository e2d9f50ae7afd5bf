/// The way to fit a frame into a format with another aspect ratio.
public enum OutputFormatMode: Sendable, Hashable {
    /// The whole frame, at the largest even size within the request: for screens.
    case fit
    /// The middle of the frame, at a size that few-step fractions reach, as in libwebrtc's `adaptOutputFormat`: for
    /// cameras, and for equal sizes.
    case crop
}

/// Computes the part and the size of each frame for a requested output format, and the frames to skip. It has no clock:
/// the frames' timestamps are the time.
package struct VideoFormatAdapter: Sendable {
    /// The crop and the size for a frame.
    package struct Adaptation: Sendable, Hashable {
        /// The part that is kept, in pixels of the frame.
        package let crop: PixelRectangle
        /// The target size of that part.
        package let outputSize: PixelSize
    }

    private struct Request: Sendable {
        let bound: PixelSize
        let mode: OutputFormatMode
    }

    private var request: Request?
    private var rate = FrameRateLimiter(framesPerSecond: 0)

    /// Creates an adapter that leaves every frame unchanged.
    package init() {}

    /// Limits frames to `width` by `height`, in either orientation, and to `fps` per second. An `fps` of 0 sets no
    /// limit; a side of 0 skips every frame.
    package mutating func setOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode = .fit) {
        let (width, height) = (min(max(0, width), Self.largestRequest), min(max(0, height), Self.largestRequest))
        request = Request(bound: PixelSize(width: width, height: height), mode: mode)
        rate = FrameRateLimiter(framesPerSecond: fps)
    }

    /// Returns the adaptation of a frame of `size` captured at `timestamp`; nil if it is skipped.
    package mutating func adapt(_ size: PixelSize, timestamp: Duration) -> Adaptation? {
        adapt(size, timestamp: timestamp, regardlessOfRate: false)
    }

    /// Does the same; `regardlessOfRate` admits a frame that is not due.
    mutating func adapt(_ size: PixelSize, timestamp: Duration, regardlessOfRate: Bool) -> Adaptation? {
        guard let request else { return Adaptation(crop: PixelRectangle(x: 0, y: 0, size: size), outputSize: size) }
        let sides = 1...VideoFrame.maximumSide
        guard request.bound.area > 0, sides.contains(size.width), sides.contains(size.height),
            regardlessOfRate || rate.admits(timestamp)
        else { return nil }
        let bound = request.bound.oriented(as: size)
        switch request.mode {
        case .fit:
            let whole = PixelRectangle(x: 0, y: 0, size: size)
            return Adaptation(crop: whole, outputSize: size.fitted(within: bound))
        case .crop:
            return Self.cropping(size, to: bound)
        }
    }

    /// Returns the time after `timestamp` at which the rate admits a frame; nil if no frame is admitted.
    func timeToWait(at timestamp: Duration) -> Duration? {
        if let request, request.bound.area <= 0 { return nil }
        return rate.timeToWait(at: timestamp)
    }

    /// The maximum side of a request: no frame is larger.
    private static let largestRequest = 1 << 20

    /// The output's sides are multiples of this.
    private static let alignment = 2

    private static func cropping(_ size: PixelSize, to bound: PixelSize) -> Adaptation {
        // Single precision, as in libwebrtc: the last pixel of a side depends on it.
        let aspect = Float(bound.width) / Float(bound.height)
        let wanted = PixelSize(
            width: min(size.width, Int(Float(size.height) * aspect)),
            height: min(size.height, Int(Float(size.width) / aspect)))
        let scale = ScaleFraction.nearest(to: bound.area, from: wanted)
        let step = scale.denominator * alignment
        let crop = PixelSize(
            width: wanted.width.rounded(toMultipleOf: step, limit: size.width),
            height: wanted.height.rounded(toMultipleOf: step, limit: size.height))
        let output = PixelSize(
            width: crop.width / scale.denominator * scale.numerator,
            height: crop.height / scale.denominator * scale.numerator)
        // If the fraction's denominator is larger than the frame, no fraction is exact: the complete frame is fitted
        // then.
        guard output.area > 0 else {
            return Adaptation(crop: PixelRectangle(x: 0, y: 0, size: size), outputSize: size.fitted(within: bound))
        }
        let corner = PixelRectangle(
            x: (size.width - crop.width) / 2 & ~1, y: (size.height - crop.height) / 2 & ~1, size: crop)
        return Adaptation(crop: corner, outputSize: output)
    }
}

/// The fraction by which a frame's sides are scaled.
private struct ScaleFraction {
    var numerator = 1
    var denominator = 1

    /// Returns the fraction, from 1 and repeated steps of 3/4 and 2/3, that brings `size` nearest to `budget` pixels
    /// without exceeding them.
    static func nearest(to budget: Int, from size: PixelSize) -> ScaleFraction {
        // Starts so that sides that divide by 3 are first scaled by 2/3.
        var current = ScaleFraction()
        if size.width % 3 == 0, size.height % 3 == 0 { current = ScaleFraction(numerator: 6, denominator: 6) }
        if size.width % 9 == 0, size.height % 9 == 0 { current = ScaleFraction(numerator: 36, denominator: 36) }
        var best = ScaleFraction()
        var leastDifference = size.area <= budget ? budget - size.area : Int.max
        while current.pixels(of: size) > budget {
            if current.numerator % 3 == 0, current.denominator % 2 == 0 {
                current = ScaleFraction(numerator: current.numerator / 3, denominator: current.denominator / 2)
            } else {
                current = ScaleFraction(numerator: current.numerator * 3, denominator: current.denominator * 4)
            }
            let difference = budget - current.pixels(of: size)
            if difference >= 0, difference < leastDifference {
                leastDifference = difference
                best = current
            }
        }
        return best.reduced
    }

    private func pixels(of size: PixelSize) -> Int {
        numerator * numerator * size.area / (denominator * denominator)
    }

    private var reduced: ScaleFraction {
        var (a, b) = (numerator, denominator)
        while b != 0 { (a, b) = (b, a % b) }
        return ScaleFraction(numerator: numerator / a, denominator: denominator / a)
    }
}

extension PixelSize {
    /// Returns this size in the orientation of `other`, or as a portrait if that is square.
    fileprivate func oriented(as other: PixelSize) -> PixelSize {
        let (long, short) = (max(width, height), min(width, height))
        return other.width > other.height
            ? PixelSize(width: long, height: short) : PixelSize(width: short, height: long)
    }
}

extension Int {
    /// Rounds up to a multiple of `step`, or down if that exceeds `limit`.
    fileprivate func rounded(toMultipleOf step: Int, limit: Int) -> Int {
        let up = (self + step - 1) / step * step
        return up <= limit ? up : limit / step * step
    }
}

internal import RTCShareCYUV
internal import RTCShareMedia

/// The sharpening of a blurred frame, whose key frame would have taken too long: part by part at the bitrate, each
/// immediately as fine as the pass requires.
///
///     blurred key frame ──▶ readable, part by part ──▶ fine, part by part ──▶ finest, part by part ──▶ nil
///          changes are coded with the next part; too many changes end it ──────────────────────────────▲
///
/// Each macroblock is coded once per pass. Sharpening the whole frame a little with each frame would cost its bits
/// repeatedly.
struct PictureSharpening {
    /// The quantizer of each pass, 0 to 63. After the first, dense text is almost unchanged (SSIM 0.99). The last one
    /// is the finest that is used.
    static let passes = [40, 16, 4]
    /// Returns libvpx's cpu-used for a part. At -1 it tries every mode of every block, which takes fewer bits and four
    /// times as long: worth it if bits are scarce, and so little is coded per second.
    static func speed(bitsPerSecond: Int) -> Int { bitsPerSecond <= 1_000_000 ? -1 : -5 }
    private static let leastDistance = 0.5
    /// The maximum size of one part, as time at the bitrate, if nothing else changes.
    static let share = Duration.milliseconds(100)
    /// The maximum size of changes before the frame is readable. More changes are sent like any other frame.
    static let largestChange = Duration.milliseconds(500)

    /// The fraction of the frame that must change with part after part, as in a video, for a restless frame: its
    /// blurred content is only made readable, since more would take time from the video's frames.
    static let restlessShare = 0.05
    static let mostRestlessParts = 3
    /// The fraction of changes above which the video's own frames sharpen the blurred content.
    static let filmShare = 0.25

    /// The part that the next frame codes.
    struct Part {
        /// The macroblocks that are coded.
        var map: MacroblockMap
        /// The quantizer, 0 to 63.
        let quantizer: Int
    }

    private var pass = 0
    /// The number of completed passes of each macroblock.
    private var levels: [Int]
    /// The distance of each macroblock from its target, as a root mean square. Its bits are about proportional to it.
    private var distances: [Double]
    /// The image that the viewer sees.
    private let shown: StandingPicture
    private var bitsPerDistance = 5.0
    private var current: Part?
    private var restlessParts = 0

    /// Creates the sharpening of `picture`, instead of which `blurred` was sent. The macroblocks of `map` are blurred;
    /// nil means all.
    init(
        of picture: any PixelPlanes, blurred: any PixelPlanes, in map: MacroblockMap? = nil
    ) throws(VideoCodingError) {
        shown = try StandingPicture(size: picture.size)
        var all = MacroblockMap(size: picture.size)
        try shown.update(from: picture, parts: nil, changed: &all)
        levels = (map ?? all).cells.map { $0 == 1 ? 0 : Self.passes.count }
        // Even where nothing was blurred, the coarse key frame is visible.
        distances = try Self.distances(picture, blurred).map { max($0, Self.leastDistance) }
    }

    /// Returns the part of this frame to code now; nil if everything is as fine as possible, or if so much changed that
    /// the whole frame must be coded. `changed` has all differences from the previous frame; nil means that they are
    /// unknown. `share` is the maximum size of the part, as time at the bitrate.
    mutating func next(
        _ picture: any PixelPlanes, changed: MacroblockMap? = nil, bitsPerSecond: Int, share: Duration = share
    ) throws(VideoCodingError) -> Part? {
        guard picture.size == shown.size else { return nil }
        let change = changed?.share ?? 0
        if change > Self.restlessShare { restlessParts += 1 }
        let isRestless = restlessParts >= Self.mostRestlessParts
        guard !isRestless || pass == 0 && change <= Self.filmShare else { return nil }
        var map = MacroblockMap(size: picture.size)
        let changeBits = changed?.isEmpty == true ? 0 : try noteChanges(in: picture, map: &map)
        let room = Double(bitsPerSecond) * (share / .seconds(1))
        let most = pass == 0 ? Double(bitsPerSecond) * (Self.largestChange / .seconds(1)) : room / 2
        guard changeBits <= most else { return nil }
        // Whatever changes, blurred content is still sharpened.
        let left = max(room - changeBits, room / 4)
        // If something small changes all the time, unchanged content still continues with the next pass.
        while !take(left, map: &map), map.isEmpty || isRestless || changeBits <= room / 4 {
            pass += 1
            guard pass < Self.passes.count, !isRestless else { return nil }
        }
        current = Part(map: map, quantizer: Self.passes[pass])
        return current
    }

    /// Records the size of the part that ``next(_:changed:bitsPerSecond:share:)`` returned.
    mutating func record(byteCount: Int) {
        guard let current else { return }
        var distance = 0.0
        for index in levels.indices where current.map.cells[index] == 1 {
            distance += distances[index]
            levels[index] = pass + 1
        }
        let seen = Double(byteCount) * 8 / max(distance, 1)
        bitsPerDistance = min(max((bitsPerDistance + seen) / 2, bitsPerDistance / 2), bitsPerDistance * 2)
        self.current = nil
    }

    /// Adds the changed macroblocks to the map, and returns their estimated bits.
    private mutating func noteChanges(
        in picture: any PixelPlanes, map: inout MacroblockMap
    ) throws(VideoCodingError) -> Double {
        let changes = try Self.distances(picture, shown)
        try shown.update(from: picture, parts: nil, changed: &map)
        var bits = 0.0
        for (index, change) in changes.enumerated() where map.cells[index] == 1 {
            levels[index] = 0
            distances[index] = max(distances[index], change)
            bits += distances[index] * bitsPerDistance
        }
        return bits
    }

    /// Adds the pending macroblocks of this pass, as many as the bits allow. Returns false if there are none.
    private mutating func take(_ bits: Double, map: inout MacroblockMap) -> Bool {
        var left = bits
        var takesAny = false
        for index in levels.indices where levels[index] <= pass && map.cells[index] == 0 {
            guard left > 0 else { break }
            map.insert(index)
            left -= distances[index] * bitsPerDistance
            takesAny = true
        }
        return takesAny
    }

    /// Returns the distance of each macroblock between two I420 frames of one size.
    private static func distances(
        _ one: any PixelPlanes, _ other: any PixelPlanes
    ) throws(VideoCodingError) -> [Double] {
        let size = one.size
        return try one.withPlanePointers { (first) throws(VideoCodingError) -> [Double] in
            try other.withPlanePointers { (second) throws(VideoCodingError) -> [Double] in
                var result: [Double] = []
                for top in stride(from: 0, to: size.height, by: 16) {
                    for left in stride(from: 0, to: size.width, by: 16) {
                        let (width, height) = (min(16, size.width - left), min(16, size.height - top))
                        var sum = first.first.sumOfSquaredDifferences(
                            to: second.first, x: left, y: top, width: width, height: height)
                        for (one, other) in [(first.second, second.second), (first.third, second.third)] {
                            sum += one.sumOfSquaredDifferences(
                                to: other, x: left / 2, y: top / 2, width: (width + 1) / 2, height: (height + 1) / 2)
                        }
                        result.append((Double(sum) / 256).squareRoot())
                    }
                }
                return result
            }
        }
    }
}

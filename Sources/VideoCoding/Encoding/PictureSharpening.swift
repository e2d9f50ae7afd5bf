internal import RTCShareCYUV
internal import RTCShareMedia

/// How a picture that went out blurred, since its key frame would have taken too long, becomes sharp: part by part, each
/// as fine at once as a pass wants it, at the bitrate.
///
///     blurred key frame ──▶ readable, part by part ──▶ fine, part by part ──▶ finest, part by part ──▶ nil
///          what changes meanwhile goes with the next part; what changes too much ends it ──────────────▲
///
/// Each macroblock is coded once a pass: to sharpen the whole picture a little with each frame would pay for it again
/// and again.
struct PictureSharpening {
    /// The quantizer of each pass, 0 to 63. After the first, dense text is as good as unchanged (SSIM 0.99); the last is the
    /// finest that is used.
    static let passes = [40, 16, 4]
    /// libvpx's cpu-used for a part. At -1 it looks at every mode of every block, which takes fewer bits and four times as
    /// long: worth it where bits are few, and so what is coded in a second.
    static func speed(bitsPerSecond: Int) -> Int { bitsPerSecond <= 1_000_000 ? -1 : -5 }
    private static let leastDistance = 0.5
    /// What one part may take, in time at the bitrate, where nothing else changes.
    static let share = Duration.milliseconds(100)
    /// What changes may take meanwhile before the picture is readable; more are sent as any other picture.
    static let largestChange = Duration.milliseconds(500)

    /// Where more of the picture than this changes with part after part, a film for instance, what is blurred is made
    /// readable, and no more: it costs time that the film's pictures need.
    static let restlessShare = 0.05
    static let mostRestlessParts = 3
    /// Where more than this does, what is blurred becomes sharp with the film's own frames.
    static let filmShare = 0.25

    /// What the next frame is to code.
    struct Part {
        /// The macroblocks that are coded.
        var map: MacroblockMap
        /// 0 to 63.
        let quantizer: Int
    }

    private var pass = 0
    /// How many passes each macroblock has behind it.
    private var levels: [Int]
    /// How far each macroblock was from what it should show, as a root mean square: what it takes is about
    /// proportional to it.
    private var distances: [Double]
    /// What the viewer is being shown.
    private let shown: StandingPicture
    private var bitsPerDistance = 5.0
    private var current: Part?
    private var restlessParts = 0

    /// `picture` is to be shown, and `blurred` went out for it, of which the macroblocks of `map` are blurred; nil is all.
    init(
        of picture: any PixelPlanes, blurred: any PixelPlanes, in map: MacroblockMap? = nil
    ) throws(VideoCodingError) {
        shown = try StandingPicture(size: picture.size)
        var all = MacroblockMap(size: picture.size)
        try shown.update(from: picture, parts: nil, changed: &all)
        levels = (map ?? all).cells.map { $0 == 1 ? 0 : Self.passes.count }
        // Where nothing was blurred the coarse key frame shows all the same.
        distances = try Self.distances(picture, blurred).map { max($0, Self.leastDistance) }
    }

    /// What to code of this picture now; nil where it is as fine as can be, or where the whole of it is to be coded since
    /// too much of it changed. `changed` has all that differs from the picture before; nil is that nobody knows. `share`: what
    /// the part may take, in time at the bitrate.
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
        // However much changes, what is blurred becomes sharp.
        let left = max(room - changeBits, room / 4)
        // Where something small changes all the time, what rests goes on to the next pass beside it.
        while !take(left, map: &map), map.isEmpty || isRestless || changeBits <= room / 4 {
            pass += 1
            guard pass < Self.passes.count, !isRestless else { return nil }
        }
        current = Part(map: map, quantizer: Self.passes[pass])
        return current
    }

    /// The part that ``next(_:bitsPerSecond:)`` named came out in so many bytes.
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

    /// Marks what shows something new, and gives what that will take.
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

    /// Marks what this pass has still to do, as much as there are bits for; false where there is nothing.
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

    /// How far each macroblock of two I420 pictures of one size is from the other's.
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
                        var sum = squares(first.first, second.first, left, top, width, height)
                        for (one, other) in [(first.second, second.second), (first.third, second.third)] {
                            sum += squares(one, other, left / 2, top / 2, (width + 1) / 2, (height + 1) / 2)
                        }
                        result.append((Double(sum) / 256).squareRoot())
                    }
                }
                return result
            }
        }
    }

    private static func squares(
        _ one: PlanePointer, _ other: PlanePointer, _ left: Int, _ top: Int, _ width: Int, _ height: Int
    ) -> UInt64 {
        ComputeSumSquareErrorPlane(
            one.first + top * Int(one.stride) + left, one.stride, other.first + top * Int(other.stride) + left,
            other.stride, Int32(width), Int32(height))
    }
}

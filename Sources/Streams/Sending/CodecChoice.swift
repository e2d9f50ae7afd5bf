internal import RTCShareMedia
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Chooses the codec of a video for all viewers who accept it, without a clock.
///
///                the route carries few bits for the size, and the machine has time
///     quickest ──────────────────────────────────────────────────────────────────────▶ smallest
///              ◀──────────────────────────────────────────────────────────────────────
///                it carries many bits; or for a while that doubles each time, the machine is too slow, or text scrolls
///                so fast that it is coarse or late: the quickest codec can move it
///
/// The codec with the smallest frames takes the most time for them. If the route carries much, the time for a page is
/// longer than what it saves on the way, so that the page arrives later.
struct CodecChoice {
    /// The bitrate per pixel below which a page arrives sooner in the codec with the smallest frames.
    private static let leastBitsPerPixel = 1.7
    /// The time for which a route's bitrate must suggest the other codec.
    private static let patience = Duration.seconds(5)
    /// The ratio of a bitrate to that before the choice is reversed.
    private static let hysteresis = 1.3
    /// The maximum number of pixels, above which a page takes longer than a second in that codec.
    private static let largestArea = 4_000_000
    /// The bits per pixel at which a page of dense text in VP8 is sharp.
    private static let bitsPerPixelOfText = 5.0
    /// The usual bitrate of small videos.
    private static let leastUsualBitrate = DataRate.kilobitsPerSecond(2500)
    /// The coarseness of 127 from which scrolling text is hard to read, the time at the bitrate from which a frame of it is
    /// late, and the number of such frames between updates that leads to the quickest codec.
    private static let coarse = 95
    private static let late = Duration.milliseconds(250)
    private static let mostPoorScrolls = 2
    /// The time for which the quickest codec is used instead, at first and at most.
    private static let firstRest = Duration.seconds(30)
    private static let longestRest = Duration.seconds(600)

    /// The choice of the owner; nil for an automatic one.
    let wanted: [VideoCodec]?
    /// The codecs that are available, the quickest first.
    private let codecs: [VideoCodec]
    private(set) var reason: CodecDecision.Reason
    private var rest = Self.firstRest
    private var restsUntil = Duration.zero
    private var hasDecided = false
    /// The time at which the order changes if the bitrate still suggests it then; nil if it does not suggest a change.
    private var changesAt: Duration?
    private var reasonOfRest = CodecDecision.Reason.processor
    /// The number of coarse or late frames of scrolling content since the last update.
    private var poorScrolls = 0
    private var bitrate = DataRate.zero

    /// Creates the choice of the owner, or an automatic one for nil.
    init(_ wanted: [VideoCodec]?) {
        self.init(wanted ?? VideoCodec.available, wanted: wanted)
    }

    /// Creates an automatic choice.
    init(automaticAmong codecs: [VideoCodec]) {
        self.init(codecs, wanted: nil)
    }

    private init(_ codecs: [VideoCodec], wanted: [VideoCodec]?) {
        self.wanted = wanted
        self.codecs = wanted == nil ? codecs.sorted { $0.relativeEffort < $1.relativeEffort } : codecs
        reason = wanted != nil ? .chosen : codecs.count > 1 ? .quickest : .only
    }

    /// Whether the choice can change by itself.
    private var isAutomatic: Bool { wanted == nil && codecs.count > 1 }

    /// Whether the codec with the smallest frames comes first.
    var prefersSmallest: Bool { reason == .sharpest }

    /// The codecs, the best first.
    var order: [VideoCodec] {
        guard isAutomatic, prefersSmallest else { return codecs }
        return codecs.sorted { $0.relativeSize < $1.relativeSize }
    }

    /// Returns the choice, with its reason. Codecs that failed are replaced by the next one, if there is one.
    func decision(failed: Set<VideoCodec> = [], now: Duration) -> CodecDecision? {
        guard let codec = order.first else { return nil }
        if failed.contains(codec), let next = order.first(where: { !failed.contains($0) }) {
            return CodecDecision(codec: next.name, reason: .failed, alternative: codec.name, retryTime: nil)
        }
        let smallest = codecs.min { $0.relativeSize < $1.relativeSize }
        return CodecDecision(
            codec: codec.name, reason: reason,
            alternative: [.processor, .scrolling, .size].contains(reason) ? smallest?.name : nil,
            retryTime: [.processor, .scrolling].contains(reason) ? max(restsUntil - now, .zero) : nil)
    }

    /// Counts an encoded frame.
    mutating func count(_ frame: EncodedVideoFrame) {
        guard prefersSmallest, frame.isScroll, frame.format === order.first?.format else { return }
        let time = Double(frame.data.count * 8) / Double(max(bitrate.bitsPerSecond, 1))
        if frame.coarseness > Self.coarse || time > Self.late / .seconds(1) { poorScrolls += 1 }
    }

    /// Updates the choice with the bitrate of the video, its size, and whether the machine is too slow for it. A recorded
    /// video has the quickest codec all the time, since a recording has one.
    ///
    /// The first choice is by the `maximum` bitrate, since a route's is unknown at first.
    mutating func update(
        bitrate: DataRate, maximum: DataRate, size: PixelSize, isTooSlow: Bool, isRecorded: Bool, now: Duration
    ) {
        guard isAutomatic, size.area > 0, bitrate > .zero else { return }
        let scrollsPoorly = poorScrolls >= Self.mostPoorScrolls
        poorScrolls = 0
        self.bitrate = bitrate
        guard !isRecorded else { return reason = .recording }
        if isTooSlow || scrollsPoorly, prefersSmallest {
            restsUntil = now + rest
            rest = min(rest * 2, Self.longestRest)
            reasonOfRest = scrollsPoorly ? .scrolling : .processor
        }
        let next: CodecDecision.Reason =
            if now < restsUntil { reasonOfRest } else if size.area > Self.largestArea { .size } else {
                isCheap(hasDecided ? bitrate : maximum, for: size) ? .sharpest : .quickest
            }
        defer { hasDecided = true }
        guard hasDecided, [.sharpest, .quickest].contains(reason), [.sharpest, .quickest].contains(next),
            next != reason
        else {
            changesAt = nil
            return reason = next
        }
        // Each change costs a key frame, and routes vary.
        let time = changesAt ?? now + Self.patience
        changesAt = time
        guard now >= time else { return }
        changesAt = nil
        reason = next
    }

    /// Whether a bitrate carries so few bits for a size that the codec with the smallest frames is the best one.
    private func isCheap(_ bitrate: DataRate, for size: PixelSize) -> Bool {
        let limit = Self.leastBitsPerPixel * (prefersSmallest ? Self.hysteresis : 1)
        return Double(bitrate.bitsPerSecond) / Double(size.area) <= limit
    }

    /// Returns the bitrate at which a page of dense text becomes sharp within a second, in the codec that comes first
    /// at that bitrate, or in the quickest one while the others rest.
    func usualBitrate(of size: PixelSize, isRecorded: Bool, isResting: Bool = false) -> DataRate {
        let least = Self.leastUsualBitrate
        guard let quickest = codecs.first else { return least }
        // A higher bitrate leads to the quickest codec.
        let highestForSmallest = Self.bitrate(Self.leastBitsPerPixel, for: size)
        if isAutomatic, !isRecorded, !isResting, codecs.contains(where: { $0.relativeSize < quickest.relativeSize }),
            size.area <= Self.largestArea, highestForSmallest >= least
        {
            return highestForSmallest
        }
        return max(Self.bitrate(Self.bitsPerPixelOfText * quickest.relativeSize, for: size), least)
    }

    /// Returns a bitrate in steps of 100 kbit/s, for people to read.
    private static func bitrate(_ bitsPerPixel: Double, for size: PixelSize) -> DataRate {
        let steps = Int(bitsPerPixel * Double(size.area) / 100_000)
        return min(.kilobitsPerSecond(steps * 100), VideoEncodingParameters.bitrates.upperBound)
    }
}

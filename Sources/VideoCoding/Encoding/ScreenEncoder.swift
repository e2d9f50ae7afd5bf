internal import Glibc
internal import RTCShareCYUV
internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

/// An encoder for screens: a library's, with macroblocks and a quantizer of each frame that are chosen here.
///
///     changed ─▶ the changes, and coarse macroblocks for the bits that they leave ──┐
///     unchanged ─▶ the coarsest macroblocks, as many as the bits allow, finer ──────┼▶ copied onto what viewers have
///     key frame ─▶ all, so coarse that it arrives soon ────────────────────────────┘    ─▶ library
///
/// Libraries have no maps of macroblocks to code, or ignore them. Instead, the others are given to them as viewers have
/// them, so that there is nothing to code.
final class ScreenEncoder<Coder: FrameCoder>: PictureEncoder {
    let coder: Coder
    private var control = QuantizerControl(Coder.range.scale)
    private(set) var ledger = BitLedger()
    private(set) var newShare = 0.0
    private var scrollSearch = ScrollSearch(largestDistance: Coder.largestScroll)
    /// The image that viewers have. Macroblocks that are coded next are copied into it.
    private(set) var shown: I420Picture
    /// The image that the coder keeps; nil if there is none.
    private var kept: I420Picture?
    private var refinement: RefinementPasses
    /// The macroblocks that the last frame coded. A library can skip them if the next one has the same source there.
    private(set) var drawn: MacroblockMap
    private var keyFrameIsDue = true
    private var lastKeyFrameAt: Duration?
    private var lastRotation = VideoRotation.upright
    /// Whether the coder uses palettes.
    private var hasPalettes = false
    private var lastChangeAt: Duration?
    /// The time of the last change that was large, such as a new page or a part of motion.
    private var lastLargeChangeAt: Duration?
    private var lastQuantizer = Coder.range.coarsest

    /// The size of a refinement as time at the bitrate: changes wait for it.
    private static var refinementTime: Duration { .milliseconds(100) }
    /// The time without large changes after which one is a new page.
    private static var pageTime: Duration { .milliseconds(500) }
    /// The time without large changes after which a frame is kept: it was not part of motion.
    private static var keptTime: Duration { .milliseconds(200) }
    /// The maximum size of a new page as time at the bitrate: the next change waits for it, and it becomes finer then.
    private static var pageBitsTime: Duration { .milliseconds(200) }
    /// The fraction of the frame from which new content can be a key frame.
    private static var pageShare: Double { 0.5 }
    /// The first pass that is tried without large changes: the coarser ones before it would only cost bits.
    private static var restingPass: Int { 2 }
    /// The fraction of the bits of large changes that makes the rest finer, if that is coarse.
    private static var reserve: Double { 0.4 }
    /// The bits that can be queued by a change with a refinement, as time at the bitrate: the next change waits for them.
    private static var queueTime: Duration { .milliseconds(50) }
    /// The maximum size of a small change, as a fraction of a frame's part of the bitrate.
    private static var smallShare: Double { 0.5 }
    /// The maximum number of macroblocks that are not worth more time.
    private static var few: Int { 16 }
    /// The minimum size of a delta frame, relative to that of a key frame that replaces it.
    private static var keyFrameWorth: Double { 1.5 }
    /// The bits of a macroblock that becomes finer, as a fraction of those of a new one.
    private static var refinementShare: Double { 0.6 }
    private static var range: QuantizerRange { Coder.range }

    init(size: PixelSize, hint: ContentHint = .detail) throws(VideoCodingError) {
        coder = try Coder(size: size, hint: hint)
        shown = try I420Picture(size: size)
        drawn = MacroblockMap(size: size)
        refinement = RefinementPasses(Self.range, of: drawn)
    }

    /// The macroblocks of the next frame, and how they are coded.
    private struct Step {
        var map: MacroblockMap
        var quantizer: Int
        /// The content of the changes; nil at rest.
        var change: QuantizerControl.Picture?
        var isKeyFrame = false
        /// Whether the last frame can return, since this is the first large change for some time: a menu, for example.
        var keepsLast = false
        /// Whether the change has more content than a frame's part of the bitrate carries.
        var isLarge = false
        /// The unchanged content that becomes finer in a pass; nil if there is none.
        var refinement: Refinement?

        /// A key frame tries palettes anyway, and a letter costs as few bits without them.
        var effort: FrameEffort {
            let isThorough = !isKeyFrame && change?.activity.isMostlyFlat == true && map.count > ScreenEncoder.few
            return isThorough ? .thorough : refinement == nil ? .quick : .refining
        }

        typealias Refinement = (pass: Int, map: MacroblockMap, content: QuantizerControl.Picture)

        mutating func refine(_ part: Refinement?) {
            guard let part else { return }
            map = map.union(part.map)
            refinement = part
        }

        /// Adopts the choices of a library that coded the frame in another way. Its own key frame contains everything, so
        /// that its size tells nothing about the changes.
        mutating func adopt(_ coded: CodedFrame) {
            quantizer = coded.replacement ?? quantizer
            guard coded.isKeyFrame, !isKeyFrame else { return }
            map.insertAll()
            isKeyFrame = true
            isLarge = true
            refinement = nil
            change = .init(kind: .keyFrame, activity: .init())
        }
    }

    func encode(
        _ input: inout PictureInput, timestamp: Duration, asKeyFrame: Bool, order: EncodingOrder
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: EncodingOutcome) {
        guard let picture = input.picture else { throw .emptyPicture }
        try prepare(for: picture.size, hint: order.hint)
        hasPalettes = Self.range.scale.palettes != nil && order.hint != .motion
        ledger = order.ledger
        var scrolls = order.hint == .motion ? nil : try input.findScrolls(by: &scrollSearch, order.settings.heuristics)
        let returns = try returns(picture, in: input.changed)
        if returns { scrolls = nil }
        // Not one key frame after the other.
        let maySave = !returns && Self.isPause(Self.pageTime, since: lastKeyFrameAt, now: timestamp)
        newShare = input.newShare(after: scrolls)
        let needsKeyFrame = asKeyFrame || keyFrameIsDue
        // After a failure, what viewers have is unknown.
        keyFrameIsDue = true
        let moves = try needsKeyFrame ? nil : move(scrolls)
        let changed = moves?.rest ?? input.changed
        var step =
            if needsKeyFrame {
                try keyFrame(of: picture, order: order)
            } else if changed.isEmpty {
                try rest(of: picture, bits: moves == nil ? ledger.bits(in: Self.refinementTime) : queueBits)
            } else {
                try change(
                    of: picture, changed, after: moves == nil ? scrolls : nil, maySaveByKeyFrame: maySave,
                    timestamp: timestamp, order: order)
            }
        // Where something was just coded, the coder must first be given another source: it could skip the next one.
        if order.isNew, step.map.isEmpty, drawn.isEmpty, moves == nil, input.rotation == lastRotation {
            keyFrameIsDue = false
            return ([], .unchanged)
        }
        var coded = try code(step, of: picture)
        if let size = coded?.data.count, maySave,
            let smaller = try keyFrame(of: picture, insteadOf: step, size, order: order)
        {
            step = smaller
            coded = try code(step, of: picture)
        }
        guard let coded else { return ([], .dropped) }
        keyFrameIsDue = false
        lastRotation = input.rotation
        step.adopt(coded)
        if step.change != nil || moves != nil { lastChangeAt = timestamp }
        if step.isLarge { lastLargeChangeAt = timestamp }
        if coded.isKeyFrame { (kept, lastKeyFrameAt) = (nil, timestamp) }
        account(for: coded.data.count, with: coded.isKeyFrame ? 0 : moves?.byteCount ?? 0, of: step)
        let coarseness = Self.range.coarseness[step.quantizer]
        drawn = step.map
        try recordQuality(of: picture, after: step)
        if step.change != nil { lastQuantizer = step.quantizer }
        input.didEncode()
        var frame = EncodedVideoFrame(
            data: coded.data, format: Coder.format, isKeyFrame: coded.isKeyFrame, size: picture.size,
            timestamp: timestamp, rotation: input.rotation, quantizer: coded.quantizer, coarseness: coarseness,
            contentHint: order.hint)
        frame.canBeFiner = refinement.isUnfinished
        frame.becomesFinest = true
        frame.isScroll = scrolls != nil
        return ([], .encoded(frame))
    }

    /// Whether most of the changes restore the kept frame, such as a menu that closes. Those are not scrolls, even if text
    /// in them looks alike.
    private func returns(_ picture: StandingPicture, in changed: MacroblockMap) throws(VideoCodingError) -> Bool {
        guard let kept else { return false }
        var count = 0
        try Self.forEachCoarseness(of: kept, as: picture, in: changed) { if $1 <= Coarseness.fine { count += 1 } }
        return count * 2 > changed.count
    }

    private func code(_ step: Step, of picture: StandingPicture) throws(VideoCodingError) -> CodedFrame? {
        if step.map.isEmpty, let repetition = coder.repetition() { return repetition }
        if step.keepsLast {
            if kept == nil { kept = try I420Picture(size: shown.size) }
            kept?.copy(from: shown)
        }
        try draw(picture, in: step.map)
        return try coder.encode(
            replacing: shown, quantizer: step.quantizer, asKeyFrame: step.isKeyFrame, keepsLast: step.keepsLast,
            effort: step.effort)
    }

    /// Moves parts of what viewers have. Returns the size of that and the changes that are left; nil if the coder can't.
    private func move(
        _ scrolls: ScrollSearch.Finding?
    ) throws(VideoCodingError) -> (byteCount: Int, rest: MacroblockMap)? {
        guard let scrolls else { return nil }
        var byteCount = 0
        for scroll in scrolls.scrolls {
            guard let count = try coder.move(scroll, in: shown) else {
                guard byteCount == 0 else {
                    throw .codecFailed(
                        library: Coder.format.encodingName, operation: "moving", reason: "only some moves are possible")
                }
                return nil
            }
            byteCount += count
            refinement.move(scroll)
        }
        refinement.smear(scrolls.smeared, to: Self.restingPass)
        drawn.removeAll()
        return (byteCount, MacroblockMap(size: shown.size, cells: scrolls.remaining))
    }

    /// Charges the bits of a frame, of which some are moves, and learns from them. Changes and a refinement had the
    /// others in the expected ratio.
    private func account(for byteCount: Int, with moveByteCount: Int, of step: Step) {
        let change = step.change.map { control.bits($0, at: step.quantizer) } ?? 0
        let refinement = step.refinement.map { control.bits($0.content, at: step.quantizer) } ?? 0
        let changeShare = step.change == nil ? 0 : step.refinement == nil ? 1 : change / max(change + refinement, 1)
        ledger.spend(byteCount: byteCount, changeShare: changeShare)
        let ratio = Double(max(byteCount - moveByteCount, 1) * 8) / max(change + refinement, 1)
        for (part, bits) in [(step.change, change), (step.refinement?.content, refinement)] where bits > 0 {
            if let part { control.record(Int(bits * ratio), for: part, quantizer: step.quantizer) }
        }
    }

    private func prepare(for size: PixelSize, hint: ContentHint) throws(VideoCodingError) {
        if size != shown.size {
            shown = try I420Picture(size: size)
            kept = nil
            drawn = MacroblockMap(size: size)
            refinement = RefinementPasses(Self.range, of: drawn)
        }
        if try coder.reconfigure(size: size, hint: hint) { keyFrameIsDue = true }
    }

    /// Copies macroblocks of a frame onto what viewers have.
    private func draw(_ picture: StandingPicture, in map: MacroblockMap) throws(VideoCodingError) {
        try picture.withPlanePointers { (planes) throws(VideoCodingError) in
            for rectangle in map.rectangles(of: 1) {
                let size = PixelSize(
                    width: min(rectangle.size.width, picture.size.width - rectangle.x),
                    height: min(rectangle.size.height, picture.size.height - rectangle.y))
                let part = PixelRectangle(x: rectangle.x, y: rectangle.y, size: size)
                try planes.convert(part, .i420, to: shown.samples.from(x: part.x, y: part.y))
            }
        }
    }

    /// Records how fine the coded macroblocks are, and those near them. Libraries skip some, in particular those that
    /// moved, and change some that were not to be coded.
    private func recordQuality(of picture: StandingPicture, after step: Step) throws(VideoCodingError) {
        try Self.forEachCoarseness(of: shown, as: picture, in: step.map.withSurroundings()) { index, found in
            if step.map.cells[index] == 0 {
                refinement.didCheck(index, coarseness: found)
            } else {
                let pass = step.refinement.flatMap { $0.map.cells[index] != 0 ? $0.pass : nil }
                refinement.didCode(index, coarseness: found, tried: pass)
            }
        }
    }

    /// Calls `body` with each macroblock of `map`, and its coarseness in an image of the picture.
    private static func forEachCoarseness(
        of image: I420Picture, as picture: StandingPicture, in map: MacroblockMap,
        _ body: (_ index: Int, _ coarseness: Int) -> Void
    ) throws(VideoCodingError) {
        try picture.withPlanePointers { (source) throws(VideoCodingError) in
            try image.withPlanePointers { (image) throws(VideoCodingError) in
                for index in map.cells.indices where map.cells[index] != 0 {
                    let (x, y) = (index % map.columns * 16, index / map.columns * 16)
                    let (width, height) = (min(16, picture.size.width - x), min(16, picture.size.height - y))
                    let sum = ComputeSumSquareErrorPlane(
                        source.first.first + y * Int(source.first.stride) + x, source.first.stride,
                        image.first.first + y * Int(image.first.stride) + x, image.first.stride, Int32(width),
                        Int32(height))
                    body(index, Coarseness.of(meanSquaredError: Double(sum) / Double(width * height)))
                }
            }
        }
    }

    // MARK: Choices

    private func keyFrame(of picture: StandingPicture, order: EncodingOrder) throws(VideoCodingError) -> Step {
        var map = MacroblockMap(size: picture.size)
        map.insertAll()
        let content = QuantizerControl.Picture(kind: .keyFrame, activity: try activity(of: picture))
        let quantizer = control.quantizer(
            for: content, bits: ledger.pageBits, in: Self.range.finestKeyFrame...Self.coarsest(order))
        return Step(map: map, quantizer: quantizer, change: content, isKeyFrame: true, isLarge: true)
    }

    /// The bits that can wait in the queue, beyond those that do.
    private var queueBits: Double { ledger.bits(in: Self.queueTime) - ledger.debt }

    /// Returns the step for a key frame to replace a delta frame of this many bytes, if it would be much smaller: libaom
    /// tries no palettes where the old text predicts a little of the new one.
    private func keyFrame(
        of picture: StandingPicture, insteadOf step: Step, _ byteCount: Int, order: EncodingOrder
    ) throws(VideoCodingError) -> Step? {
        let bits = Double(byteCount * 8)
        guard !step.isKeyFrame, step.change?.activity.isMostlyFlat == true else { return nil }
        guard ledger.duration(of: bits) > BitLedger.slack else { return nil }
        let keyFrame = try keyFrame(of: picture, order: order)
        guard let content = keyFrame.change, content.activity.isMostlyFlat else { return nil }
        return control.bits(content, at: keyFrame.quantizer) * Self.keyFrameWorth < bits ? keyFrame : nil
    }

    /// Returns the step for changes: as fine as the ledger allows, with coarse macroblocks for the bits that they leave.
    private func change(
        of picture: StandingPicture, _ changed: MacroblockMap, after scrolls: ScrollSearch.Finding?,
        maySaveByKeyFrame: Bool, timestamp: Duration, order: EncodingOrder
    ) throws(VideoCodingError) -> Step {
        // What moved is predicted.
        let new = scrolls.map { MacroblockMap(size: picture.size, cells: $0.remaining) } ?? changed
        let activity = try activity(of: picture, in: new)
        let share = ledger.bits(in: .seconds(1 / order.framesPerSecond))
        let isLarge =
            control.bits(.init(kind: .following, activity: activity), at: Self.range.finestKeyFrame) > share
        let isNewPage = isLarge && Self.isPause(Self.pageTime, since: lastLargeChangeAt, now: timestamp)
        if new.share > Self.pageShare, maySaveByKeyFrame {
            if isNewPage, Self.range.codesPagesAsKeyFrames { return try keyFrame(of: picture, order: order) }
            // A key frame of a page of plain text takes half the bits.
            if activity.isMostlyFlat {
                let keyFrame = try keyFrame(of: picture, order: order)
                if keyFrame.change?.activity.isMostlyFlat == true { return keyFrame }
            }
        }
        let content = QuantizerControl.Picture(kind: isNewPage ? .page : .following, activity: activity)
        let allowed = control.allowance(share: share, for: content.kind, from: ledger)
        let allowance = isNewPage ? min(allowed, ledger.bits(in: Self.pageBitsTime)) : allowed
        let coarsest = Self.coarsest(order)
        let finest =
            isNewPage || Self.isPause(Self.pageTime, since: lastChangeAt, now: timestamp)
            ? Self.range.finestChange : control.slightlyFiner(than: lastQuantizer, notBelow: Self.range.finestChange)
        // Small changes are as fine as the rest becomes. Changes that moved become finer, too, which costs bits.
        let all = scrolls == nil ? activity : try self.activity(of: picture, in: changed)
        let moved = QuantizerControl.Picture(
            kind: content.kind, activity: activity + (all - activity) * Self.refinementShare)
        let isSmall =
            control.bits(moved, at: Self.range.passes[Self.restingPass]) <= share * Self.smallShare
        let next = refinement.next(except: changed, drawn, from: isSmall ? Self.restingPass : 0)
        // Otherwise motion in a part would take all bits, and the rest would stay coarse.
        let reserve = next.map { !isSmall && $0.pass <= Self.restingPass } == true ? allowance * Self.reserve : 0
        var step = Step(
            map: changed,
            quantizer: control.quantizer(for: content, bits: allowance - reserve, in: min(finest, coarsest)...coarsest),
            change: content)
        step.isLarge = isLarge
        step.keepsLast =
            isLarge && Coder.keepsFrames && Self.isPause(Self.keptTime, since: lastLargeChangeAt, now: timestamp)
        guard let next else { return step }
        let pass = Self.range.passes[next.pass]
        if isSmall, control.bits(moved, at: pass) <= share * Self.smallShare {
            step.quantizer = min(step.quantizer, pass)
        }
        guard step.quantizer <= pass else { return step }
        let bits = queueBits - control.bits(content, at: step.quantizer)
        step.refine(try part(of: next, in: picture, bits: max(bits, reserve), quantizer: step.quantizer))
        return step
    }

    /// Whether the last change is so long ago that the next one is the first of new ones.
    private static func isPause(_ time: Duration, since last: Duration?, now: Duration) -> Bool {
        last.map { now - $0 >= time } ?? true
    }

    /// Returns the step for unchanged content.
    private func rest(of picture: StandingPicture, bits: Double) throws(VideoCodingError) -> Step {
        var step = Step(map: MacroblockMap(size: picture.size), quantizer: Self.range.passes[Self.restingPass])
        guard let next = refinement.next(except: drawn, from: Self.restingPass) else { return step }
        step.quantizer = Self.range.passes[next.pass]
        step.refine(try part(of: next, in: picture, bits: bits, quantizer: step.quantizer))
        return step
    }

    /// Returns as many of the macroblocks as the bits allow; nil for none.
    private func part(
        of next: (pass: Int, map: MacroblockMap), in picture: StandingPicture, bits: Double, quantizer: Int
    ) throws(VideoCodingError) -> Step.Refinement? {
        guard bits > 0 else { return nil }
        var content = QuantizerControl.Picture(kind: .refinement(pass: next.pass), activity: PictureActivity())
        var map = MacroblockMap(size: picture.size)
        // What is predicted well is not coded as palettes.
        try PictureActivity.forEach(of: picture, in: next.map) { index, value in
            let larger = QuantizerControl.Picture(kind: content.kind, activity: content.activity + value)
            guard control.bits(larger, at: quantizer) <= bits || map.isEmpty else { return false }
            map.insert(index)
            content = larger
            return true
        }
        return map.isEmpty ? nil : (next.pass, map, content)
    }

    private func activity(
        of picture: StandingPicture, in map: MacroblockMap? = nil
    ) throws(VideoCodingError) -> PictureActivity {
        try PictureActivity.sum(of: picture, in: map, hasPalettes: hasPalettes)
    }

    /// Returns the coarsest quantizer.
    private static func coarsest(_ order: EncodingOrder) -> Int {
        range.quantizer(upTo: order.maximumCoarseness)
    }
}

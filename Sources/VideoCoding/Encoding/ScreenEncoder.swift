internal import Glibc
internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

/// An encoder for screens: a library's, with macroblocks and a quantizer of each frame that are chosen here.
///
///     moved, of few colors ─▶ exact, by the coder without its library
///     changed ─▶ the changes, and coarse macroblocks for the bits that they leave ──┐
///     unchanged ─▶ the coarsest macroblocks, as many as the bits allow, finer ──────┼▶ copied onto what viewers have
///     key frame ─▶ all, so coarse that it arrives soon ────────────────────────────┘    ─▶ library
///
/// Libraries have no maps of macroblocks to code, or ignore them. Instead, the others are given to them as viewers have
/// them, so that there is nothing to code.
final class ScreenEncoder<Coder: FrameCoder>: PictureEncoder {
    let coder: Coder
    private var control = QuantizerControl(Coder.range.scale, motion: Coder.range.motionScale)
    private(set) var ledger = BitLedger()
    private(set) var newShare = 0.0
    private var scrollSearch = ScrollSearch(largestDistance: Coder.largestScroll)
    /// The image that viewers have. Macroblocks that are coded next are copied into it.
    private(set) var shown: I420Picture
    /// The image that the coder keeps; nil if there is none.
    private var kept: I420Picture?
    private var refinement: RefinementPasses
    /// The macroblocks whose colors scrolls have smeared, with palettes. libaom compares luma, and leaves them so.
    private var smeared: MacroblockMap
    /// The macroblocks that the last frame coded. A library can skip them if the next one has the same source there.
    private(set) var drawn: MacroblockMap
    private var keyFrameIsDue = true
    private var lastRotation = VideoRotation.upright
    /// Whether the coder uses palettes.
    private var hasPalettes = false
    private var lastChangeAt: Duration?
    /// The time of the last change that was large, such as a new page or a part of motion.
    private var lastLargeChangeAt: Duration?
    private var lastQuantizer = Coder.range.coarsest
    /// The bits of the frame without the library.
    private var updateBits = 0.0
    /// The time until which each macroblock is not painted: one that has too many colors keeps them for some time, as in a
    /// film.
    private var unpaintableUntil: [Duration]
    /// Whether the changes are natural content, such as a film, without palettes.
    private var isNatural = false

    /// The size of a refinement as time at the bitrate: changes wait for it.
    private static var refinementTime: Duration { .milliseconds(100) }
    /// The time without large changes after which one is a new page.
    private static var pageTime: Duration { .milliseconds(500) }
    /// The time without large changes after which a frame is kept: it was not part of motion.
    private static var keptTime: Duration { .milliseconds(200) }
    /// The maximum size of a new page as time at the bitrate: the next change waits for it, and it becomes finer then.
    private static var pageBitsTime: Duration { .milliseconds(200) }
    /// The maximum size of a key frame of a video as time at the bitrate, or three frames if these are rare: the next
    /// frames show other content.
    private static var videoKeyFrameTime: Duration { .milliseconds(150) }
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
    /// The maximum number of macroblocks that are not worth a partial frame beside a frame of the library.
    private static var few: Int { 16 }
    /// The ratio of changed macroblocks to those that can be painted from which palettes are not worth a search.
    private static var fewPaintable: Int { 8 }
    /// The time after which it is determined again whether a macroblock can be painted, which takes time.
    private static var unpaintableTime: Duration { .milliseconds(250) }
    /// The bits of a macroblock that becomes finer, as a fraction of those of a new one.
    private static var refinementShare: Double { 0.6 }
    private static var range: QuantizerRange { Coder.range }

    init(size: PixelSize, hint: ContentHint = .detail) throws(VideoCodingError) {
        coder = try Coder(size: size, hint: hint)
        shown = try I420Picture(size: size)
        drawn = MacroblockMap(size: size)
        smeared = drawn
        unpaintableUntil = Self.noTimes(for: drawn)
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
        (updateBits, isNatural) = (0, false)
        var scrolls = order.hint == .motion ? nil : try input.findScrolls(by: &scrollSearch, order.settings.heuristics)
        let returns = try returns(picture, in: input.changed)
        if returns { scrolls = nil }
        newShare = input.newShare(after: scrolls)
        let needsKeyFrame = asKeyFrame || keyFrameIsDue
        // After a failure, what viewers have is unknown.
        keyFrameIsDue = true
        // While an encoder waits, the content can change all the time.
        let began = timestamp - order.changeDuration
        let update = try needsKeyFrame || returns ? nil : update(picture, input.changed, scrolls, began, order)
        let changed = update?.rest ?? input.changed
        smeared.remove(changed)
        var step =
            if needsKeyFrame {
                try keyFrame(of: picture, order: order)
            } else if changed.isEmpty {
                try rest(of: picture, bits: update == nil ? ledger.bits(in: Self.refinementTime) : queueBits)
            } else {
                try change(
                    of: picture, changed, after: update == nil ? scrolls : nil, began: began, order: order)
            }
        if update?.isLarge == true { (step.isLarge, step.keepsLast) = (true, false) }
        // Where something was just coded, the coder must first be given another source: it could skip the next one.
        if order.isNew, step.map.isEmpty, drawn.isEmpty, update == nil, input.rotation == lastRotation {
            keyFrameIsDue = false
            return ([], .unchanged)
        }
        guard let coded = try code(step, of: picture) else { return ([], .dropped) }
        keyFrameIsDue = false
        lastRotation = input.rotation
        step.adopt(coded)
        if step.change != nil || !input.changed.isEmpty { lastChangeAt = timestamp }
        if step.isLarge { lastLargeChangeAt = timestamp }
        if coded.isKeyFrame {
            (kept, updateBits) = (nil, 0)
            smeared.removeAll()
        }
        account(for: coded.data.count, of: step)
        let coarseness = try recordCoarseness(of: picture, after: step, painted: update?.painted ?? 0, hint: order.hint)
        drawn = step.map
        if step.change != nil { lastQuantizer = step.quantizer }
        input.didEncode()
        var frame = EncodedVideoFrame(
            data: coded.data, format: Coder.format, isKeyFrame: coded.isKeyFrame, size: picture.size,
            timestamp: timestamp, rotation: input.rotation, quantizer: coded.quantizer, coarseness: coarseness,
            contentHint: order.hint)
        frame.quantizerCoarseness = Self.range.coarseness[step.quantizer]
        frame.canBeFiner = refinement.isUnfinished || hasPalettes && !smeared.isEmpty
        frame.becomesFinest = true
        frame.isScroll = scrolls != nil
        return ([], .encoded(frame))
    }

    /// Whether most of the changes restore the kept frame, such as a menu that closes. Those are not scrolls, even if text
    /// in them looks alike.
    private func returns(_ picture: StandingPicture, in changed: MacroblockMap) throws(VideoCodingError) -> Bool {
        guard let kept else { return false }
        var count = 0
        try Self.forEachError(of: kept, as: picture, in: changed, hasColors: false) {
            if Coarseness.of(meanSquaredError: $1) <= Coarseness.fine { count += 1 }
        }
        return count * 2 > changed.count
    }

    private func code(_ step: Step, of picture: StandingPicture) throws(VideoCodingError) -> CodedFrame? {
        // Otherwise the library would skip what was just coded, since it would get the same source there again.
        if step.map.isEmpty, drawn.isEmpty, let repetition = try coder.repetition(of: shown) { return repetition }
        try coder.synchronize(with: shown)
        if step.keepsLast {
            if kept == nil { kept = try I420Picture(size: shown.size) }
            kept?.copy(from: shown)
        }
        try shown.copy(step.map, of: picture)
        return try coder.encode(
            replacing: shown, quantizer: step.quantizer, asKeyFrame: step.isKeyFrame, keepsLast: step.keepsLast,
            refines: step.refinement != nil, isNatural: isNatural && !step.isKeyFrame)
    }

    /// A change of what viewers have without the library.
    private struct Update {
        let painted: Int
        /// The changes that are left.
        let rest: MacroblockMap
        let isLarge: Bool
    }

    /// Moves parts of what viewers have, and paints macroblocks of few colors, which takes no more bits for all of their
    /// detail; nil if the coder can't.
    private func update(
        _ picture: StandingPicture, _ changed: MacroblockMap, _ scrolls: ScrollSearch.Finding?, _ began: Duration,
        _ order: EncodingOrder
    ) throws(VideoCodingError) -> Update? {
        guard hasPalettes || scrolls != nil else { return nil }
        if changed.isEmpty, scrolls == nil { return try repaint(picture) }
        var rest = scrolls.map { MacroblockMap(size: picture.size, cells: $0.remaining) } ?? changed
        let (few, bits, others) = try contents(of: picture, in: rest, now: began)
        let isLarge =
            bits + control.bits(.init(kind: .following, activity: others), at: Self.range.finestKeyFrame)
            > frameBits(order)
        isNatural = few.count < rest.count / Self.fewPaintable
        let isWorth = try isWorthPainting(few, bits, of: picture, in: rest, began, order)
        let painted = isWorth ? few : MacroblockMap(size: picture.size)
        guard scrolls != nil || !painted.isEmpty else { return nil }
        let last = isLarge && scrolls == nil && keepsLast(at: began) ? try I420Picture(size: shown.size) : nil
        last?.copy(from: shown)
        guard
            let update = try coder.update(
                shown, by: scrolls?.scrolls ?? [], painting: painted, of: picture, keepsLast: last != nil)
        else { return nil }
        if update.keepsLast { kept = last }
        if let scrolls {
            var cells = smeared.cells
            for scroll in scrolls.scrolls {
                refinement.move(scroll)
                let before = cells
                scroll.moveLargest(&cells, from: before)
            }
            if hasPalettes { smeared.replace(with: zip(cells, scrolls.smeared).map(max)) }
            refinement.smear(scrolls.smeared, to: Self.restingPass)
            drawn.removeAll()
        }
        didPaint(painted, by: update)
        rest.remove(painted)
        return Update(painted: painted.count, rest: rest, isLarge: isLarge)
    }

    /// Paints macroblocks with smeared colors at rest, as many as a refinement can have; nil if there are none of few
    /// colors.
    private func repaint(_ picture: StandingPicture) throws(VideoCodingError) -> Update? {
        guard !smeared.isEmpty else { return nil }
        let (few, bits, _) = try contents(of: picture, in: smeared, now: nil)
        let most = max(Int(Double(few.count) * ledger.bits(in: Self.refinementTime) / max(bits, 1)), 1)
        var painted = MacroblockMap(size: picture.size)
        for index in few.cells.indices where few.cells[index] != 0 && painted.count < most { painted.insert(index) }
        if painted.count < few.count { smeared.remove(painted) } else { smeared.removeAll() }
        guard !painted.isEmpty,
            let update = try coder.update(shown, by: [], painting: painted, of: picture, keepsLast: false)
        else { return nil }
        didPaint(painted, by: update)
        return Update(painted: painted.count, rest: MacroblockMap(size: picture.size), isLarge: false)
    }

    private func didPaint(_ painted: MacroblockMap, by update: FrameUpdate) {
        updateBits = Double(update.byteCount * 8)
        smeared.remove(painted)
        for index in painted.cells.indices where painted.cells[index] != 0 {
            refinement.didCode(index, coarseness: 0, tried: nil)
        }
    }

    /// Returns the macroblocks of few colors, the bits to paint them, and the content of the others. At rest, `now` is nil,
    /// and all of them are looked at.
    private func contents(
        of picture: StandingPicture, in map: MacroblockMap, now: Duration?
    ) throws(VideoCodingError) -> (painted: MacroblockMap, bits: Double, others: PictureActivity) {
        var painted = MacroblockMap(size: picture.size)
        var bits = 0.0
        var others = PictureActivity()
        var activities: [(index: Int, value: PictureActivity)] = []
        try PictureActivity.forEach(of: picture, in: map, hasPalettes: hasPalettes) { index, value in
            activities.append((index, value))
            return true
        }
        for (index, value) in activities {
            // Natural content has too many colors.
            let isKnown = now.map { $0 < unpaintableUntil[index] } ?? false
            if !isKnown, value.natural == 0, let own = try coder.paintingBits(of: index, in: picture) {
                painted.insert(index)
                bits += own
            } else {
                if let now, !isKnown { unpaintableUntil[index] = now + Self.unpaintableTime }
                others = others + value
            }
        }
        return (painted, bits, others)
    }

    /// Whether macroblocks are better painted than coded by the library. That codes a letter beside other changes as well,
    /// and motion in fewer bits.
    private func isWorthPainting(
        _ map: MacroblockMap, _ bits: Double, of picture: StandingPicture, in changed: MacroblockMap,
        _ began: Duration, _ order: EncodingOrder
    ) throws(VideoCodingError) -> Bool {
        if map.count <= Self.few, map.count < changed.count { return false }
        let isFirst = Self.isPause(Self.pageTime, since: lastLargeChangeAt, now: began)
        // The rate before any reduction: fewer frames mean that bits are short, not that each has more for painting.
        let frames = ledger.bits(in: .seconds(2 / order.settings.framesPerSecond))
        if bits <= (isFirst ? ledger.pageBits : frames) { return true }
        let activity = try PictureActivity.sum(of: picture, in: map)
        let library = control.bits(
            .init(kind: isFirst ? .page : .following, activity: activity), at: Self.coarsest(order))
        return bits <= min(library, BitLedger.largestPage)
    }

    /// Whether the last frame can return if a large change replaces it now.
    private func keepsLast(at began: Duration) -> Bool {
        Coder.keepsFrames && Self.isPause(Self.keptTime, since: lastLargeChangeAt, now: began)
    }

    private func frameBits(_ order: EncodingOrder) -> Double { ledger.bits(in: .seconds(1 / order.framesPerSecond)) }

    /// Charges the bits of a frame, and learns from those of the library. Changes and a refinement had them in the expected
    /// ratio.
    private func account(for byteCount: Int, of step: Step) {
        let change = step.change.map { control.bits($0, at: step.quantizer) } ?? 0
        let refinement = step.refinement.map { control.bits($0.content, at: step.quantizer) } ?? 0
        let changeShare = step.change == nil ? 0 : step.refinement == nil ? 1 : change / max(change + refinement, 1)
        let libraryBits = max(Double(byteCount * 8) - updateBits, 8)
        let changeBits = libraryBits * changeShare + updateBits
        ledger.spend(byteCount: byteCount, changeShare: min(changeBits / Double(max(byteCount * 8, 1)), 1))
        let ratio = libraryBits / max(change + refinement, 1)
        for (part, bits) in [(step.change, change), (step.refinement?.content, refinement)] where bits > 0 {
            if let part { control.record(Int(bits * ratio), for: part, quantizer: step.quantizer) }
        }
    }

    private static func noTimes(for map: MacroblockMap) -> [Duration] {
        Array(repeating: .zero, count: map.cells.count)
    }

    private func prepare(for size: PixelSize, hint: ContentHint) throws(VideoCodingError) {
        control.isMotion = hint == .motion
        if size != shown.size {
            shown = try I420Picture(size: size)
            keyFrameIsDue = true
            kept = nil
            drawn = MacroblockMap(size: size)
            smeared = drawn
            unpaintableUntil = Self.noTimes(for: drawn)
            refinement = RefinementPasses(Self.range, of: drawn)
        }
        if try coder.reconfigure(size: size, hint: hint) { keyFrameIsDue = true }
    }

    /// Records how fine the frame is, and returns its coarseness: that of a video is its quantizer's, by which its size is
    /// chosen, and that of other content is the measured one, if that is finer. The quantizer at which text is hardly
    /// readable leaves a film fine. Painted macroblocks are exact.
    private func recordCoarseness(
        of picture: StandingPicture, after step: Step, painted: Int, hint: ContentHint
    ) throws(VideoCodingError) -> Int {
        let error = try recordQuality(of: picture, after: step)
        let quantizers = Self.range.coarseness[step.quantizer]
        let all = max(step.map.count + painted, 1)
        guard hint != .motion else { return quantizers }
        return min(quantizers, Coarseness.of(meanSquaredError: error * Double(step.map.count) / Double(all)))
    }

    /// Records how fine the coded macroblocks are, and those near them, and returns the mean squared error of the coded
    /// ones. Libraries skip some, in particular those that moved, and change some that were not to be coded.
    private func recordQuality(of picture: StandingPicture, after step: Step) throws(VideoCodingError) -> Double {
        var errors = 0.0
        try Self.forEachError(of: shown, as: picture, in: step.map.withSurroundings()) { index, error in
            let found = Coarseness.of(meanSquaredError: error)
            if step.map.cells[index] == 0 {
                refinement.didCheck(index, coarseness: found)
            } else {
                let pass = step.refinement.flatMap { $0.map.cells[index] != 0 ? $0.pass : nil }
                refinement.didCode(index, coarseness: found, tried: pass)
                errors += error
            }
        }
        return errors / Double(max(step.map.count, 1))
    }

    /// Calls `body` with each macroblock of `map`, and its mean squared error in an image of the picture: that of luma, or
    /// of the plane with the largest.
    private static func forEachError(
        of image: I420Picture, as picture: StandingPicture, in map: MacroblockMap, hasColors: Bool = true,
        _ body: (_ index: Int, _ error: Double) -> Void
    ) throws(VideoCodingError) {
        try picture.withPlanePointers { (source) throws(VideoCodingError) in
            try image.withPlanePointers { (image) throws(VideoCodingError) in
                for index in map.cells.indices where map.cells[index] != 0 {
                    let (x, y) = (index % map.columns * 16, index / map.columns * 16)
                    let (width, height) = (min(16, picture.size.width - x), min(16, picture.size.height - y))
                    func error(_ source: PlanePointer, _ image: PlanePointer, every step: Int) -> Double {
                        let (width, height) = ((width + step - 1) / step, (height + step - 1) / step)
                        let sum = source.sumOfSquaredDifferences(
                            to: image, x: x / step, y: y / step, width: width, height: height)
                        return Double(sum) / Double(width * height)
                    }
                    var most = error(source.first, image.first, every: 1)
                    if hasColors {
                        most = max(
                            most, error(source.second, image.second, every: 2),
                            error(source.third, image.third, every: 2))
                    }
                    body(index, most)
                }
            }
        }
    }

    // MARK: Choices

    private func keyFrame(of picture: StandingPicture, order: EncodingOrder) throws(VideoCodingError) -> Step {
        var map = MacroblockMap(size: picture.size)
        map.insertAll()
        let content = QuantizerControl.Picture(
            kind: .keyFrame, activity: try PictureActivity.sum(of: picture, hasPalettes: hasPalettes))
        let videoTime = max(Self.videoKeyFrameTime, .seconds(3 / order.framesPerSecond))
        let bits = min(ledger.pageBits, order.hint == .motion ? ledger.bits(in: videoTime) : .infinity)
        let quantizer = control.quantizer(
            for: content, bits: bits, in: Self.range.finestKeyFrame...Self.coarsest(order))
        return Step(map: map, quantizer: quantizer, change: content, isKeyFrame: true, isLarge: true)
    }

    /// The bits that can wait in the queue, beyond those that do.
    private var queueBits: Double { ledger.bits(in: Self.queueTime) - ledger.debt - updateBits }

    /// Returns the step for changes: as fine as the ledger allows, with coarse macroblocks for the bits that they leave.
    private func change(
        of picture: StandingPicture, _ changed: MacroblockMap, after scrolls: ScrollSearch.Finding?,
        began: Duration, order: EncodingOrder
    ) throws(VideoCodingError) -> Step {
        // What moved is predicted.
        let new = scrolls.map { MacroblockMap(size: picture.size, cells: $0.remaining) } ?? changed
        let activity = try PictureActivity.sum(of: picture, in: new)
        let share = frameBits(order)
        let isLarge =
            control.bits(.init(kind: .following, activity: activity), at: Self.range.finestKeyFrame) > share
        let isNewPage = isLarge && Self.isPause(Self.pageTime, since: lastLargeChangeAt, now: began)
        if isNewPage, new.share > Self.pageShare, Self.range.codesPagesAsKeyFrames {
            return try keyFrame(of: picture, order: order)
        }
        let content = QuantizerControl.Picture(kind: isNewPage ? .page : .following, activity: activity)
        let allowed = control.allowance(share: share, for: content.kind, from: ledger)
        let allowance = (isNewPage ? min(allowed, ledger.bits(in: Self.pageBitsTime)) : allowed) - updateBits
        let coarsest = Self.coarsest(order)
        let finest =
            isNewPage || Self.isPause(Self.pageTime, since: lastChangeAt, now: began)
            ? Self.range.finestChange : control.slightlyFiner(than: lastQuantizer, notBelow: Self.range.finestChange)
        // Small changes are as fine as the rest becomes. Changes that moved become finer, too, which costs bits.
        let all = scrolls == nil ? activity : try PictureActivity.sum(of: picture, in: changed)
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
        step.keepsLast = isLarge && keepsLast(at: began)
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

    /// Returns the coarsest quantizer.
    private static func coarsest(_ order: EncodingOrder) -> Int {
        range.quantizer(upTo: order.maximumCoarseness)
    }
}

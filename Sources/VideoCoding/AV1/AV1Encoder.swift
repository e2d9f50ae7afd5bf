internal import Glibc
internal import RTCShareCYUV
internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

/// An AV1 encoder for screens: libaom's, with macroblocks and a quantizer of each frame that are chosen here.
///
///     changed ─▶ the changes, and coarse macroblocks for the bits that they leave ──┐
///     unchanged ─▶ the coarsest macroblocks, as many as the bits allow, finer ──────┼▶ copied onto what viewers have
///     key frame ─▶ all, so coarse that it arrives soon ────────────────────────────┘    ─▶ libaom
///
/// libaom ignores its map of active macroblocks. Instead, the others are given to it as viewers have them, so that there
/// is nothing to code.
final class AV1Encoder: PictureEncoder {
    private let coder: AV1Coder
    private var control = QuantizerControl(.av1)
    private(set) var ledger = BitLedger()
    private(set) var newShare = 0.0
    private var scrollSearch = ScrollSearch()
    /// The image that viewers have. Macroblocks that are coded next are copied into it.
    private(set) var shown: I420Picture
    private var quality: CodedQuality
    private var refinement: RefinementPasses
    /// The macroblocks that the last frame coded. libaom skips them if the next one has the same source there.
    private var drawn: MacroblockMap
    private var keyFrameIsDue = true
    private var lastChangeAt: Duration?
    private var lastQuantizer = 63

    /// The finest quantizer of a key frame: what is finer arrives later, and would not be seen.
    private static let finestKeyFrame = 30
    /// The finest quantizer of changes, if the rest is not finer.
    private static let finestChange = 20
    /// The quantizers with which unchanged content becomes finer, one after the other. libaom skips smaller steps.
    private static let passes = [30, 10, 1]
    /// The size of a refinement as time at the bitrate: changes wait for it.
    private static let refinementTime = Duration.milliseconds(100)
    /// The time without changes after which a change is a new page.
    private static let pageTime = Duration.milliseconds(500)
    /// The maximum number of steps by which a frame is finer than the one shortly before it.
    private static let mostRefinement = 3
    /// The number of processors from which a second thread halves the time of a frame.
    private static let leastProcessors = 4

    init(size: PixelSize, hint: ContentHint = .detail) throws(VideoCodingError) {
        let threads = sysconf(Int32(_SC_NPROCESSORS_ONLN)) >= Self.leastProcessors ? 2 : 1
        coder = try AV1Coder(.init(size: size, hint: hint, threads: threads))
        shown = try I420Picture(size: size)
        drawn = MacroblockMap(size: size)
        quality = CodedQuality(of: drawn)
        refinement = RefinementPasses(Self.passes.map { QuantizerControl.Scale.av1Coarseness[$0] }, of: drawn)
    }

    /// The macroblocks of the next frame, and how they are coded.
    private struct Step {
        let map: MacroblockMap
        let quantizer: Int
        let content: QuantizerControl.Picture
        var isChange = true
        /// The macroblocks that become finer in a pass; nil if there are none.
        var refined: (pass: Int, map: MacroblockMap)?
    }

    func encode(
        _ input: inout PictureInput, timestamp: Duration, asKeyFrame: Bool, order: EncodingOrder
    ) throws(VideoCodingError) -> (preceding: [EncodedVideoFrame], outcome: EncodingOutcome) {
        guard let picture = input.picture else { throw .emptyPicture }
        try prepare(for: picture.size, hint: order.hint)
        ledger = order.ledger
        let scrolls = order.hint == .motion ? nil : try input.findScrolls(by: &scrollSearch, order.settings.heuristics)
        newShare = input.newShare(after: scrolls)
        let isKeyFrame = asKeyFrame || keyFrameIsDue
        let step =
            if isKeyFrame {
                try keyFrame(of: picture, order: order)
            } else if input.changed.isEmpty {
                try rest(of: picture)
            } else {
                try change(of: picture, input.changed, after: scrolls, timestamp: timestamp, order: order)
            }
        // After a failure, what viewers have is unknown.
        keyFrameIsDue = true
        try draw(picture, in: step.map)
        let coded = try coder.encode(
            shown, quantizer: step.quantizer, asKeyFrame: isKeyFrame, refines: step.refined != nil, shown: shown.samples
        )
        guard let coded else { return ([], .dropped) }
        keyFrameIsDue = false
        if let path = getenv("AV1TRACE"), let file = fopen(path, "a") {
            fputs(
                "\(timestamp) q \(step.quantizer) map \(step.map.count) changed \(input.changed.count) bytes \(coded.data.count) coarsest \(quality.coarsest) rest \(quality.coarsest(outside: input.changed)) kind \(step.content.kind) activity \(Int(step.content.activity)) credit \(Int(ledger.credit)) pass \(step.refined?.pass ?? -1)\n",
                file)
            fclose(file)
        }
        if step.isChange { lastChangeAt = timestamp }
        if !step.map.isEmpty { control.record(coded.data.count * 8, for: step.content, quantizer: step.quantizer) }
        ledger.spend(byteCount: coded.data.count, isChange: step.isChange)
        let coarseness = QuantizerControl.Scale.av1Coarseness[step.quantizer]
        drawn = step.map
        try recordQuality(of: picture, after: step, coarseness: coarseness)
        if step.isChange { lastQuantizer = step.quantizer }
        input.didEncode()
        var frame = EncodedVideoFrame(
            data: coded.data, format: .av1, isKeyFrame: coded.isKeyFrame, size: picture.size,
            timestamp: timestamp, rotation: input.rotation, quantizer: coded.quantizer, coarseness: coarseness,
            contentHint: order.hint)
        frame.coarsest = quality.coarsest
        frame.canBeFiner = refinement.isUnfinished
        frame.becomesFinest = true
        frame.isScroll = scrolls != nil
        return ([], .encoded(frame))
    }

    private func prepare(for size: PixelSize, hint: ContentHint) throws(VideoCodingError) {
        var configuration = coder.configuration
        // Only whether it is motion changes anything, and each change costs a key frame.
        configuration.hint = hint == .motion ? .motion : .detail
        configuration.size = size
        guard configuration != coder.configuration else { return }
        if size != coder.configuration.size {
            shown = try I420Picture(size: size)
            drawn = MacroblockMap(size: size)
            quality = CodedQuality(of: drawn)
            refinement = RefinementPasses(Self.passes.map { QuantizerControl.Scale.av1Coarseness[$0] }, of: drawn)
        }
        try coder.reconfigure(configuration)
        keyFrameIsDue = true
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

    /// Records how fine the coded macroblocks are. libaom skips some of them, in particular those that moved.
    private func recordQuality(
        of picture: StandingPicture, after step: Step, coarseness: Int
    ) throws(VideoCodingError) {
        quality.didCode(step.map, coarseness: coarseness)
        try picture.withPlanePointers { (source) throws(VideoCodingError) in
            try shown.withPlanePointers { (shown) throws(VideoCodingError) in
                for index in step.map.cells.indices where step.map.cells[index] != 0 {
                    let (x, y) = (index % step.map.columns * 16, index / step.map.columns * 16)
                    let (width, height) = (min(16, picture.size.width - x), min(16, picture.size.height - y))
                    let sum = ComputeSumSquareErrorPlane(
                        source.first.first + y * Int(source.first.stride) + x, source.first.stride,
                        shown.first.first + y * Int(shown.first.stride) + x, shown.first.stride, Int32(width),
                        Int32(height))
                    let found = Coarseness.of(meanSquaredError: Double(sum) / Double(width * height))
                    if found > coarseness { quality.correct(index, coarseness: found) }
                    let pass = step.refined.flatMap { $0.map.cells[index] != 0 ? $0.pass : nil }
                    refinement.record(index, coarseness: found, tried: pass)
                }
            }
        }
    }

    // MARK: Choices

    private func keyFrame(of picture: StandingPicture, order: EncodingOrder) throws(VideoCodingError) -> Step {
        var map = MacroblockMap(size: picture.size)
        map.insertAll()
        let content = QuantizerControl.Picture(kind: .keyFrame, activity: try PictureActivity.sum(of: picture))
        let quantizer = control.quantizer(
            for: content, bits: ledger.pageBits, in: Self.finestKeyFrame...Self.coarsest(order))
        return Step(map: map, quantizer: quantizer, content: content)
    }

    /// Returns the step for changes: as fine as the ledger allows, with coarse macroblocks for the bits that they leave.
    private func change(
        of picture: StandingPicture, _ changed: MacroblockMap, after scrolls: ScrollSearch.Finding?,
        timestamp: Duration, order: EncodingOrder
    ) throws(VideoCodingError) -> Step {
        let isNewPage = lastChangeAt.map { timestamp - $0 >= Self.pageTime } ?? false
        // What moved is predicted.
        let new = scrolls.map { MacroblockMap(size: picture.size, cells: $0.remaining) } ?? changed
        let content = QuantizerControl.Picture(
            kind: isNewPage ? .page : .following, activity: try PictureActivity.sum(of: picture, in: new))
        let share = ledger.bits(in: .seconds(1 / order.framesPerSecond))
        let allowance = control.allowance(share: share, for: content.kind, from: ledger)
        let coarsest = Self.coarsest(order)
        // In a sequence of frames, a single simple one should not be much finer.
        let finest = isNewPage ? Self.finestChange : max(lastQuantizer - Self.mostRefinement, Self.finestChange)
        var quantizer = control.quantizer(for: content, bits: allowance, in: min(finest, coarsest)...coarsest)
        var step = Step(map: changed, quantizer: quantizer, content: content)
        guard let next = refinement.next(except: changed, drawn) else { return step }
        // With small changes the rest becomes finer as it does without.
        let isSmall = control.bits(content, at: Self.passes[next.pass]) <= share * Self.smallShare
        guard isSmall || Self.passes[next.pass] >= quantizer else { return step }
        if isSmall { quantizer = min(quantizer, Self.passes[next.pass]) }
        let left = min(allowance, share + max(ledger.credit, 0)) - control.bits(content, at: quantizer)
        let refined = try part(of: next.map, in: picture, bits: left, quantizer: quantizer)
        guard !refined.map.isEmpty else { return step }
        step = Step(
            map: changed.union(refined.map), quantizer: quantizer,
            content: .init(
                kind: content.kind, activity: content.activity + refined.activity * Self.refinementShare))
        step.refined = (next.pass, refined.map)
        return step
    }

    /// The maximum size of a small change, as a fraction of a frame's part of the bitrate.
    private static let smallShare = 0.5

    /// The bits of a macroblock that becomes finer, as a fraction of those of a new one.
    private static let refinementShare = 0.6

    /// Returns the step for unchanged content.
    private func rest(of picture: StandingPicture) throws(VideoCodingError) -> Step {
        var step = Step(
            map: MacroblockMap(size: picture.size), quantizer: Self.passes[0],
            content: .init(kind: .refinement, activity: 0), isChange: false)
        guard let next = refinement.next(except: drawn) else { return step }
        let quantizer = Self.passes[next.pass]
        let refined = try part(
            of: next.map, in: picture, bits: ledger.bits(in: Self.refinementTime), quantizer: quantizer)
        step = Step(
            map: refined.map, quantizer: quantizer, content: .init(kind: .refinement, activity: refined.activity),
            isChange: false)
        step.refined = (next.pass, refined.map)
        return step
    }

    /// Returns as many of the macroblocks as the bits allow, and their activity.
    private func part(
        of map: MacroblockMap, in picture: StandingPicture, bits: Double, quantizer: Int
    ) throws(VideoCodingError) -> (map: MacroblockMap, activity: Double) {
        var (activity, result) = (0.0, MacroblockMap(size: picture.size))
        guard bits > 0 else { return (result, 0) }
        try PictureActivity.forEach(of: picture, in: map) { index, value in
            let content = QuantizerControl.Picture(kind: .refinement, activity: activity + value)
            guard control.bits(content, at: quantizer) <= bits || result.isEmpty else { return false }
            result.insert(index)
            activity += value
            return true
        }
        return (result, activity)
    }

    /// Returns the coarsest quantizer.
    private static func coarsest(_ order: EncodingOrder) -> Int {
        QuantizerControl.Scale.av1Coarseness.lastIndex { $0 <= order.maximumCoarseness } ?? 63
    }
}

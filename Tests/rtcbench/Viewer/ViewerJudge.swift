internal import Foundation
internal import RTCShareMedia
internal import RTCShareNetworkSimulation
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Evaluates a receiver's video, second by second, after a run.
struct ViewerJudge {
    /// The maximum signal-to-noise ratio: above it the difference is invisible, and for equal frames it would be
    /// infinite.
    private static let mostSignalToNoise = 60.0

    let plan: ViewerCase
    let report: ScreenReceiverReport
    /// The directory of the receiver's frames.
    let folder: String
    /// The times of the changes on the sender's screen.
    let drawn: [DrawnTick]
    /// The origin of the seconds.
    let start: Instant
    let prepared: PreparedContent
    /// The directory for the worst frame of each second.
    var pictures: String?

    private var milliseconds: Double { Double(start.nanoseconds) / 1e6 }
    private func seconds(_ milliseconds: Double) -> Double { (milliseconds - self.milliseconds) / 1000 }

    /// Completes a record, which already has the sender's costs.
    func judge(into record: inout ViewerRecord, on display: ContentDisplay) throws {
        let viewed = viewedPictures(&record)
        let comparisons = try compare(viewed, on: display)
        for second in record.seconds.indices {
            let range = Double(second)..<Double(second + 1)
            let judged = comparisons.filter { range.contains($0.time) }
            record.seconds[second].similarity = judged.map(\.now.similarity).mean
            record.seconds[second].signalToNoise = judged.map(\.now.signalToNoise).mean
            record.seconds[second].ownSimilarity = judged.compactMap(\.own?.similarity).mean
            record.seconds[second].ownSignalToNoise = judged.compactMap(\.own?.signalToNoise).mean
            record.seconds[second].bitrate =
                (report.bytes(at: milliseconds + range.upperBound * 1000)
                    - report.bytes(at: milliseconds + range.lowerBound * 1000)) / 125
        }
        addTimes(viewed, into: &record)
        addTotals(comparisons, into: &record)
        addStatistics(into: &record)
        if let pictures { try writeWorst(comparisons, record, to: pictures, display) }
    }

    /// Returns the frames with possible numbers.
    private func viewedPictures(_ record: inout ViewerRecord) -> ViewedPictures {
        let frames = report.frames ?? []
        let pictures = frames.map { frame -> ViewedPictures.Picture in
            let isPossible = frame.tick.map {
                $0 < drawn.count && Double(drawn[$0].begun.nanoseconds) / 1e6 <= frame.time
            }
            return .init(time: seconds(frame.time), tick: isPossible == true ? frame.tick : nil)
        }
        record.total.unreadablePictures = pictures.count { $0.tick == nil }
        record.total.replacedPictures = report.replacedFrames ?? 0
        return ViewedPictures(pictures: pictures, drawn: drawn.map { ($0.shown - start).seconds })
    }

    // MARK: Times

    private func addTimes(_ viewed: ViewedPictures, into record: inout ViewerRecord) {
        let length = Double(record.seconds.count)
        let gaps = viewed.gaps.filter { $0.end > 0 && $0.start < length }
        for second in record.seconds.indices {
            let range = Double(second)..<Double(second + 1)
            record.seconds[second].frames = viewed.pictures.count { range.contains($0.time) }
            record.seconds[second].freezes = gaps.count { $0.isFreeze && range.contains($0.end) }
            let reaching = gaps.filter { $0.end > range.lowerBound && $0.start < range.upperBound }
            record.seconds[second].longestGap = (reaching.map(\.duration).max() ?? 0) * 1000
            record.seconds[second].longestStall = (reaching.map(\.stall).max() ?? 0) * 1000
        }
        let delays = zip(viewed.drawn.dropFirst(), viewed.delays).filter { (0..<length).contains($0.0) }
        for second in record.seconds.indices {
            let range = Double(second)..<Double(second + 1)
            record.seconds[second].latency =
                delays.filter { range.contains($0.0) }.compactMap { $0.1.map { $0 * 1000 } }.mean
        }
        let seen = delays.compactMap { $0.1.map { $0 * 1000 } }
        record.total.latency = seen.mean
        record.total.latency95 = seen.rank(0.95)
        record.total.longestLatency = seen.max()
        record.total.unseenChanges = delays.count { $0.1 == nil }
        record.total.frameRate = Double(record.seconds.map(\.frames).reduce(0, +)) / max(1, length)
        record.total.freezes = record.seconds.map(\.freezes).reduce(0, +)
        record.total.longestGap = record.seconds.map(\.longestGap).max() ?? 0
        record.total.longestStall = record.seconds.map(\.longestStall).max() ?? 0
    }

    // MARK: Frames

    /// A sample, compared with the sender's screen at its time and at the change that it shows.
    struct Comparison {
        struct Figures {
            let similarity: Double
            let signalToNoise: Double
        }

        let time: Double
        let picture: Int
        /// The change that the sender's screen showed at that time.
        let tick: Int
        var now = Figures(similarity: 0, signalToNoise: 0)
        var own: Figures?
    }

    private func compare(_ viewed: ViewedPictures, on display: ContentDisplay) throws -> [Comparison] {
        var comparisons: [Comparison] = []
        var due: [Int: [(comparison: Int, isOwn: Bool)]] = [:]
        for sample in report.samples ?? [] where sample.frame < viewed.pictures.count {
            let time = seconds(sample.atMs)
            guard (0..<Double(plan.seconds)).contains(time) else { continue }
            let tick = viewed.tick(at: time)
            due[tick, default: []].append((comparisons.count, false))
            if let own = viewed.pictures[sample.frame].tick { due[own, default: []].append((comparisons.count, true)) }
            comparisons.append(Comparison(time: time, picture: sample.picture ?? sample.frame, tick: tick))
        }
        let files = Dictionary(report.pictures.map { ($0.picture, $0) }) { first, _ in first }
        let converter = VideoConverter()
        var shown: (number: Int, picture: any VideoFrameBuffer)?
        try redraw(upTo: drawn.count - 1) { tick, canvas in
            guard let here = due[tick] else { return }
            let expected = try converter.convert(canvas.picture, to: canvas.size)
            for (index, isOwn) in here {
                let number = comparisons[index].picture
                if shown?.number != number {
                    guard let file = files[number] else { throw BenchmarkFailure("picture \(number) was not kept") }
                    shown = (number, try converter.convert(try file.read(in: folder), to: canvas.size))
                }
                guard let picture = shown?.picture else { continue }
                let figures = Comparison.Figures(
                    similarity: try StructuralSimilarity.luma(picture, expected),
                    signalToNoise: min(
                        Self.mostSignalToNoise, try StructuralSimilarity.peakSignalToNoiseRatio(picture, expected)))
                if isOwn { comparisons[index].own = figures } else { comparisons[index].now = figures }
            }
        } atEnd: { canvas in
            guard try display.screen() == canvas.pixels else {
                throw BenchmarkFailure("the screen does not show what was drawn: is another program drawing on it?")
            }
        }
        return comparisons
    }

    /// Draws the content again, up to a change.
    private func redraw(
        upTo last: Int, _ look: (Int, ScreenCanvas) throws -> Void, atEnd: (ScreenCanvas) throws -> Void = { _ in }
    ) throws {
        var script = prepared.makeScript()
        var canvas = ScreenCanvas(size: prepared.stage.size, font: prepared.stage.font, pictures: prepared.pictures)
        canvas.draw(script.begin())
        for tick in 0...max(0, last) {
            if tick > 0 { canvas.draw(script.next()?.operations ?? []) }
            try look(tick, canvas)
        }
        try atEnd(canvas)
    }

    /// Writes the receiver's frame and the sender's screen at that time side by side, for each second at their largest
    /// difference.
    private func writeWorst(
        _ comparisons: [Comparison], _ record: ViewerRecord, to folder: String, _ display: ContentDisplay
    ) throws {
        let ofSeconds = Dictionary(grouping: comparisons) { Int($0.time) }.values
        let worst = ofSeconds.compactMap { $0.min { $0.now.similarity < $1.now.similarity } }
        let files = Dictionary(report.pictures.map { ($0.picture, $0) }) { first, _ in first }
        try redraw(upTo: worst.map(\.tick).max() ?? 0) { tick, canvas in
            for comparison in worst where comparison.tick == tick {
                guard let seen = try files[comparison.picture]?.read(in: self.folder) else { continue }
                let time = String(format: "%04.1f", comparison.time)
                try writePair(seen, canvas.picture, to: "\(folder)/\(plan.fileName)-\(time)s.png")
            }
        }
    }

    private func writePair(_ left: PixelBuffer, _ right: PixelBuffer, to path: String) throws {
        let converter = VideoConverter()
        let size = prepared.stage.size
        let pictures = [try converter.convert(left, to: size), try converter.convert(right, to: size)]
        let both = PixelBuffer(size: PixelSize(width: size.width * 2, height: size.height), format: .i420) {
            planes, strides in
            for plane in planes[1...] { _ = plane.initializeMemory(as: UInt8.self, repeating: 128) }
            for (side, picture) in pictures.enumerated() {
                picture.withPlanes { set in
                    for row in 0..<size.height {
                        let target = row * strides[0] + side * size.width
                        UnsafeMutableRawBufferPointer(rebasing: planes[0][target..<target + size.width]).copyMemory(
                            from: UnsafeRawBufferPointer(
                                rebasing: set.planes[0][
                                    row * set.strides[0]..<row * set.strides[0] + size.width]))
                    }
                }
            }
        }
        try PNGWriter.write(both, to: path)
    }

    // MARK: Totals

    private func addTotals(_ comparisons: [Comparison], into record: inout ViewerRecord) {
        let seconds = record.seconds
        record.total.similarity = comparisons.map(\.now.similarity).mean
        record.total.signalToNoise = comparisons.map(\.now.signalToNoise).mean
        record.total.ownSimilarity = comparisons.compactMap(\.own?.similarity).mean
        record.total.ownSignalToNoise = comparisons.compactMap(\.own?.signalToNoise).mean
        record.total.leastSimilarity = seconds.compactMap(\.similarity).min()
        record.total.leastSignalToNoise = seconds.compactMap(\.signalToNoise).min()
        record.total.leastOwnSimilarity = seconds.compactMap(\.ownSimilarity).min()
        record.total.leastOwnSignalToNoise = seconds.compactMap(\.ownSignalToNoise).min()
        func time(of signalToNoise: Double) -> Double? {
            comparisons.first { ($0.own ?? $0.now).signalToNoise >= signalToNoise }.map { $0.time * 1000 }
        }
        (record.total.readable, record.total.sharp) = (time(of: 30), time(of: 45))
        record.total.bitrate = seconds.map(\.bitrate).mean ?? 0
        record.total.processor = seconds.map(\.processor).mean ?? 0
    }

    private func addStatistics(into record: inout ViewerRecord) {
        record.total.size = "\(report.width ?? 0)x\(report.height ?? 0)"
        guard let inbound = report.stats?.last?.inbound else { return }
        record.total.freezeCount = inbound.freezeCount
        record.total.keyFrames = inbound.keyFramesDecoded
        record.total.framesDropped = inbound.framesDropped
        record.total.pictureLossIndications = inbound.pliCount
        record.total.negativeAcknowledgements = inbound.nackCount
        record.total.retransmissions = inbound.retransmittedPacketsReceived
        record.total.packetsLost = inbound.packetsLost
        if let delay = inbound.jitterBufferDelay, let count = inbound.jitterBufferEmittedCount, count > 0 {
            record.total.jitterBufferDelay = delay * 1000 / count
        }
    }
}

extension [Double] {
    /// The mean; nil if there are no values.
    var mean: Double? { isEmpty ? nil : reduce(0, +) / Double(count) }
}

import RTCShareMedia
import TestSupport
import Testing

@testable import RTCShareVideoCoding
import RTCShareWireFormat

@Suite("QualityGovernor")
struct QualityGovernorTests {
    /// A governor with its own time, fed with pictures at its own rate.
    private struct Run {
        var governor: QualityGovernor
        var now = Duration.seconds(100)
        var size = PixelSize(width: 1280, height: 720)

        init(_ hint: ContentHint, fps: Double = 30, bitsPerSecond: Int = 1_000_000) {
            governor = QualityGovernor(hint: hint, framesPerSecond: fps, bitsPerSecond: bitsPerSecond)
        }

        /// Gives pictures for some time; the bits of each fill the target where nothing else is said.
        mutating func give(
            _ seconds: Double, quantizer: Int = 60, share: Double = 0.9, effort: Double = 0.1, isChange: Bool = true,
            isKeyFrame: Bool = false, rate: Double? = nil, until: (QualityGovernor) -> Bool = { _ in false }
        ) {
            let end = now + .seconds(seconds)
            while now < end, !until(governor) {
                let rate = min(rate ?? .infinity, governor.framesPerSecond)
                let sample = QualityGovernor.Sample(
                    coarseness: quantizer, byteCount: Int(Double(governor.bitsPerSecond) / 8 / rate * share),
                    effort: .seconds(effort / governor.framesPerSecond), isKeyFrame: isKeyFrame, isChange: isChange)
                governor.encoded(sample, size: size, now: now)
                now += .seconds(1 / rate)
            }
        }

        /// The rate control leaves out all but each `kept`th picture.
        mutating func drop(_ seconds: Double, kept: Int) {
            for index in 0..<Int(seconds * governor.framesPerSecond) {
                if index % kept == 0 { give(0.001, quantizer: 60) } else { governor.dropped(size: size, now: now) }
                now += .seconds(1 / governor.framesPerSecond)
            }
        }

        mutating func configure(
            _ hint: ContentHint, fps: Double = 30, bitsPerSecond: Int = 1_000_000, isPaused: Bool = false
        ) {
            governor.configure(
                hint: hint, framesPerSecond: fps, bitsPerSecond: bitsPerSecond, isPaused: isPaused, now: now)
        }
    }

    @Test("Nothing is reduced while bitrate and CPU suffice", arguments: [ContentHint.text, .detail, .motion])
    func suffices(hint: ContentHint) {
        var run = Run(hint)
        run.give(60, quantizer: 95, share: 1.1, effort: 0.8)
        run.give(10, quantizer: 4, isKeyFrame: true)
        #expect(run.governor.reason == .none && run.governor.framesPerSecond == 30)
        #expect(run.governor.size(for: run.size) == run.size && run.governor.resolutionChanges == 0)
        #expect(run.governor.durations(now: run.now).keys.allSatisfy { $0 == .none })
    }

    @Test("Motion keeps its frame rate and reduces each side to 3/4, then 1/2, and no further")
    func motion() {
        var run = Run(.motion)
        var sizes: [String] = []
        for _ in 0..<4 {
            run.give(2.2, quantizer: 110)
            sizes.append(run.governor.size(for: run.size).description)
        }
        #expect(sizes == ["960x540", "640x360", "640x360", "640x360"])
        #expect(run.governor.framesPerSecond == 30)
        #expect(run.governor.reason == .bandwidth && run.governor.resolutionChanges == 2)
    }

    @Test(
        "Motion never reduces resolution below 320x180",
        arguments: [(400, 300, 1), (320, 180, 0), (64, 48, 0), (640, 360, 2)])
    func smallest(width: Int, height: Int, steps: Int) {
        var run = Run(.motion)
        run.size = PixelSize(width: width, height: height)
        run.give(20, quantizer: 120)
        #expect(run.governor.resolutionChanges == steps)
        #expect(run.governor.size(for: run.size).area >= min(run.size.area, 320 * 180))
    }

    /// The reductions in effect.
    private struct State: Equatable {
        var framesPerSecond: Double
        var maximumCoarseness: Int
        var size: String

        init(_ governor: QualityGovernor, size: PixelSize) {
            framesPerSecond = governor.framesPerSecond
            maximumCoarseness = governor.maximumCoarseness
            self.size = governor.size(for: size).description
        }
    }

    /// All states that too few bits bring about, one after the other, until nothing gives way any more.
    private func states(_ hint: ContentHint, share: Double) -> (states: [State], governor: QualityGovernor) {
        var run = Run(hint)
        let size = run.size
        var states = [State(run.governor, size: size)]
        while states.count < 50 {
            let before = states[states.count - 1]
            run.give(30, quantizer: 110, share: share, until: { State($0, size: size) != before })
            let state = State(run.governor, size: size)
            guard state != before else { break }
            states.append(state)
        }
        return (states, run.governor)
    }

    @Test(
        "Coarse frames at a sufficient bitrate reduce only the frame rate of text and detail, to about 5 per second",
        arguments: [ContentHint.text, .detail])
    func text(hint: ContentHint) {
        let (states, governor) = states(hint, share: 0.9)
        #expect(states.map(\.framesPerSecond) == [30, 22.5, 15, 11.25, 7.5, 5.625])
        #expect(states.allSatisfy { $0.maximumCoarseness == Coarseness.readable })
        #expect(states.allSatisfy { $0.size == "1280x720" } && governor.resolutionChanges == 0)
        #expect(governor.reason == .bandwidth)
    }

    @Test(
        "Too many bits reduce the frame rate of text and detail to 1 per second, then quality, then resolution",
        arguments: [ContentHint.text, .detail], [1.3, 2, 5, 20])
    func order(hint: ContentHint, share: Double) {
        let (states, governor) = states(hint, share: share)
        let rates = states.map(\.framesPerSecond)
        // One thing at a time, and never back.
        #expect(zip(rates, rates.dropFirst()).allSatisfy { $1 <= $0 })
        let readable = states.prefix { $0.maximumCoarseness == Coarseness.readable }
        #expect(readable.allSatisfy { $0.size == "1280x720" } && readable.last?.framesPerSecond == 1)
        #expect(readable.dropLast().allSatisfy { $0.framesPerSecond > 1 })
        let rest = states.dropFirst(readable.count)
        #expect(rest.allSatisfy { $0.framesPerSecond == 1 && $0.maximumCoarseness == Coarseness.coarsest })
        #expect(rest.map(\.size) == ["1280x720", "960x540", "640x360"])
        #expect(governor.reason == .bandwidth && governor.resolutionChanges == 2)
        // The more bits are too many, the longer the steps.
        #expect(rates[1] == (share == 1.3 ? 22.5 : share == 2 ? 15 : 7.5))
    }

    @Test("Too many bits at the coarsest quantizer, or too many skipped frames, are a shortage too")
    func otherShortages() {
        var run = Run(.detail)
        run.give(2.2, quantizer: 94, share: 1.4)
        #expect(run.governor.framesPerSecond < 30)
        var dropping = Run(.motion)
        dropping.drop(2.2, kept: 4)
        #expect(dropping.governor.size(for: dropping.size).width == 960)
        var some = Run(.motion)
        some.drop(6, kept: 2)
        #expect(some.governor.reason == .none)
    }

    @Test("Occasional changes leave time for sharpening and reduce nothing, however coarse they begin")
    func slides() {
        var run = Run(.text)
        for _ in 0..<10 {
            run.give(0.01, quantizer: 120, share: 6)
            run.give(1.5, quantizer: 100, isChange: false)
        }
        #expect(run.governor.reason == .none)
    }

    @Test("The first step for a source slower than the limit is below the source's own rate")
    func slowSource() {
        var run = Run(.detail)
        run.give(2.3, quantizer: 110, rate: 10)
        #expect(run.governor.framesPerSecond < 10 && run.governor.framesPerSecond > 5)
    }

    @Test("A limit of one frame a second or less is never lowered", arguments: [1, 0.5, 0.1])
    func slowLimit(fps: Double) {
        var run = Run(.text, fps: fps)
        run.give(100, quantizer: 120)
        #expect(run.governor.framesPerSecond == fps && run.governor.reason == .none)
    }

    @Test("Recovery is slower than reduction, needs fine frames, and slows down with each failure")
    func hysteresis() {
        var run = Run(.motion)
        run.give(2.2, quantizer: 110)
        run.give(60, quantizer: 60)
        #expect(run.governor.reason == .bandwidth)
        var waits: [Double] = []
        for _ in 0..<4 {
            let fineFrom = run.now
            run.give(100, quantizer: 20, share: 0.5, until: { $0.sizeSteps.count == 0 })
            waits.append((run.now - fineFrom) / .seconds(1))
            run.give(10, quantizer: 110, until: { $0.sizeSteps.count > 0 })
        }
        #expect(waits[0] >= 5 && waits[0] < 6, "\(waits)")
        #expect(waits[1] > 9 && waits[2] > 18 && waits[3] > 36, "\(waits)")
        #expect(run.governor.resolutionChanges == 9)
        // More bits are a reason to try again soon.
        run.configure(.motion, bitsPerSecond: 4_000_000)
        run.give(6, quantizer: 20, share: 0.5)
        #expect(run.governor.reason == .none)
    }

    @Test(
        "The frame rate of coarse motion is restored on trial, with longer waits after each failure"
    )
    func trial() {
        var run = Run(.text)
        run.give(7, quantizer: 110)
        #expect(run.governor.framesPerSecond < 12)
        run.give(30, quantizer: 80)
        #expect(run.governor.framesPerSecond == 30 && run.governor.reason == .none)
        var changes = 0
        for _ in 0..<300 {
            let before = run.governor.framesPerSecond
            run.give(1, quantizer: before > 20 ? 100 : 90)
            if run.governor.framesPerSecond != before { changes += 1 }
        }
        #expect((8...20).contains(changes), "\(changes)")
    }

    @Test(
        "A lasting increase of the bitrate undoes as many of motion's steps as it suffices for"
    )
    func motionRecovery() {
        for (bitsPerSecond, width) in [(310_000, 640), (500_000, 960), (1_200_000, 1280)] {
            var run = Run(.motion, bitsPerSecond: 200_000)
            run.give(4.5, quantizer: 110, share: 1)
            #expect(run.governor.size(for: run.size).width == 640)
            run.give(3, quantizer: 95, share: 1)
            run.configure(.motion, bitsPerSecond: bitsPerSecond)
            #expect(run.governor.size(for: run.size).width == 640)
            run.give(2.1, quantizer: 95, share: 1 * 200_000 / Double(bitsPerSecond))
            #expect(run.governor.size(for: run.size).width == width, "\(bitsPerSecond)")
        }
    }

    @Test("A bitrate 1.5 times as high undoes all reductions of text")
    func recovery() {
        let hint = ContentHint.text
        var run = Run(hint, bitsPerSecond: 200_000)
        run.give(10, quantizer: 110, share: 5)
        run.configure(hint, bitsPerSecond: 290_000)
        #expect(run.governor.reason == .bandwidth)
        let changes = run.governor.resolutionChanges
        run.configure(hint, bitsPerSecond: 310_000)
        #expect(run.governor.reason == .none && run.governor.framesPerSecond == 30)
        #expect(run.governor.size(for: run.size) == run.size)
        #expect(run.governor.resolutionChanges == changes)
        // A machine that is too slow is no faster for it.
        var slow = Run(hint, bitsPerSecond: 200_000)
        slow.give(4.4, effort: 0.95)
        slow.configure(hint, bitsPerSecond: 1_000_000)
        #expect(slow.governor.reason == .cpu)
    }

    @Test("Slow frames between rests do not mean that the machine is too slow", arguments: [(0.4, false), (0.7, true)])
    func slowFramesBetweenRests(busyShare: Double, isTooSlow: Bool) {
        // Three times as long in the encoder as the source's frames are apart.
        var run = Run(.detail)
        run.give(14, effort: 3, rate: 10 * busyShare)
        #expect((run.governor.reason == .cpu) == isTooSlow)
    }

    @Test(
        "A bitrate far below the recent use causes reductions before the next frame"
    )
    func anticipation() {
        // At the coarsest quantizer wanted these would take about 350 kbit/s.
        var text = Run(.text)
        text.give(2, quantizer: 40)
        text.configure(.text, bitsPerSecond: 400_000)
        #expect(text.governor.reason == .none)
        text.configure(.text, bitsPerSecond: 100_000)
        #expect(text.governor.framesPerSecond < 12 && text.governor.reason == .bandwidth)
        #expect(text.governor.size(for: text.size) == text.size && text.governor.resolutionChanges == 0)
        var motion = Run(.motion)
        motion.give(2, quantizer: 40)
        motion.configure(.motion, bitsPerSecond: 100_000)
        // A step of motion is a key frame: not for a moment's dip.
        motion.governor.willEncode(after: .zero, now: motion.now + .milliseconds(499))
        #expect(motion.governor.size(for: motion.size) == motion.size)
        motion.governor.willEncode(after: .zero, now: motion.now + .milliseconds(500))
        #expect(motion.governor.size(for: motion.size).width < 1280 && motion.governor.framesPerSecond == 30)
        // A picture that rests, or of which too little was seen, takes nothing; and paused nothing is judged.
        var still = Run(.text)
        still.give(2, quantizer: 40, isChange: false)
        still.configure(.text, bitsPerSecond: 100_000)
        #expect(still.governor.reason == .none)
        var paused = Run(.text)
        paused.give(2, quantizer: 40)
        paused.configure(.text, bitsPerSecond: 0, isPaused: true)
        #expect(paused.governor.framesPerSecond == 30)
    }

    @Test("A large excess of bits reduces the frame rate by several steps at once, at most to a quarter")
    func farTooMany() {
        var run = Run(.text)
        run.give(2.2, quantizer: 110, share: 15)
        #expect(run.governor.framesPerSecond < 8 && run.governor.framesPerSecond > 5)
        var some = Run(.text)
        some.give(2.2, quantizer: 110, share: 2)
        #expect(some.governor.framesPerSecond < 16 && some.governor.framesPerSecond > 10)
    }

    @Test("A finely encoded static frame restores the whole frame rate at once")
    func rest() {
        var run = Run(.text)
        run.give(20, quantizer: 110, share: 15)
        #expect(run.governor.framesPerSecond < 3)
        run.give(4, quantizer: 100, share: 0.01, isChange: false, rate: 1)
        run.give(3, quantizer: 70, share: 0.01, isChange: false, rate: 1)
        #expect(run.governor.reason == .bandwidth)
        run.give(4, quantizer: 50, share: 0.01, isChange: false, rate: 1)
        #expect(run.governor.framesPerSecond == 30 && run.governor.reason == .none)
    }

    @Test("A slow CPU speeds up libvpx first, then reduces motion's resolution or text's frame rate")
    func cpu() {
        var motion = Run(.motion)
        motion.give(2.2, quantizer: 40, effort: 0.95)
        #expect(motion.governor.isHurried && motion.governor.reason == .none)
        // That may have been enough.
        var saved = motion
        saved.give(4, quantizer: 40, effort: 0.7)
        #expect(saved.governor.isHurried && saved.governor.reason == .none)
        saved.give(9, quantizer: 40, effort: 0.3)
        #expect(!saved.governor.isHurried && saved.governor.reason == .none)
        motion.give(2.2, quantizer: 40, effort: 0.95)
        #expect(motion.governor.reason == .cpu && motion.governor.size(for: motion.size).width == 960)
        motion.give(20, quantizer: 40, effort: 0.6)
        #expect(motion.governor.reason == .cpu)
        motion.give(9, quantizer: 40, effort: 0.3)
        #expect(motion.governor.reason == .none && motion.governor.resolutionChanges == 2)
        #expect(!motion.governor.isHurried)
        var text = Run(.text)
        text.give(4.4, quantizer: 40, effort: 0.95)
        #expect(text.governor.reason == .cpu && text.governor.framesPerSecond == 22.5)
        #expect(text.governor.resolutionChanges == 0)
    }

    @Test("A slow CPU reduces quality at once if the encoder has no faster speed")
    func oneSpeed() {
        var text = Run(.text)
        text.governor = QualityGovernor(
            hint: .text, framesPerSecond: 30, bitsPerSecond: 1_000_000, hasFasterSpeed: false)
        text.give(2.2, quantizer: 40, effort: 0.95)
        #expect(text.governor.reason == .cpu && text.governor.framesPerSecond == 22.5 && !text.governor.isHurried)
        #expect(VideoCodec.vp8.hasFasterSpeed && !VideoCodec.av1.hasFasterSpeed && !VideoCodec.h264.hasFasterSpeed)
    }

    @Test("A new hint restarts the adaptation")
    func hintChanges() {
        var run = Run(.motion)
        run.give(2.2, quantizer: 110)
        run.configure(.text)
        #expect(run.governor.size(for: run.size) == run.size && run.governor.framesPerSecond == 30)
        #expect(run.governor.reason == .none && run.governor.resolutionChanges == 2)
        run.give(2.2, quantizer: 110)
        #expect(run.governor.framesPerSecond == 22.5)
        // Text and detail give the same.
        run.configure(.detail)
        #expect(run.governor.framesPerSecond == 22.5)
        run.configure(.detail, fps: 20)
        #expect(run.governor.framesPerSecond == 15)
        // What the pictures took that came so seldom is too much for motion, which comes at the full rate.
        run.configure(.motion)
        #expect(run.governor.framesPerSecond == 30 && run.governor.size(for: run.size).description == "640x360")
        #expect(run.governor.reason == .bandwidth && run.governor.resolutionChanges == 4)
        // Little that was taken is no reason for it.
        var quiet = Run(.detail)
        quiet.give(3, quantizer: 60, share: 0.3)
        quiet.configure(.motion)
        #expect(quiet.governor.reason == .none && quiet.governor.resolutionChanges == 0)
    }

    @Test("A lower limit of the frame rate reduces neither the resolution nor the readability")
    func lowerLimit() {
        var run = Run(.text)
        // Five steps lead from 5 frames per second to one, and ten from 30.
        run.governor.steps = Array(repeating: .bandwidth, count: 8)
        run.governor.bitsAtStep = 1_000_000
        run.configure(.text, fps: 5)
        #expect(run.governor.sizeSteps.count == 0 && run.governor.framesPerSecond == 1)
        #expect(run.governor.maximumCoarseness == Coarseness.readable)
        // Steps of quality and resolution are kept.
        run.configure(.text)
        run.governor.steps = Array(repeating: .bandwidth, count: QualityGovernor.rateSteps(30) + 2)
        run.configure(.text, fps: 5)
        #expect(run.governor.sizeSteps.count == 1)
        #expect(run.governor.maximumCoarseness == Coarseness.coarsest)
    }

    @Test("The durations of all reasons add up to the elapsed time")
    func durations() {
        var run = Run(.motion)
        let begin = run.now
        run.configure(.motion)
        run.give(2.2, quantizer: 110)
        run.give(3, quantizer: 60)
        run.configure(.motion, isPaused: true)
        #expect(run.governor.reason == .other)
        run.now += .seconds(7)
        run.configure(.motion)
        #expect(run.governor.reason == .bandwidth)
        let durations = run.governor.durations(now: run.now + .seconds(1))
        #expect(durations.values.reduce(.zero, +) == run.now + .seconds(1) - begin)
        #expect(durations[.other] == .seconds(7))
        // From the fourth picture, with which they are known to be too coarse, not from the step that follows; for the
        // rest of 5.2 s, and for the second after the pause.
        let limited = (durations[.bandwidth] ?? .zero) / .seconds(1)
        let unlimited = (durations[.none] ?? .zero) / .seconds(1)
        #expect(abs(unlimited - 0.1) < 0.01)
        #expect(limited > 6.1 && limited < 6.2)
        #expect(durations[.cpu] == nil)
    }

    @Test("Moving noise takes fewer bits of libvpx at the size that the governor chose")
    func withEncoder() throws {
        var governor = QualityGovernor(hint: .motion, framesPerSecond: 15, bitsPerSecond: 150_000)
        let full = PixelSize(width: 640, height: 360)
        let converter = VideoConverter()
        let encoder = try VP8Encoder(
            configuration: .init(size: full, bitrate: .kilobitsPerSecond(150), framesPerSecond: 15, hint: .motion))
        let pictures = (1...5).map { TextPicture(size: full, seed: $0).i420 }
        var sizes: [PixelSize: [Int]] = [:]
        for index in 0..<90 {
            let now = Duration.milliseconds(index * 67)
            let size = governor.size(for: full)
            var configuration = encoder.configuration
            configuration.size = size
            try encoder.reconfigure(configuration)
            switch try encoder.encode(try converter.convert(pictures[index % 5], to: size), timestamp: now) {
            case .dropped: governor.dropped(size: full, now: now)
            case .unchanged: Issue.record("VP8 encodes every frame")
            case .encoded(let frame):
                sizes[size, default: []].append(frame.data.count)
                let sample = QualityGovernor.Sample(
                    coarseness: frame.coarseness, byteCount: frame.data.count, effort: .zero,
                    isKeyFrame: frame.isKeyFrame, isChange: true)
                governor.encoded(sample, size: full, now: now)
            }
        }
        let means = sizes.mapValues { $0.reduce(0, +) / $0.count }
        let left = governor.size(for: full)
        #expect(left.width < full.width && sizes.count == 2)
        #expect(try #require(means[left]) * 4 < (try #require(means[full])) * 3, "\(means)")
        #expect(governor.reason == .bandwidth)
    }
}

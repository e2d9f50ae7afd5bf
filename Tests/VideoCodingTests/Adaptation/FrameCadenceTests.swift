import RTCShareMedia
import Testing

@testable import RTCShareVideoCoding

/// Runs a cadence in virtual time and notes what it encodes.
private struct CadenceRun {
    var cadence: FrameCadence
    var now = Duration.zero
    /// Whether the encoder reports after each frame that it can become finer.
    var isCoarse = false
    /// Whether repetitions are partial updates that refine.
    var isRefining = false
    private(set) var log: [Entry] = []

    struct Entry: Equatable {
        let milliseconds: Int
        let isNew: Bool
        let isKeyFrame: Bool
    }

    init(framesPerSecond: Double = 30) {
        cadence = FrameCadence(framesPerSecond: framesPerSecond)
    }

    /// A frame at this moment.
    mutating func frame(timestamp: Duration? = nil, isChange: Bool = true) {
        cadence.frameArrived(timestamp: timestamp ?? now, isChange: isChange, now: now)
    }

    /// Lets time pass.
    mutating func run(until end: Duration) {
        while true {
            switch cadence.action(now: now) {
            case .encodeNew(let key): encode(isNew: true, isKeyFrame: key)
            case .encodeAgain(let key): encode(isNew: false, isKeyFrame: key)
            case .wait(let time):
                guard let time, time <= end else {
                    now = end
                    return
                }
                now = time
            }
            // A rule book that never rests would hang the test.
            guard log.count < 10_000 else { return }
        }
    }

    private mutating func encode(isNew: Bool, isKeyFrame: Bool) {
        cadence.begin(new: isNew, now: now)
        cadence.encoded(isKeyFrame: isKeyFrame, isCoarse: isCoarse, isRefining: isRefining && !isNew, now: now)
        log.append(Entry(milliseconds: Int(now / .milliseconds(1)), isNew: isNew, isKeyFrame: isKeyFrame))
    }
}

@Suite("FrameCadence")
struct FrameCadenceTests {
    @Test("Nothing is encoded before the first frame, which becomes a key frame")
    func first() {
        var run = CadenceRun()
        run.cadence.requestKeyFrame()
        run.run(until: .seconds(5))
        #expect(run.log.isEmpty)
        run.frame()
        run.run(until: .milliseconds(5050))
        #expect(run.log == [.init(milliseconds: 5000, isNew: true, isKeyFrame: true)])
    }

    @Test("A static source's frame is repeated ever less often, finally once a second")
    func idle() {
        var run = CadenceRun()
        run.frame()
        run.run(until: .seconds(20))
        #expect(run.log.prefix(4).map(\.milliseconds) == [0, 120, 408, 897])
        #expect(run.log.dropFirst().allSatisfy { !$0.isNew && !$0.isKeyFrame })
        let times = run.log.map(\.milliseconds)
        #expect(zip(times, times.dropFirst()).suffix(10).allSatisfy { $1 - $0 == 1000 })
    }

    @Test("The pauses of a source that comes to rest never look like a freeze", arguments: [30.0, 12, 5, 2])
    func noFreeze(framesPerSecond: Double) {
        var run = CadenceRun()
        for index in 0..<90 {
            run.run(until: .seconds(Double(index) / framesPerSecond))
            run.frame()
        }
        run.run(until: run.now + .seconds(60))
        let times = run.log.map(\.milliseconds)
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        // W3C webrtc-stats, freezeCount: by the thirty intervals before.
        for (index, gap) in gaps.enumerated().dropFirst(30) {
            let mean = gaps[index - 30..<index].reduce(0, +) / 30
            #expect(gap < max(3 * mean, mean + 150), "\(gap) ms after a mean of \(mean)")
        }
        #expect(gaps.suffix(10).allSatisfy { $0 == 1000 })
    }

    @Test("Partial updates sharpen a static frame until nothing is coarse, however long that takes")
    func partialRefinement() {
        var run = CadenceRun()
        run.isCoarse = true
        run.isRefining = true
        run.frame()
        run.run(until: .seconds(20))
        let steps = zip(run.log, run.log.dropFirst()).map { $1.milliseconds - $0.milliseconds }
        #expect(steps.allSatisfy { $0 <= 50 })
        // Nothing is coarse any more: it rests.
        run.isCoarse = false
        let before = run.log.count
        run.run(until: .seconds(40))
        #expect(run.log.count - before < 200)
    }

    @Test("Without partial updates a coarse static frame is sharpened for at most two seconds")
    func refinement() {
        var run = CadenceRun()
        run.isCoarse = true
        run.frame()
        run.run(until: .seconds(1))
        #expect((19...21).contains(run.log.count))
        run.isCoarse = false
        run.run(until: .seconds(1.9))
        #expect((23...28).contains(run.log.count))
        run.isCoarse = true
        run.frame()
        let before = run.log.count
        run.run(until: .seconds(1.9 + 6.5))
        #expect((48...62).contains(run.log.count - before))
    }

    @Test("Several requests are answered by one key frame, at once from the last frame when none waits")
    func keyFrameRequests() {
        var run = CadenceRun()
        run.frame()
        run.run(until: .milliseconds(500))
        for _ in 0..<7 { run.cadence.requestKeyFrame() }
        run.run(until: .milliseconds(900))
        let keyFrames = run.log.filter(\.isKeyFrame)
        #expect(keyFrames.map(\.milliseconds) == [0, 500] && !keyFrames[1].isNew)
        run.cadence.requestKeyFrame()
        run.frame()
        run.run(until: .milliseconds(901))
        #expect(run.log.last == .init(milliseconds: 900, isNew: true, isKeyFrame: true))
    }

    @Test("A deferred key frame request waits for its time unless an earlier key frame answers it")
    func laterKeyFrame() {
        var run = CadenceRun()
        run.frame()
        run.run(until: .seconds(1))
        run.cadence.requestKeyFrame(notBefore: .seconds(5))
        run.cadence.requestKeyFrame(notBefore: .seconds(4))
        run.cadence.requestKeyFrame(notBefore: .seconds(6))
        run.frame()
        run.run(until: .seconds(10))
        #expect(run.log.filter(\.isKeyFrame).map(\.milliseconds) == [0, 4000])
        #expect(run.log.contains(.init(milliseconds: 1000, isNew: true, isKeyFrame: false)))
        run.cadence.requestKeyFrame(notBefore: .seconds(15))
        run.cadence.requestKeyFrame()
        run.run(until: .seconds(20))
        #expect(run.log.filter(\.isKeyFrame).map(\.milliseconds) == [0, 4000, 10_000])
    }

    @Test("A deferred key frame request does not delay small changes")
    func laterKeyFrameAndSmallChange() {
        var cadence = FrameCadence(framesPerSecond: 30)
        cadence.frameArrived(timestamp: .zero, isChange: true, now: .zero)
        cadence.begin(new: true, now: .zero)
        cadence.encoded(isKeyFrame: true, isCoarse: false, now: .zero)
        cadence.hold(until: .seconds(3), smallChangesUntil: .seconds(1))
        cadence.requestKeyFrame(notBefore: .seconds(2))
        cadence.frameArrived(timestamp: .seconds(1), isChange: true, isSmall: true, now: .seconds(1))
        #expect(cadence.action(now: .seconds(1)) == .encodeNew(asKeyFrame: false))
        #expect(cadence.action(now: .seconds(2)) == .wait(until: .seconds(3)))
    }

    @Test(
        "The frame rate limit applies to timestamps, whatever the source's rate",
        arguments: [(60.0, 30.0, 30), (30.0, 30.0, 30), (25.0, 30.0, 25), (50.0, 20.0, 20), (60.0, 5.0, 5)])
    func rateLimit(source: Double, limit: Double, expected: Int) {
        var run = CadenceRun(framesPerSecond: limit)
        for index in 0..<Int(source * 4) {
            run.run(until: .seconds(Double(index) / source))
            run.frame()
        }
        run.run(until: .seconds(4))
        let encoded = run.log.count { $0.isNew && $0.milliseconds >= 1000 }
        #expect((expected * 3 - 2...expected * 3 + 2).contains(encoded), "\(encoded)")
    }

    @Test("A jittering source at the limit's rate loses no frame")
    func jitter() {
        var run = CadenceRun(framesPerSecond: 30)
        for index in 0..<90 {
            run.run(until: .milliseconds(index * 100 / 3 + [0, 9, 3, 11, 5][index % 5]))
            run.frame()
        }
        run.run(until: run.now + .milliseconds(20))
        #expect(run.log.count { $0.isNew } == 90)
    }

    @Test("An early frame is held rather than lost, since the source may come to rest after it")
    func heldFrame() {
        var run = CadenceRun(framesPerSecond: 10)
        for milliseconds in [0, 10, 20] {
            run.run(until: .milliseconds(milliseconds))
            run.frame()
        }
        run.run(until: .milliseconds(500))
        #expect(run.log.count { $0.isNew } == 2)
        #expect((30...150).contains(run.log[1].milliseconds))
    }

    @Test("Timestamps that go back or jump do not block encoding")
    func jumps() {
        var run = CadenceRun()
        for timestamp in [100.0, 0, 1e6, 5, 5.04, -40] {
            run.frame(timestamp: .seconds(timestamp))
            run.run(until: run.now + .milliseconds(40))
        }
        #expect(run.log.count { $0.isNew } == 6)
    }

    @Test("An unchanged frame is not encoded until a repetition is due")
    func unchanged() {
        var run = CadenceRun()
        run.frame()
        for index in 1..<30 {
            run.run(until: .seconds(index) / 30)
            run.frame(isChange: false)
        }
        run.run(until: .seconds(1))
        #expect(run.log.map(\.milliseconds) == [0, 120, 408, 897])
    }

    @Test("A change is kept when an unchanged frame replaces it")
    func changeIsKept() {
        var run = CadenceRun(framesPerSecond: 10)
        run.frame()
        run.run(until: .milliseconds(10))
        run.frame()
        run.frame(isChange: false)
        run.run(until: .milliseconds(200))
        #expect(run.log.count { $0.isNew } == 2)
    }

    @Test("Frames dropped by the rate control are retried, first at once, and a failure waits for a second")
    func dropsAndFailures() {
        var cadence = FrameCadence(framesPerSecond: 10)
        cadence.frameArrived(timestamp: .zero, isChange: true, now: .zero)
        #expect(cadence.action(now: .zero) == .encodeNew(asKeyFrame: true))
        cadence.begin(new: true, now: .zero)
        cadence.encoded(isKeyFrame: true, isCoarse: false, now: .zero)
        cadence.frameArrived(timestamp: .seconds(1), isChange: true, now: .seconds(1))
        cadence.begin(new: true, now: .zero)
        cadence.dropped(now: .seconds(1))
        #expect(cadence.action(now: .seconds(1)) == .encodeAgain(asKeyFrame: false))
        cadence.begin(new: false, now: .zero)
        cadence.dropped(now: .seconds(1))
        #expect(cadence.action(now: .seconds(1)) == .wait(until: .milliseconds(1100)))
        cadence.begin(new: false, now: .zero)
        cadence.failed(now: .seconds(2))
        cadence.requestKeyFrame()
        #expect(cadence.action(now: .seconds(2)) == .wait(until: .seconds(3)))
        #expect(cadence.action(now: .seconds(3)) == .encodeAgain(asKeyFrame: true))
        cadence.frameArrived(timestamp: .seconds(2), isChange: true, now: .seconds(2))
        #expect(cadence.action(now: .seconds(2)) == .encodeNew(asKeyFrame: true))
    }

    @Test("A frame that arrives during encoding is encoded next")
    func whileEncoding() {
        var cadence = FrameCadence(framesPerSecond: 30)
        cadence.frameArrived(timestamp: .zero, isChange: true, now: .zero)
        cadence.begin(new: true, now: .zero)
        cadence.frameArrived(timestamp: .milliseconds(40), isChange: true, now: .milliseconds(40))
        cadence.encoded(isKeyFrame: true, isCoarse: false, now: .milliseconds(50))
        #expect(cadence.action(now: .milliseconds(50)) == .encodeNew(asKeyFrame: false))
    }

    @Test("Nothing is encoded during a pause, which ends with the newest frame")
    func pause() {
        var run = CadenceRun()
        run.frame()
        run.run(until: .milliseconds(50))
        run.cadence.setPaused(true, now: run.now)
        run.cadence.requestKeyFrame()
        run.frame()
        run.run(until: .seconds(20))
        #expect(run.log.count == 1)
        run.cadence.setPaused(false, now: run.now)
        run.run(until: .seconds(20.05))
        #expect(run.log.count == 2)
        #expect(run.log[1] == .init(milliseconds: 20_000, isNew: true, isKeyFrame: true))
    }

    @Test("A frame that waits shows the changes since the first one that it replaced")
    func changeDuration() {
        var cadence = FrameCadence(framesPerSecond: 30)
        cadence.frameArrived(timestamp: .zero, isChange: true, now: .zero)
        cadence.begin(new: true, now: .zero)
        cadence.encoded(isKeyFrame: true, isCoarse: false, now: .zero)
        cadence.queueDidFill(true, now: .zero)
        // One that waits alone shows a single change, however long it waits.
        cadence.frameArrived(timestamp: .seconds(1), isChange: true, now: .seconds(1))
        cadence.begin(new: true, now: .seconds(2))
        #expect(cadence.currentChangeDuration == .zero)
        for tenth in 30..<40 {
            let time = Duration.milliseconds(tenth * 100)
            cadence.frameArrived(timestamp: time, isChange: true, now: time)
        }
        cadence.begin(new: true, now: .seconds(5))
        #expect(cadence.currentChangeDuration == .milliseconds(900))
    }

    @Test("A frame that is encoded after a pause has not waited for bits in that time")
    func waitAfterPause() {
        var cadence = FrameCadence(framesPerSecond: 30)
        cadence.hold(until: .zero)
        cadence.setPaused(true, now: .zero)
        cadence.frameArrived(timestamp: .milliseconds(40), isChange: true, now: .milliseconds(40))
        cadence.setPaused(false, now: .seconds(20))
        cadence.hold(until: .seconds(20.5))
        #expect(cadence.action(now: .seconds(20)) == .wait(until: .seconds(20.5)))
        #expect(cadence.action(now: .seconds(20.5)) == .encodeNew(asKeyFrame: true))
        cadence.begin(new: true, now: .seconds(20.5))
        #expect(cadence.currentWait == .milliseconds(500))
    }
}

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "Timestamps always increase, by the source's steps or, at jumps, by the elapsed time")
    func line() {
        var line = TimestampLine()
        var last: Duration?
        let steps: [(source: Double?, now: Double, expected: Double)] = [
            (100, 100, 100), (100.04, 100.05, 100.04), (100.04, 100.06, 100.041), (nil, 101.06, 101.041),
            (100.9, 101.07, 101.042), (102, 102, 102), (0, 103, 103), (0.5, 103.5, 103.5), (1e6, 104, 104),
            (nil, 105, 105), (-1e6, 106, 106), (1e6 + 1, 106, 106.001),
        ]
        for step in steps {
            let result =
                step.source.map { line.next(timestamp: .seconds($0), now: .seconds(step.now)) }
                ?? line.again(now: .seconds(step.now))
            #expect(abs(result / .seconds(1) - step.expected) < 1e-6, "\(result) for \(step.expected)")
            if let last { #expect(result - last >= TimestampLine.smallestStep) }
            last = result
        }
    }

    @Test(
        "A source with another clock begins at its first frame's arrival and keeps its own steps",
        arguments: [Duration.zero, .seconds(-5), .seconds(1 << 40), .seconds(Int64.max), .seconds(Int64.min)])
    func anotherClock(first: Duration) {
        var line = TimestampLine()
        #expect(line.next(timestamp: first, now: .seconds(5000)) == .seconds(5000))
        guard first == .zero else { return }
        #expect(line.next(timestamp: .milliseconds(33), now: .seconds(5000.04)) == .seconds(5000) + .milliseconds(33))
    }

    @Test("A source with the monotonic clock keeps its timestamps, however late", arguments: [0.0, 0.2, 1.9])
    func sameClock(late: Double) {
        var line = TimestampLine()
        #expect(line.next(timestamp: .seconds(5000), now: .seconds(5000 + late)) == .seconds(5000))
    }

    @Test("Presentation times follow the grid of the frame rate, and a pause accumulates nothing")
    func presentation() {
        var clock = PresentationClock()
        let times = [0, 0.034, 0.066, 0.101, 0.2, 60, 60.033, 5, -3, 1e12].map {
            clock.next(timestamp: .seconds($0), framesPerSecond: 30).ticks / 3000
        }
        #expect(times == [0, 1, 2, 3, 6, 10, 11, 12, 13, 17])
    }

    @Test("A source of 20 frames per second on a grid of 30 keeps its average rate")
    func presentationAverage() {
        var clock = PresentationClock()
        let last = (0...200).map { clock.next(timestamp: .seconds($0) / 20, framesPerSecond: 30).ticks }.last ?? 0
        #expect(abs(last - 10 * PresentationClock.timebase) <= 3000)
    }

    @Test("A discarded frame is not encoded again on any request")
    func forgetting() {
        var cadence = FrameCadence(framesPerSecond: 30)
        cadence.frameArrived(timestamp: .seconds(100), isChange: true, now: .zero)
        cadence.begin(new: true, now: .zero)
        cadence.encoded(isKeyFrame: true, isCoarse: true, now: .zero)
        cadence.frameArrived(timestamp: .seconds(101), isChange: true, now: .zero)
        cadence.forgetPicture()
        cadence.requestKeyFrame()
        cadence.settingsChanged()
        cadence.forgetPicture()
        #expect(cadence.action(now: .seconds(10)) == .wait(until: nil))
        // The next source's clock is its own.
        cadence.frameArrived(timestamp: .seconds(5), isChange: false, now: .seconds(10))
        #expect(cadence.action(now: .seconds(10)) == .encodeNew(asKeyFrame: true))
    }

    @Test(
        "A frame due soon may be replaced; one that waits long is kept, and replaced shortly before its turn"
    )
    func demand() {
        var cadence = FrameCadence(framesPerSecond: 1)
        #expect(!cadence.keepsWaiting(now: .zero))
        cadence.frameArrived(timestamp: .zero, isChange: true, now: .zero)
        #expect(!cadence.keepsWaiting(now: .zero))
        cadence.begin(new: true, now: .zero)
        cadence.encoded(isKeyFrame: true, isCoarse: false, now: .zero)
        // Due half an interval after the one before.
        cadence.frameArrived(timestamp: .milliseconds(100), isChange: true, now: .milliseconds(100))
        #expect(cadence.keepsWaiting(now: .milliseconds(101)))
        #expect(!cadence.keepsWaiting(now: .milliseconds(500) - FrameCadence.lead))
        cadence.hold(until: .seconds(3))
        #expect(cadence.keepsWaiting(now: .milliseconds(500)))
        #expect(!cadence.keepsWaiting(now: .seconds(3) - FrameCadence.lead))
        cadence.queueDidFill(true, now: .seconds(3))
        #expect(!cadence.keepsWaiting(now: .seconds(3)))
        cadence.frameArrived(timestamp: .seconds(3), isChange: true, now: .seconds(3))
        #expect(cadence.keepsWaiting(now: .seconds(3) + .milliseconds(50)))
        #expect(!cadence.keepsWaiting(now: .seconds(3) + FrameCadence.renewal))
    }

    @Test("A small change does not wait for the bits of a page, but for those of a far larger debt")
    func smallChanges() {
        var cadence = FrameCadence(framesPerSecond: 30)
        cadence.frameArrived(timestamp: .zero, isChange: true, now: .zero)
        cadence.begin(new: true, now: .zero)
        cadence.encoded(isKeyFrame: true, isCoarse: false, now: .zero)
        cadence.hold(until: .seconds(2), smallChangesUntil: .seconds(1))
        let waits = FrameCadence.Action.wait(until: .seconds(2))
        cadence.frameArrived(timestamp: .seconds(1.1), isChange: true, now: .seconds(1.1))
        #expect(cadence.action(now: .seconds(1.1)) == waits)
        // One that comes with the page is as large as that.
        cadence.frameArrived(timestamp: .seconds(1.2), isChange: true, isSmall: false, now: .seconds(1.2))
        #expect(cadence.action(now: .seconds(1.2)) == waits)
        cadence.frameArrived(timestamp: .seconds(1.3), isChange: true, isSmall: true, now: .seconds(1.3))
        #expect(cadence.action(now: .seconds(1.3)) == .encodeNew(asKeyFrame: false))
        cadence.begin(new: true, now: .seconds(1.3))
        // From the first that waited in the same place.
        #expect(cadence.currentWait == .seconds(1.3) - .seconds(1.1))
        cadence.encoded(isKeyFrame: false, isCoarse: false, now: .seconds(1.3))
        // Nothing is repeated meanwhile, and what takes too much altogether waits too.
        #expect(cadence.action(now: .seconds(1.9)) == waits)
        cadence.hold(until: .seconds(9), smallChangesUntil: .seconds(8))
        cadence.frameArrived(timestamp: .seconds(2), isChange: true, isSmall: true, now: .seconds(2))
        #expect(cadence.action(now: .seconds(2)) == .wait(until: .seconds(8)))
        #expect(cadence.keepsWaiting(now: .seconds(2)) && !cadence.keepsWaiting(now: .seconds(8)))
    }
}

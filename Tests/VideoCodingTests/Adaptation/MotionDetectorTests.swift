import RTCShareMedia
import Testing

@testable import RTCShareVideoCoding

@Suite struct MotionDetectorTests {
    private struct Run {
        var detector = MotionDetector()
        var now = Duration.seconds(50)

        /// Gives pictures for so long, of which each has this much that is new, which changed with it or soon after the
        /// last one.
        mutating func give(_ seconds: Double, newShare: Double, rate: Double = 30, changesAtOnce: Bool = false) {
            for _ in 0..<Int(seconds * rate) {
                let changedAt = now + .seconds(changesAtOnce ? 1.0 / 30 : 1 / rate)
                now += .seconds(1 / rate)
                detector.update(newShare: newShare, changedAt: changedAt, now: now)
            }
        }

        mutating func rest(_ seconds: Double) {
            now += .seconds(seconds)
            detector.update(now: now)
        }
    }

    @Test("A mostly changed area over 1.5 s is video", arguments: [4.0, 30])
    func film(rate: Double) {
        var run = Run()
        run.give(1.25, newShare: 0.9, rate: rate)
        #expect(run.detector.hint == .detail)
        run.give(1, newShare: 0.9, rate: rate)
        #expect(run.detector.hint == .motion)
    }

    @Test("A video of which few frames are encoded is found, and pages that are turned as seldom are not a video")
    func fewFrames() {
        for changesAtOnce in [false, true] {
            var run = Run()
            run.give(2.5, newShare: 0.9, rate: 2, changesAtOnce: changesAtOnce)
            #expect(run.detector.hint == (changesAtOnce ? .motion : .detail))
        }
    }

    @Test("Three pages are not a video, even if something changed all the time between them")
    func pages() {
        var run = Run()
        run.give(3.1, newShare: 0.9, rate: 1, changesAtOnce: true)
        #expect(run.detector.hint == .detail)
    }

    @Test("A page that becomes sharp is not a video")
    func page() {
        var run = Run()
        run.give(0.1, newShare: 0.9)
        for _ in 0..<30 {
            run.rest(0.1)
            #expect(run.detector.hint == .detail)
        }
    }

    @Test("A video has single frames of which little is new, but not two in sequence", arguments: [1, 2])
    func stillFrames(count: Int) {
        var run = Run()
        for _ in 0..<4 {
            run.give(0.8, newShare: 0.9)
            run.give((Double(count) + 0.5) / 30, newShare: 0.1)
        }
        #expect(run.detector.hint == (count == 1 ? .motion : .detail))
    }

    @Test("A video goes on after a pause")
    func pause() {
        var run = Run()
        run.give(2, newShare: 0.9)
        run.now += .seconds(20)
        run.detector.resume(found: nil, now: run.now)
        run.rest(0)
        #expect(run.detector.hint == .motion)
        run.rest(1)
        #expect(run.detector.hint == .detail)
    }

    @Test("Content in which another encoder has found motion is video until it rests")
    func found() {
        for hint in [nil, ContentHint.detail, .motion] {
            var run = Run()
            run.give(1, newShare: 0.9)
            run.detector.resume(found: hint, now: run.now)
            run.rest(0)
            #expect(run.detector.hint == (hint == .motion ? .motion : .detail))
            run.rest(1)
            #expect(run.detector.hint == .detail)
        }
    }

    @Test("Partial changes, slowly turned pages and a change that ends are not video")
    func detail() {
        var run = Run()
        run.give(20, newShare: 0.45)
        run.give(20, newShare: 1, rate: 2)
        for _ in 0..<10 {
            run.give(1.2, newShare: 1)
            run.give(0.1, newShare: 0.01)
        }
        #expect(run.detector.hint == .detail)
    }

    @Test("Video stays detected while little moves, until nothing has moved for a second")
    func ends() {
        var run = Run()
        run.give(3, newShare: 0.9)
        run.give(10, newShare: 0.2)
        #expect(run.detector.hint == .motion)
        run.give(0.9, newShare: 0.01)
        #expect(run.detector.hint == .motion)
        run.give(0.2, newShare: 0.01)
        #expect(run.detector.hint == .detail)
        // The next begins from nothing.
        run.give(1.25, newShare: 0.9)
        #expect(run.detector.hint == .detail)
    }

    @Test("A paused video is at rest without another frame")
    func paused() {
        var run = Run()
        run.give(3, newShare: 0.9)
        run.rest(0.9)
        #expect(run.detector.hint == .motion)
        run.rest(0.2)
        #expect(run.detector.hint == .detail)
    }
}

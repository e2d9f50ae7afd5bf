import Testing

@testable import RTCSharePlayback

@Suite("Lip sync")
struct LipSyncTests {
    /// The sender's clock is ahead of ours by this.
    private static let sender = Duration.seconds(1_700_000_000)

    private func ms(_ count: Int) -> Duration { .milliseconds(count) }

    /// Plays audio in blocks of 20 ms that is heard `delay` after its capture, from one time to another on the local
    /// clock.
    private func play(
        _ sync: inout LipSync, delay: Int, from start: Int = 0, to end: Int, isAudible: Bool = true
    ) {
        for now in stride(from: start, to: end, by: 20) {
            sync.soundPlays(
                captureTime: Self.sender + ms(now - 50), heard: ms(now - 50 + delay), isAudible: isAudible, now: ms(now)
            )
        }
    }

    @Test("A frame is shown when the audio of its capture time is heard")
    func held() {
        var sync = LipSync()
        play(&sync, delay: 120, to: 1000)
        #expect(sync.due(captureTime: Self.sender + ms(960), now: ms(1000)) == ms(1080))
    }

    @Test("A frame is shown at once if its audio was already heard, or if there is no audio")
    func atOnce() {
        var sync = LipSync()
        #expect(sync.due(captureTime: Self.sender, now: ms(5)) == ms(5))
        play(&sync, delay: 120, to: 1000)
        #expect(sync.due(captureTime: Self.sender + ms(700), now: ms(1000)) == ms(1000))
    }

    @Test("Audio that has ended delays no frame, and neither does lasting silence")
    func silence() {
        var sync = LipSync()
        play(&sync, delay: 120, to: 1000)
        #expect(sync.due(captureTime: Self.sender + ms(1480), now: ms(1490)) == ms(1490), "nothing comes any more")
        play(&sync, delay: 120, from: 1500, to: 4000, isAudible: false)
        #expect(sync.due(captureTime: Self.sender + ms(3960), now: ms(4000)) == ms(4000), "nobody could tell")
        play(&sync, delay: 120, from: 4000, to: 4020)
        #expect(sync.due(captureTime: Self.sender + ms(4000), now: ms(4020)) == ms(4120), "it is heard again")
    }

    @Test("No frame is delayed by more than a second, and none by a clock that was set")
    func bounds() {
        var sync = LipSync()
        play(&sync, delay: 1500, to: 1000)
        #expect(sync.due(captureTime: Self.sender + ms(990), now: ms(1000)) == ms(2000))
        #expect(sync.due(captureTime: Self.sender + .seconds(3600), now: ms(1000)) == ms(1000))
    }

    @Test("The device's delay is smoothed, and frames follow a jump at once")
    func jumps() {
        var sync = LipSync()
        for now in stride(from: 0, to: 2000, by: 20) {
            let noise = now % 40 == 0 ? 5 : -5
            sync.soundPlays(
                captureTime: Self.sender + ms(now), heard: ms(now + 100 + noise), isAudible: true, now: ms(now))
        }
        let due = sync.due(captureTime: Self.sender + ms(2000), now: ms(2000))
        #expect(due > ms(2099) && due < ms(2101))
        sync.soundPlays(captureTime: Self.sender + ms(2000), heard: ms(2200), isAudible: true, now: ms(2000))
        #expect(sync.due(captureTime: Self.sender + ms(2000), now: ms(2000)) == ms(2200))
    }

    /// Runs 30 frames per second that arrive `delay` after their capture, and audio that is heard 60 ms after its
    /// capture plus the requested delay.
    private func run(_ sync: inout LipSync, pictures delay: Int, from start: Int, seconds: Int) {
        var nextPicture = start
        for now in stride(from: start, to: start + seconds * 1000, by: 20) {
            let wait = max(60, Int(sync.jitterBufferTarget / .milliseconds(1)) + 20)
            sync.soundPlays(captureTime: Self.sender + ms(now), heard: ms(now + wait), isAudible: true, now: ms(now))
            while nextPicture <= now {
                _ = sync.due(captureTime: Self.sender + ms(nextPicture - delay), now: ms(nextPicture))
                nextPicture += 33
            }
        }
    }

    @Test("Audio is delayed while frames take longer than audio")
    func soundWaits() {
        var sync = LipSync()
        run(&sync, pictures: 50, from: 0, seconds: 5)
        #expect(sync.jitterBufferTarget == .zero)
        run(&sync, pictures: 200, from: 5000, seconds: 15)
        #expect(sync.jitterBufferTarget > ms(150) && sync.jitterBufferTarget < ms(260))
        run(&sync, pictures: 900, from: 20_000, seconds: 30)
        #expect(sync.jitterBufferTarget == LipSync.longestTarget)
        run(&sync, pictures: 30, from: 50_000, seconds: 30)
        #expect(sync.jitterBufferTarget <= ms(70))
    }

    @Test("An occasional late frame does not delay audio")
    func slides() {
        var sync = LipSync()
        for second in 0..<20 {
            play(&sync, delay: 60, from: second * 1000, to: second * 1000 + 1000)
            _ = sync.due(captureTime: Self.sender + ms(second * 1000), now: ms(second * 1000 + 700))
        }
        #expect(sync.jitterBufferTarget == .zero)
    }
}

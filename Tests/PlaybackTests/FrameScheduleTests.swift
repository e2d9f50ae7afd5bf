import Testing

@testable import RTCSharePlayback

@Suite("Frames that wait for their time")
struct FrameScheduleTests {
    private func ms(_ count: Int) -> Duration { .milliseconds(count) }

    @Test("A frame is shown once, at its time")
    func oneByOne() {
        var schedule = FrameSchedule<Int>()
        schedule.insert(1, due: ms(40), now: ms(0))
        schedule.insert(2, due: ms(73), now: ms(33))
        #expect(schedule.take(at: ms(39)) == nil && schedule.nextDue == ms(40))
        #expect(schedule.take(at: ms(40)) == 1)
        #expect(schedule.take(at: ms(41)) == nil && schedule.nextDue == ms(73))
        #expect(schedule.take(at: ms(80)) == 2)
        #expect(schedule.take(at: ms(999)) == nil && schedule.nextDue == nil && schedule.framesDropped == 0)
    }

    @Test("The newest frame that is due is shown, and the others are counted")
    func late() {
        var schedule = FrameSchedule<Int>()
        for number in 1...5 { schedule.insert(number, due: ms(number * 33), now: ms(0)) }
        #expect(schedule.take(at: ms(100)) == 3)
        #expect(schedule.framesDropped == 2)
        #expect(schedule.nextDue == ms(132))
    }

    @Test("Only the newest due frame and those of the future are kept while nothing is drawn")
    func unseen() {
        var schedule = FrameSchedule<Int>()
        for number in 1...100 { schedule.insert(number, due: ms(number), now: ms(number)) }
        #expect(schedule.framesDropped == 99)
        #expect(schedule.take(at: ms(100)) == 100)
    }

    @Test("A frame that is due before an older one replaces it")
    func clockSetBack() {
        var schedule = FrameSchedule<Int>()
        schedule.insert(1, due: ms(500), now: ms(0))
        schedule.insert(2, due: ms(60), now: ms(30))
        #expect(schedule.nextDue == ms(60))
        #expect(schedule.take(at: ms(60)) == 2)
        #expect(schedule.nextDue == nil && schedule.framesDropped == 1)
    }

    @Test("The number of waiting frames is limited, however late they are due")
    func bound() {
        var schedule = FrameSchedule<Int>()
        let count = FrameSchedule<Int>.capacity + 10
        for number in 1...count { schedule.insert(number, due: ms(10_000 + number), now: ms(number)) }
        #expect(schedule.framesDropped == 10)
        #expect(schedule.nextDue == ms(10_011))
    }
}

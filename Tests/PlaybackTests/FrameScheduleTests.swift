import Testing

@testable import RTCSharePlayback

@Suite("Pictures that wait for their time")
struct FrameScheduleTests {
    private func ms(_ count: Int) -> Duration { .milliseconds(count) }

    @Test("A picture is shown when its time has come, once")
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

    @Test("Of pictures whose time has come the newest is shown, and the others are counted")
    func late() {
        var schedule = FrameSchedule<Int>()
        for number in 1...5 { schedule.insert(number, due: ms(number * 33), now: ms(0)) }
        #expect(schedule.take(at: ms(100)) == 3)
        #expect(schedule.framesDropped == 2)
        #expect(schedule.nextDue == ms(132))
    }

    @Test("While nobody looks, only the newest picture and those of the future are kept")
    func unseen() {
        var schedule = FrameSchedule<Int>()
        for number in 1...100 { schedule.insert(number, due: ms(number), now: ms(number)) }
        #expect(schedule.framesDropped == 99)
        #expect(schedule.take(at: ms(100)) == 100)
    }

    @Test("A picture that is due before an older one takes its place")
    func clockSetBack() {
        var schedule = FrameSchedule<Int>()
        schedule.insert(1, due: ms(500), now: ms(0))
        schedule.insert(2, due: ms(60), now: ms(30))
        #expect(schedule.nextDue == ms(60))
        #expect(schedule.take(at: ms(60)) == 2)
        #expect(schedule.nextDue == nil && schedule.framesDropped == 1)
    }

    @Test("However far off their time is, no more pictures wait than the bound says")
    func bound() {
        var schedule = FrameSchedule<Int>()
        let count = FrameSchedule<Int>.capacity + 10
        for number in 1...count { schedule.insert(number, due: ms(10_000 + number), now: ms(number)) }
        #expect(schedule.framesDropped == 10)
        #expect(schedule.nextDue == ms(10_011))
    }
}

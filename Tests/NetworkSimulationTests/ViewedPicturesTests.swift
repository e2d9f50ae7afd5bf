import RTCShareNetworkSimulation
import Testing

@Suite struct ViewedPicturesTests {
    private func freezes(_ times: [Double]) -> [Bool] {
        ViewedPictures(pictures: times.map { .init(time: $0, tick: nil) }, drawn: [0]).gaps.map(\.isFreeze)
    }

    @Test(
        "A gap is a freeze if it is three times the mean of the last thirty, including itself, and 150 ms above it",
        arguments: [(0.033, 0.18, false), (0.033, 0.21, true), (0.2, 0.5, false), (0.2, 0.8, true)])
    func freezeRule(interval: Double, gap: Double, isFreeze: Bool) {
        let steady = (0..<40).map { Double($0) * interval }
        let found = freezes(steady + [steady[39] + gap])
        #expect(found.dropLast().allSatisfy { !$0 })
        #expect(found.last == isFreeze)
    }

    @Test("With fewer than five intervals there is no mean, and no freeze")
    func firstIntervals() {
        #expect(freezes([0, 0.033, 0.066, 0.1, 1]) == [false, false, false, false])
        #expect(freezes([0, 0.033, 0.066, 0.1, 0.133, 1]) == [false, false, false, false, true])
    }

    @Test("A frame that remains because the screen is at rest is no stall")
    func restingScreen() {
        let viewed = ViewedPictures(
            pictures: [.init(time: 0.1, tick: 1), .init(time: 3.1, tick: 2)], drawn: [0, 0.05, 3])
        #expect(viewed.gaps.map(\.changed) == [3])
        #expect(abs(viewed.gaps[0].duration - 3) < 1e-9)
        #expect(abs(viewed.gaps[0].stall - 0.1) < 1e-9)
    }

    @Test("A stall begins when the frame is outdated, and not before its arrival")
    func stallBegins() {
        // The change at 0.2 came before the frame that lacks it.
        let viewed = ViewedPictures(
            pictures: [.init(time: 0.3, tick: 0), .init(time: 0.5, tick: 1), .init(time: 0.9, tick: 1)],
            drawn: [0, 0.2, 2])
        #expect(viewed.gaps.map(\.changed) == [0.3, nil])
        #expect(viewed.gaps[1].stall == 0)
    }

    @Test(
        "A change's delay ends at the first frame that shows it or a later change"
    )
    func delays() {
        let viewed = ViewedPictures(
            pictures: [.init(time: 0.1, tick: 0), .init(time: 0.4, tick: 2), .init(time: 0.6, tick: nil)],
            drawn: [0, 0.2, 0.3, 0.5])
        #expect(viewed.delays.map { $0.map { ($0 * 10).rounded() } } == [2, 1, nil])
    }

    @Test(
        "The screen shows the last change before a given time", arguments: [(-1, 0), (0.5, 0), (1, 1), (9, 2)])
    func tickAtTime(time: Double, tick: Int) {
        #expect(ViewedPictures(pictures: [], drawn: [0, 1, 2]).tick(at: time) == tick)
    }
}

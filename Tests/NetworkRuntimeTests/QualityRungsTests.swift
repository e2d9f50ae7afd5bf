import Testing

@testable import NetworkRuntime

@Suite struct QualityRungsTests {
    private static func rungs(_ rates: [Int], at now: Duration = .zero) -> QualityRungs<Int> {
        var rungs = QualityRungs<Int>()
        for (viewer, rate) in rates.enumerated() {
            rungs.add(viewer, now: now)
            rungs.setRate(rate, of: viewer)
        }
        return rungs
    }

    /// Lets time pass in tenths of a second; who moved where, in order.
    private static func pass(
        _ rungs: inout QualityRungs<Int>, from start: Int, to end: Int
    ) -> [[Int]] {
        (start * 10..<end * 10).flatMap { tenth in
            rungs.moves(now: .milliseconds(tenth * 100)).sorted { $0.viewer < $1.viewer }.map { [$0.viewer, $0.rung] }
        }
    }

    @Test("Alone, or among equals, a viewer stays where it is, however poor its path")
    func aloneAmongEquals() {
        var alone = Self.rungs([90_000])
        #expect(Self.pass(&alone, from: 0, to: 20).isEmpty)
        #expect(alone.rate(of: 0, now: .seconds(20)) == 90_000)
        var equals = Self.rungs([1_000_000, 800_000, 510_000])
        #expect(Self.pass(&equals, from: 0, to: 20).isEmpty)
        #expect(equals.rate(of: 0, now: .seconds(20)) == 510_000)
    }

    @Test("Who has less than half goes down a rung, who has far less another, and nobody holds the others back")
    func stepsDown() {
        var rungs = Self.rungs([2_500_000, 2_000_000, 900_000, 300_000, 100_000, 50_000])
        #expect(Self.pass(&rungs, from: 0, to: 10).sorted { $0[0] < $1[0] } == [[2, 1], [3, 2], [4, 2], [5, 2]])
        #expect(rungs.rate(of: 0, now: .seconds(10)) == 2_000_000)
        #expect(rungs.rate(of: 1, now: .seconds(10)) == 900_000)
        #expect(rungs.rate(of: 2, now: .seconds(10)) == 50_000)
        #expect((0..<6).map { rungs.rung(of: $0) } == [0, 0, 1, 2, 2, 2])
    }

    @Test("A path that recovers brings its viewer up, once it has done well for long")
    func stepsUp() {
        var rungs = Self.rungs([2_000_000, 500_000])
        #expect(Self.pass(&rungs, from: 0, to: 5) == [[1, 1]])
        rungs.setRate(1_100_000, of: 1)
        #expect(Self.pass(&rungs, from: 5, to: 15).isEmpty, "Half is not enough to come up.")
        rungs.setRate(1_300_000, of: 1)
        #expect(Self.pass(&rungs, from: 15, to: 19).isEmpty)
        #expect(Self.pass(&rungs, from: 19, to: 21) == [[1, 0]])
        rungs.setRate(1_050_000, of: 1)
        #expect(Self.pass(&rungs, from: 21, to: 40).isEmpty, "What suffices to stay does not swing.")
    }

    @Test("A short dip moves nobody")
    func shortDip() {
        var rungs = Self.rungs([2_000_000, 1_500_000])
        #expect(Self.pass(&rungs, from: 0, to: 5).isEmpty)
        rungs.setRate(400_000, of: 1)
        _ = rungs.moves(now: .seconds(5))
        #expect(rungs.moves(now: .milliseconds(5900)).isEmpty)
        rungs.setRate(1_500_000, of: 1)
        #expect(Self.pass(&rungs, from: 6, to: 20).isEmpty)
    }

    @Test("A new viewer, and one that nothing is sent to, hold nobody back")
    func newViewer() {
        var rungs = Self.rungs([2_000_000])
        rungs.add(7, now: .seconds(10))
        rungs.setRate(300_000, of: 7)
        #expect(rungs.rate(of: 0, now: .seconds(11)) == 2_000_000)
        #expect(rungs.rate(of: 0, now: .seconds(13)) == 300_000)
        rungs.setWithheld(true, 7)
        #expect(rungs.rate(of: 0, now: .seconds(13)) == 2_000_000)
        rungs.remove(0)
        #expect(rungs.rate(of: 0, now: .seconds(13)) == 300_000, "Who is alone is who there is to go by.")
    }

    @Test("Who takes far less than others do by its description is set apart before it is sent anything")
    func lowDescription() {
        var rungs = Self.rungs([2_000_000, 1_500_000])
        rungs.add(7, share: 0.03, now: .zero)
        #expect(rungs.rung(of: 7) == QualityRungs<Int>.limitedRungs.lowerBound)
        rungs.setRate(9_000_000, of: 7)
        #expect(Self.pass(&rungs, from: 0, to: 10).isEmpty, "Its path sets no measure for the others.")
        #expect(rungs.rate(of: 0, now: .seconds(10)) == 1_500_000)
        #expect(rungs.rate(of: QualityRungs<Int>.limitedRungs.lowerBound, now: .seconds(10)) == 9_000_000)
    }

    @Test("A description that is changed to far less holds at once, and one that is changed back after a while")
    func changedDescription() {
        var rungs = Self.rungs([2_000_000, 1_500_000, 600_000])
        #expect(Self.pass(&rungs, from: 0, to: 5) == [[2, 1]])
        rungs.setShare(0.49, of: 1)
        #expect(rungs.moves(now: .seconds(5)).map { [$0.viewer, $0.rung] } == [[1, 3]])
        rungs.setShare(0.59, of: 1)
        #expect(Self.pass(&rungs, from: 5, to: 20).isEmpty)
        rungs.setShare(1, of: 1)
        #expect(Self.pass(&rungs, from: 20, to: 25).isEmpty)
        #expect(Self.pass(&rungs, from: 25, to: 27) == [[1, 0]])
    }

    @Test("Who takes next to nothing holds those back least who take a third")
    func nextToNothing() {
        var rungs = Self.rungs([2_000_000])
        rungs.add(1, share: 0.33, now: .zero)
        rungs.add(2, share: 0.4, now: .zero)
        rungs.add(3, share: 0.02, now: .zero)
        #expect((0..<4).map { rungs.rung(of: $0) } == [0, 3, 3, 4])
        rungs.setShare(0.24, of: 3)
        #expect(Self.pass(&rungs, from: 0, to: 5).isEmpty)
        #expect(Self.pass(&rungs, from: 5, to: 6) == [[3, 3]], "Six tenths of the best of them, for five seconds.")
        rungs.setShare(0.15, of: 1)
        #expect(rungs.moves(now: .seconds(6)).map { [$0.viewer, $0.rung] } == [[1, 4]])
    }

    @Test("Alone, or where all take little, nobody is set apart by its description")
    func littleForAll() {
        var rungs = QualityRungs<Int>()
        for (viewer, share) in [0.13, 0.07, 0.2].enumerated() { rungs.add(viewer, share: share, now: .zero) }
        #expect((0..<3).map { rungs.rung(of: $0) } == [0, 0, 0])
        rungs.add(3, share: 1, now: .seconds(1))
        #expect(
            rungs.moves(now: .seconds(1)).map { [$0.viewer, $0.rung] }.sorted { $0[0] < $1[0] }
                == [[0, 3], [1, 4], [2, 3]])
        // Once it has left, or is sent nothing, those who are left are who there is to go by.
        rungs.setWithheld(true, 3)
        #expect(
            Self.pass(&rungs, from: 1, to: 10).sorted { $0[0] < $1[0] } == [[0, 0], [1, 3], [2, 0]],
            "Six tenths is what it takes to come up.")
    }

    @Test("Where the best leaves, those that are left come up")
    func bestLeaves() {
        var rungs = Self.rungs([2_500_000, 600_000, 500_000])
        #expect(Self.pass(&rungs, from: 0, to: 5).sorted { $0[0] < $1[0] } == [[1, 1], [2, 1]])
        rungs.remove(0)
        #expect(Self.pass(&rungs, from: 5, to: 12).sorted { $0[0] < $1[0] } == [[1, 0], [2, 0]])
    }
}

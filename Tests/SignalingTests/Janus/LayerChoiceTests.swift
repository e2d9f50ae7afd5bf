import Testing

@testable import RTCShareSignaling

/// The layer that a viewer of a room asks for.
@Suite struct LayerChoiceTests {
    /// Returns the layers after each second in which a share of a hundred packets was lost.
    private static func layers(
        _ choice: inout LayerChoice, losses: [Double], from second: Int = 0, packets: Int = 100
    ) -> [Int] {
        losses.enumerated().map { index, loss in
            let lost = Int(loss * Double(packets))
            _ = choice.measured(received: packets - lost, lost: lost, now: .seconds(second + index))
            return choice.layer
        }
    }

    @Test("A layer that loses many packets is left, and the next one is given two seconds")
    func descent() {
        var choice = LayerChoice()
        #expect(Self.layers(&choice, losses: [0, 0.05, 0.5, 0.9, 0.9, 0.9, 0.9]) == [2, 2, 1, 1, 0, 0, 0])
    }

    @Test("After ten seconds without losses the better layer is tried, and after twice the time if it failed")
    func ascent() {
        var choice = LayerChoice()
        _ = Self.layers(&choice, losses: [0.5])
        #expect(choice.layer == 1)
        let first = Self.layers(&choice, losses: Array(repeating: 0, count: 13), from: 2)
        #expect(first.firstIndex(of: 2) == 10)
        _ = Self.layers(&choice, losses: [0.5], from: 15)
        #expect(choice.layer == 1)
        let second = Self.layers(&choice, losses: Array(repeating: 0, count: 25), from: 17)
        #expect(second.firstIndex(of: 2) == 20)
    }

    @Test("A second with some losses delays the better layer, and a screen that rests proves nothing")
    func delayedAscent() {
        var choice = LayerChoice()
        _ = Self.layers(&choice, losses: [0.5])
        let losses = Array(repeating: 0.0, count: 8) + [0.05] + Array(repeating: 0.0, count: 12)
        #expect(Self.layers(&choice, losses: losses, from: 2).firstIndex(of: 2) == 19)
        var resting = LayerChoice()
        _ = Self.layers(&resting, losses: [0.5])
        let layers = Self.layers(&resting, losses: Array(repeating: 0, count: 60), from: 2, packets: 2)
        #expect(layers.allSatisfy { $0 == 1 })
        // The first packets after the rest do.
        #expect(Self.layers(&resting, losses: [0], from: 70) == [2])
    }

    @Test("Counts that run backwards, as after a new source, change nothing")
    func backwards() {
        var choice = LayerChoice()
        #expect(choice.measured(received: -5, lost: -100, now: .zero) == nil)
        #expect(choice.measured(received: 0, lost: 3, now: .seconds(1)) == nil, "too few packets")
        #expect(choice.measured(received: .max / 2, lost: 0, now: .seconds(2)) == nil && choice.layer == 2)
    }

    @Test("Another publisher in a section begins with the best layer and with its own counts")
    func otherPublisher() {
        func streams(_ feeds: [UInt64?]) -> [JanusRoomReport.Stream] {
            feeds.enumerated().map { index, feed in
                JanusRoomReport.Stream(mid: "\(index)", feedID: feed.map { .number($0) }, feedDisplay: nil)
            }
        }
        var layers = StreamLayers()
        func choose(_ mid: String, _ received: Int, _ lost: Int, _ second: Int) -> Int? {
            layers.measured(mid, received: received, lost: lost, now: .seconds(second))
        }
        layers.update(streams([7, 8]))
        for mid in ["0", "1"] {
            layers.begin(mid)
            #expect(choose(mid, 100, 0, 0) == nil && choose(mid, 150, 50, 1) == 1)
        }
        // The first section's publisher leaves, another one follows, and the second one's stays.
        layers.update(streams([nil, 8]))
        layers.update(streams([9, 8]))
        for mid in ["0", "1"] { layers.begin(mid) }
        #expect(choose("0", 1000, 900, 10) == nil, "the losses of the former publisher")
        #expect(choose("0", 1050, 950, 11) == 1 && choose("1", 200, 100, 11) == 0)
        #expect(choose("2", 100, 0, 11) == nil && choose("2", 100, 100, 12) == nil, "no simulcast")
    }
}

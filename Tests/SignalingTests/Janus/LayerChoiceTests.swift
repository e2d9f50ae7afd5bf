import Testing

@testable import RTCShareSignaling

/// The layer that a viewer of a room asks for.
@Suite struct LayerChoiceTests {
    /// A viewer of layers with these bitrates in kbit/s, the lowest first, on a path with a bandwidth. The server changes
    /// the layer half a second after it was asked.
    private struct Viewer {
        var choice = LayerChoice()
        var rates = [230, 650, 2300]
        /// In kbit/s.
        var bandwidth: Int
        /// The layer from which on frames have many packets, whose arrival shows the bandwidth.
        var largeFramesFrom = 0
        var second = 0
        /// The share of packets that is lost even if the path is not full, and replaced.
        var repaired = 0.0
        /// A layer of which half of the packets is lost for another reason.
        var failing: Int?

        /// Returns the layer after each second.
        mutating func layers(_ seconds: Int) -> [Int] {
            (0..<seconds).map { _ in
                let offered = rates[choice.layer]
                let carried = choice.layer == failing ? offered / 2 : min(offered, bandwidth)
                let counts = LayerChoiceTests.counts(
                    kilobits: carried, lost: 1 - Double(carried) / Double(offered),
                    repaired: repaired, bandwidth: choice.layer >= largeFramesFrom ? bandwidth : nil)
                let before = choice.layer
                _ = choice.measured(counts, now: .seconds(second))
                if choice.layer != before {
                    choice.arrived(choice.layer, now: .milliseconds(second * 1000 + 500))
                }
                second += 1
                return choice.layer
            }
        }
    }

    /// Returns the counts of a second with packets of a thousand bytes.
    private static func counts(
        kilobits: Int, lost: Double = 0, repaired: Double = 0, bandwidth: Int? = nil
    ) -> LayerCounts {
        let received = kilobits / 8
        let total = Double(received) / (1 - lost - repaired)
        // Three large frames, each with a train of four packets.
        let train = bandwidth == nil ? 0 : 3 * 4 * 1000
        return LayerCounts(
            packetsReceived: received, packetsLost: Int(total * (lost + repaired)),
            packetsRepaired: Int(total * repaired), bytesReceived: received * 1000, trainByteCount: train,
            trainDuration: bandwidth.map { .seconds(Double(train) * 8 / Double($0 * 1000)) } ?? .zero)
    }

    @Test(
        "A viewer begins with the lowest layer, soon has the best one that the path carries, and keeps it",
        arguments: [
            (200, [0]), (300, [0]), (400, [0]), (800, [0, 1]), (1250, [0, 1]), (3000, [0, 2]),
            (20000, [0, 2]),
        ])
    func bandwidth(kilobits: Int, expected: [Int]) {
        var viewer = Viewer(bandwidth: kilobits)
        let layers = viewer.layers(120)
        #expect(layers.reduce(into: []) { if $0.last != $1 { $0.append($1) } } == expected)
        #expect(layers[4] == expected.last)
    }

    @Test(
        "A layer that is too much for the path is left after two seconds, and tried when the path carries its bitrate")
    func failure() {
        // Before the first attempt, nothing shows that the best layer has so many times the bitrate of the next one.
        var viewer = Viewer(bandwidth: 1700)
        let layers = viewer.layers(120)
        let expected = [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 1]
        #expect(layers.prefix(11) == expected[...] && layers.dropFirst(11).allSatisfy { $0 == 1 }, "\(layers)")
        viewer.bandwidth = 3000
        #expect(viewer.layers(60).last == 2)
    }

    @Test("A layer that keeps failing, although the path carries its bitrate, is tried less often each time")
    func failures() {
        var viewer = Viewer(bandwidth: 3000)
        viewer.rates[2] = 1000
        viewer.failing = 2
        let layers = viewer.layers(400)
        let rises = layers.indices.dropFirst().filter { layers[$0] == 2 && layers[$0 - 1] < 2 }
        let waits = zip(rises.dropFirst(), rises).map { $0 - $1 }
        #expect(
            waits.count > 2 && waits[0] > 20 && zip(waits, waits.dropFirst()).allSatisfy { $1 > $0 * 3 / 2 }, "\(waits)"
        )
    }

    @Test("Without large frames, a better layer is tried after ten seconds without losses")
    func unknownBandwidth() {
        var viewer = Viewer(bandwidth: 3000, largeFramesFrom: 3)
        #expect(viewer.layers(30).firstIndex(of: 2) == 22)
        var slow = Viewer(bandwidth: 300, largeFramesFrom: 3)
        let layers = slow.layers(120)
        #expect(layers.firstIndex(of: 1) == 10 && layers.count { $0 == 1 } <= 8)
    }

    @Test("A path that gets slower gets the best lower layer that it carries, and a faster one again the better")
    func changingPath() {
        var viewer = Viewer(bandwidth: 1200)
        viewer.rates[2] = 1000
        #expect(viewer.layers(10).last == 1)
        viewer.bandwidth = 3000
        #expect(viewer.layers(30).last == 2)
        viewer.bandwidth = 300
        let layers = viewer.layers(20)
        #expect(layers.firstIndex(of: 0) == 0 && layers.allSatisfy { $0 == 0 })
        viewer.bandwidth = 3000
        #expect(viewer.layers(60).last == 2)
    }

    @Test("Repaired losses do not count, except in the first seconds of a better layer")
    func repairedLosses() {
        var viewer = Viewer(bandwidth: 3000)
        _ = viewer.layers(10)
        viewer.repaired = 0.2
        #expect(viewer.layers(60).allSatisfy { $0 == 2 })
        var full = Viewer(bandwidth: 800)
        let before = full.layers(4).last
        #expect(before == 1)
        full.repaired = 0.2
        #expect(full.layers(4).last == 0)
    }

    @Test("A screen that rests gets a better layer until one has failed")
    func rest() {
        var choice = LayerChoice()
        func layers(_ seconds: Range<Int>, _ kilobits: Int, lost: Double = 0, bandwidth: Int? = nil) -> [Int] {
            seconds.map {
                let counts = Self.counts(kilobits: kilobits, lost: lost, bandwidth: bandwidth)
                _ = choice.measured(counts, now: .seconds($0))
                choice.arrived(choice.layer, now: .seconds($0))
                return choice.layer
            }
        }
        #expect(layers(0..<30, 16).firstIndex(of: 2) == 21)
        #expect(layers(30..<31, 500, lost: 0.5) == [1])
        #expect(layers(31..<100, 16).allSatisfy { $0 == 1 })
        // Packets after the rest do.
        #expect(layers(100..<130, 500, bandwidth: 5000).last == 2)
    }

    @Test("Neither a rest nor an outage of the path shows that it carries a layer")
    func unprovenTime() {
        var choice = LayerChoice()
        var second = 0
        func layers(_ seconds: Int, _ kilobits: Int, lost: Double = 0) -> [Int] {
            (0..<seconds).map { _ in
                let counts = Self.counts(kilobits: kilobits, lost: lost, bandwidth: kilobits > 16 ? 5000 : nil)
                _ = choice.measured(counts, now: .seconds(second))
                choice.arrived(choice.layer, now: .seconds(second))
                second += 1
                return choice.layer
            }
        }
        #expect(layers(30, 0).last == 0)
        choice = LayerChoice(layer: 2)
        #expect(layers(3, 500) + layers(1, 500, lost: 0.5) == [2, 2, 2, 1])
        // It is tried again after twenty seconds with packets.
        #expect((layers(10, 500) + layers(100, 16) + layers(30, 0)).allSatisfy { $0 == 1 })
        #expect(layers(30, 500).firstIndex(of: 2) == 10)
        // The failure is not forgotten.
        #expect(layers(100, 16).last == 2 && layers(1, 500, lost: 0.5) == [1])
        #expect(layers(60, 500).firstIndex(of: 2) == 40)
    }

    @Test("A layer that failed is tried when the path carries its bitrate then, whatever the next one had before")
    func otherContent() {
        // Somebody types, and then scrolls during a disturbance of the path.
        var viewer = Viewer(bandwidth: 160)
        viewer.rates = [40, 40, 40]
        #expect(viewer.layers(10).contains(1) && viewer.choice.layer == 2)
        (viewer.rates, viewer.bandwidth) = ([230, 650, 2300], 20_000)
        #expect(viewer.layers(10).last == 2)
        viewer.bandwidth = 1000
        #expect(viewer.layers(2).last == 1)
        viewer.bandwidth = 20_000
        #expect(viewer.layers(40).last == 2)
    }

    @Test("A layer whose first frame shows that the path is too slow is left after a second, and then tried ever later")
    func slowFirstFrame() {
        var viewer = Viewer(bandwidth: 400, largeFramesFrom: 1)
        let layers = viewer.layers(600)
        let rises = layers.indices.filter { layers[$0] == 1 }
        let waits = zip(rises.dropFirst(), rises).map { $0 - $1 }
        #expect(rises.first == 10 && waits.count > 2, "\(rises)")
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $1 > $0 * 3 / 2 }, "\(waits)")
        viewer.bandwidth = 800
        #expect(viewer.layers(330).last == 1)
    }

    @Test("Without trains, a layer that fails each time is tried after times that double")
    func failuresWithoutTrains() {
        var viewer = Viewer(bandwidth: 300, largeFramesFrom: 3)
        let layers = viewer.layers(600)
        let rises = layers.indices.dropFirst().filter { layers[$0] == 1 && layers[$0 - 1] == 0 }
        let waits = zip(rises.dropFirst(), rises).map { $0 - $1 }
        #expect(rises.first == 10 && waits.count > 2, "\(rises)")
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $1 > $0 * 3 / 2 }, "\(waits)")
    }

    @Test("A bandwidth is unknown again five minutes after its measurement")
    func oldMeasurement() {
        var choice = LayerChoice()
        let layers = (0..<320).map { second in
            let counts = Self.counts(kilobits: 230, bandwidth: second == 0 ? 300 : nil)
            _ = choice.measured(counts, now: .seconds(second))
            return choice.layer
        }
        #expect(layers.firstIndex(of: 1) == 300)
    }

    @Test("The counts of two seconds are not those of one")
    func longSecond() {
        var layers = StreamLayers()
        layers.arrived(0, of: "0", now: .zero)
        let chosen = (0..<4).map { count in
            var counts = Self.counts(kilobits: 460 * count, bandwidth: 700)
            counts.trainByteCount *= count
            counts.trainDuration *= count
            return layers.measured("0", counts, now: .seconds(count * 2))
        }
        #expect(chosen == [nil, nil, nil, 1])
    }

    @Test("A lower layer that the server sends already, since the better one is paused, is not awaited")
    func earlierArrival() {
        var choice = LayerChoice(layer: 1)
        choice.arrived(1, now: .zero)
        let layers = (0..<18).map { second in
            _ = choice.measured(Self.counts(kilobits: 300, lost: second < 16 ? 0 : 0.5), now: .seconds(second))
            return choice.layer
        }
        #expect(layers.suffix(3) == [2, 1, 0])
    }

    @Test("A lower layer that has not arrived is not judged, for four seconds at most")
    func lateArrival() {
        var choice = LayerChoice(layer: 2)
        let layers = (0..<12).map { second in
            _ = choice.measured(Self.counts(kilobits: 300, lost: 0.5), now: .seconds(second))
            return choice.layer
        }
        #expect(layers == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
        // Another layer is not the one that is awaited.
        var other = LayerChoice(layer: 2)
        _ = other.measured(Self.counts(kilobits: 300, lost: 0.5), now: .zero)
        other.arrived(2, now: .seconds(1))
        #expect(other.measured(Self.counts(kilobits: 300, lost: 0.5), now: .seconds(3)) == nil)
    }

    @Test("Before the first request, the layer is the one that the server changes to by itself")
    func ownChange() {
        var choice = LayerChoice(layer: 2)
        choice.arrived(0, now: .zero)
        #expect(choice.layer == 0)
        var viewer = Viewer(choice: choice, bandwidth: 800)
        #expect(viewer.layers(10).last == 1)
        // A fallback of the server is not the requested layer.
        viewer.choice.arrived(0, now: .seconds(10))
        #expect(viewer.choice.layer == 1)
    }

    @Test("Counts that run backwards, as after a new source, change nothing")
    func backwards() {
        var choice = LayerChoice(layer: 2)
        #expect(choice.measured(LayerCounts(packetsReceived: -5, packetsLost: -100), now: .zero) == nil)
        #expect(choice.measured(LayerCounts(packetsLost: 3), now: .seconds(1)) == nil, "too few packets")
        let many = LayerCounts(packetsReceived: .max / 2, bytesReceived: -1, trainByteCount: -5)
        #expect(choice.measured(many, now: .seconds(2)) == nil && choice.layer == 2)
    }

    @Test("Another publisher in a section begins with the layer that the server sends, and with its own counts")
    func otherPublisher() {
        func streams(_ feeds: [UInt64?]) -> [JanusRoomReport.Stream] {
            feeds.enumerated().map { index, feed in
                JanusRoomReport.Stream(mid: "\(index)", feedID: feed.map { .number($0) }, feedDisplay: nil)
            }
        }
        var layers = StreamLayers()
        func choose(_ mid: String, _ received: Int, _ lost: Int, _ second: Int) -> Int? {
            layers.measured(
                mid, LayerCounts(packetsReceived: received, packetsLost: lost), now: .seconds(second))
        }
        layers.update(streams([7, 8]))
        for mid in ["0", "1"] {
            layers.arrived(2, of: mid, now: .zero)
            #expect(choose(mid, 100, 0, 0) == nil && choose(mid, 150, 50, 1) == 1)
        }
        // The first section's publisher leaves, another one follows, and the second one's stays.
        layers.update(streams([nil, 8]))
        layers.update(streams([9, 8]))
        layers.arrived(2, of: "0", now: .seconds(9))
        layers.arrived(1, of: "1", now: .seconds(9))
        #expect(choose("0", 1000, 900, 10) == nil, "the losses of the former publisher")
        #expect(choose("0", 1050, 950, 11) == 1 && choose("1", 200, 100, 11) == 0)
        #expect(choose("2", 100, 0, 11) == nil && choose("2", 100, 100, 12) == nil, "no simulcast")
    }
}

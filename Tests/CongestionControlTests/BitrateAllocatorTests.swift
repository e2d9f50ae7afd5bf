import RTCShareCongestionControl
import RTCShareWireFormat
import TestSupport
import Testing

private func kilobits(_ rates: [DataRate]) -> [Int64] { rates.map { $0.bitsPerSecond / 1000 } }

private func claim(
    _ least: Int, _ most: Int, rank: Int, mayPause: Bool = false, simulcast: Int? = nil
) -> BitrateAllocator.Claim {
    BitrateAllocator.Claim(
        minimum: .kilobitsPerSecond(least), maximum: .kilobitsPerSecond(most), rank: rank, mayPause: mayPause,
        simulcast: simulcast)
}

@Suite struct BitrateAllocatorTests {
    /// Sound, what is shared, and a camera.
    private let claims: [BitrateAllocator.Claim?] = [
        claim(20, 100, rank: 12), claim(50, 2000, rank: 2), claim(30, 500, rank: 1, mayPause: true),
    ]

    @Test(
        "Audio gets its bitrate first, then screen content, then the camera",
        arguments: [
            (3000, [100, 2000, 500]), (2400, [100, 2000, 300]), (1000, [100, 870, 30]), (180, [100, 50, 30]),
            (150, [70, 50, 30]), (99, [49, 50, 0]), (60, [20, 50, 0]), (0, [20, 50, 0]),
        ])
    func dividesByRank(total: Int, expected: [Int64]) {
        var allocator = BitrateAllocator()
        #expect(kilobits(allocator.allocate(.kilobitsPerSecond(total), among: claims)) == expected)
    }

    @Test("Bitrate that one of several equals cannot use goes to the others")
    func sharesRest() {
        var allocator = BitrateAllocator()
        let equals = [claim(0, 100, rank: 1), claim(0, 2000, rank: 1), nil, claim(0, 900, rank: 1)]
        #expect(kilobits(allocator.allocate(.kilobitsPerSecond(1500), among: equals)) == [100, 700, 0, 700])
        #expect(kilobits(allocator.allocate(.kilobitsPerSecond(2500), among: equals)) == [100, 1500, 0, 900])
    }

    @Test("A paused camera resumes only when there is clearly room for it")
    func pausesSteadily() {
        var allocator = BitrateAllocator()
        var camera: [Int64] = []
        for total in [101, 99, 101, 110, 119, 120, 101, 99] {
            camera.append(kilobits(allocator.allocate(.kilobitsPerSecond(total), among: claims))[2])
        }
        #expect(camera == [30, 0, 0, 0, 0, 30, 30, 0])
    }

    /// Three layers of a simulcast, the best first, and a camera.
    private static let layers: [BitrateAllocator.Claim?] = [
        claim(700, 2500, rank: 16, mayPause: true, simulcast: 0),
        claim(250, 700, rank: 17, mayPause: true, simulcast: 0),
        claim(30, 250, rank: 18, simulcast: 0), claim(30, 500, rank: 1, mayPause: true),
    ]

    @Test(
        "A better layer gets its minimum where the lower ones have all that they can use, and a camera after all",
        arguments: [
            (20, [0, 0, 30, 0]), (280, [0, 0, 250, 30]), (499, [0, 0, 250, 249]), (529, [0, 0, 250, 279]),
            (530, [0, 250, 250, 30]), (949, [0, 669, 250, 30]), (1679, [0, 700, 250, 500]),
            (1680, [700, 700, 250, 30]),
            (1700, [720, 700, 250, 30]), (5000, [2500, 700, 250, 500]),
        ])
    func lowerLayersFirst(total: Int, expected: [Int64]) {
        var allocator = BitrateAllocator()
        #expect(kilobits(allocator.allocate(.kilobitsPerSecond(total), among: Self.layers)) == expected)
    }

    @Test("Audio keeps all of its bitrate when a better layer begins")
    func audioBesideLayers() {
        for total in stride(from: 400, through: 2000, by: 25) {
            var allocator = BitrateAllocator()
            let claims = Self.layers + [claim(46, 150, rank: 176)]
            #expect(kilobits(allocator.allocate(.kilobitsPerSecond(total), among: claims))[4] == 150)
        }
    }

    @Test("A paused layer resumes with its minimum and a margin beside the lower one")
    func layersResumeSteadily() {
        var allocator = BitrateAllocator()
        let rates = [510, 530, 550, 554, 555, 531, 530, 529, 550].map { total in
            kilobits(allocator.allocate(.kilobitsPerSecond(total), among: Self.layers))
        }
        #expect(rates.map { $0[1] } == [0, 0, 0, 0, 275, 251, 250, 0, 0])
        #expect(rates.allSatisfy { $0[2] == 250 })
    }

    @Test("The allocated sum never exceeds the total apart from minima, and leaves no usable bitrate")
    func keepsToTotal() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            var allocator = BitrateAllocator()
            let claims = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                claim(
                    Int.random(in: 0...50, using: &generator), Int.random(in: 0...3000, using: &generator),
                    rank: Int.random(in: 0...3, using: &generator))
            }
            let total = DataRate.kilobitsPerSecond(Int.random(in: 0...5000, using: &generator))
            let rates = allocator.allocate(total, among: claims)
            let sum = rates.reduce(0) { $0 + $1.bitsPerSecond }
            let least = claims.reduce(0) { $0 + $1.minimum.bitsPerSecond }
            let most = claims.reduce(0) { $0 + $1.maximum.bitsPerSecond }
            #expect(sum <= max(total.bitsPerSecond, least))
            #expect(sum >= min(total.bitsPerSecond, most) - 8)
            for (rate, claim) in zip(rates, claims) { #expect(rate >= claim.minimum && rate <= claim.maximum) }
        }
    }

    @Test("Extreme rates do not trap")
    func survivesExtremes() {
        var allocator = BitrateAllocator()
        let extreme = BitrateAllocator.Claim(
            minimum: .bitsPerSecond(Int64.min), maximum: .bitsPerSecond(Int64.max), rank: .max)
        let whole = BitrateAllocator.Claim(
            minimum: .bitsPerSecond(Int64.max), maximum: .zero, rank: .min, mayPause: true)
        _ = allocator.allocate(.bitsPerSecond(Int64.max), among: [extreme, whole, extreme, nil])
        _ = allocator.allocate(.bitsPerSecond(Int64.min), among: [whole, extreme])
        #expect(allocator.allocate(.zero, among: []).isEmpty)
    }
}

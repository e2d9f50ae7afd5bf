import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection

@Suite struct PacketTrainTests {
    /// Returns a train of packets of a thousand bytes with these arrivals in milliseconds.
    private func train(_ arrivals: [Int]) -> PacketTrain {
        var train = PacketTrain()
        for arrival in arrivals {
            train.add(byteCount: 1000, arrival: Instant(nanoseconds: Int64(arrival) * 1_000_000))
        }
        return train
    }

    @Test("The bandwidth is that of the third to sixth packet of a frame")
    func bandwidth() {
        let short = train([0, 0, 10, 20])
        #expect(short.byteCount == 2000 && short.duration == .milliseconds(20))
        for arrivals in [[0, 0, 10, 20, 30, 40], [0, 0, 10, 20, 30, 40, 500, 900]] {
            let train = train(arrivals)
            #expect(train.byteCount == 4000 && train.duration == .milliseconds(40))
        }
    }

    @Test("Frames of few packets, and packets in another order, show none")
    func none() {
        for arrivals in [[], [0, 10, 20], [0, 10, 20, 15, 30, 40], [10, 0, 20, 30, 40, 50]] {
            let train = train(arrivals)
            #expect(train.byteCount == nil && train.duration == nil)
        }
    }
}

import RTCShareRTP
import RTCShareWireFormat
import Testing

@testable import RTCSharePeerConnection

@Suite struct PacketTrainsTests {
    /// A packet of a thousand bytes of a frame, with its arrival in milliseconds.
    private typealias Packet = (number: UInt16, frame: UInt32, arrival: Int)

    private func trains(_ packets: [Packet]) -> PacketTrains {
        var trains = PacketTrains()
        for packet in packets { trains.add(packet, arrival: packet.arrival) }
        return trains
    }

    /// Returns the packets of a frame after the last one of another frame.
    private func frame(_ arrivals: [Int], from number: UInt16 = 65_534) -> [Packet] {
        [(number &- 1, 0, -100)] + arrivals.enumerated().map { (number &+ UInt16($0), 1, $1) }
    }

    @Test("The bandwidth is that of the third to sixth packet of a frame")
    func bandwidth() {
        let short = trains(frame([0, 0, 10, 20]))
        #expect(short.byteCount == 2000 && short.duration == .milliseconds(20))
        for arrivals in [[0, 0, 10, 20, 30, 40], [0, 0, 10, 20, 30, 40, 500, 900]] {
            let trains = trains(frame(arrivals))
            #expect(trains.byteCount == 4000 && trains.duration == .milliseconds(40))
        }
    }

    @Test("Frames of few packets, and a stream that begins within a frame, show none")
    func none() {
        for packets in [[], frame([0, 10, 20]), frame([0, 10]), Array(frame([0, 10, 20, 30, 40]).dropFirst())] {
            let trains = trains(packets)
            #expect(trains.byteCount == 0 && trains.duration == .zero)
        }
    }

    @Test("After a missing packet, a frame shows nothing, even when the packet is repeated")
    func missing() {
        for missing in 0..<6 {
            var packets = frame([0, 0, 10, 20, 30, 40])
            let late = packets.remove(at: 1 + missing)
            var trains = trains(packets)
            trains.add(late, isRepeated: true, arrival: 200)
            let counted = missing < 4 ? 0 : missing - 2
            #expect(trains.byteCount == counted * 1000 && trains.duration == .milliseconds(counted * 10), "\(missing)")
        }
    }

    @Test("Padding after a frame does not count")
    func padding() {
        var trains = trains(frame([0, 0, 10, 20]))
        for index in 0..<4 {
            trains.add((2 &+ UInt16(index), 1, 0), byteCount: 0, arrival: 220 + index * 200)
        }
        #expect(trains.byteCount == 2000 && trains.duration == .milliseconds(20))
    }

    @Test("Numbers that restart count from their second frame on")
    func restart() {
        var trains = trains(frame([0, 0, 10, 20]))
        trains.restart()
        for (index, packet) in frame([0, 0, 10, 20], from: 40_000).enumerated() {
            trains.add(packet, arrival: 1000 + index * 10)
        }
        #expect(trains.byteCount == 4000 && trains.duration == .milliseconds(40))
    }
}

extension PacketTrains {
    fileprivate mutating func add(
        _ packet: (number: UInt16, frame: UInt32, arrival: Int), byteCount: Int = 1000, isRepeated: Bool = false,
        arrival: Int
    ) {
        add(
            SequenceNumber(packet.number), timestamp: RTPTimestamp(packet.frame &* 3000), byteCount: byteCount,
            isRepeated: isRepeated, arrival: Instant(nanoseconds: Int64(arrival) * 1_000_000))
    }
}

import RTCShareAudioCoding
import RTCShareRTP
import TestSupport
import Testing

@testable import RTCShareRecording

struct SoundLineTests {
    private let packet = Duration.milliseconds(20)

    /// Returns whether packets are contiguous from a time on.
    private func isContinuous(_ packets: [SoundLine.Packet], from start: Duration = .zero) -> Bool {
        var end = start
        for packet in packets {
            guard (packet.time - end).magnitude < .microseconds(30) else { return false }
            end = packet.time + packet.duration
        }
        return true
    }

    @Test("Packets without gaps are written unchanged")
    func steady() {
        var line = SoundLine(start: .zero)
        for number in 0..<50 { line.add(Samples.packet(tag: number), at: packet * number) }
        let packets = line.take(until: .seconds(1))
        #expect(packets.compactMap { Samples.tag(of: $0.payload) } == Array(0..<50))
        #expect(packets.enumerated().allSatisfy { $0.element.time == packet * $0.offset })
        #expect(line.take(until: .seconds(1)).isEmpty, "nothing is given twice")
    }

    @Test("Lost audio is concealed by the decoder for 60 ms and is silence after that")
    func gap() throws {
        var line = SoundLine(start: .zero)
        line.add(Samples.packet(tag: 0), at: .zero)
        line.add(Samples.packet(tag: 1), at: .milliseconds(220))
        let packets = line.take(until: .milliseconds(220))
        #expect(isContinuous(packets))
        #expect(packets.map(\.payload.count) == [5] + [1, 1, 1] + [3, 3, 3, 3, 3, 3, 3] + [5])
        #expect(packets[1].payload == [0xFC], "the packet before, without its frame")
        #expect(packets.last?.time == .milliseconds(220))
    }

    @Test("A pause in speech is written as silence up to the present, from the beginning on")
    func silence() {
        var line = SoundLine(start: .zero)
        let first = line.take(until: .milliseconds(500))
        #expect(isContinuous(first) && first.count == 25)
        #expect(first.allSatisfy { $0.payload == [0xFC, 0xFF, 0xFE] })
        let later = line.take(until: .seconds(3600))
        #expect(isContinuous(first + later) && later.last.map { $0.time + $0.duration } == .seconds(3600))
    }

    @Test("A gap that is no whole number of packets is filled to within 2.5 ms")
    func oddGap() throws {
        var line = SoundLine(start: .zero)
        line.add(Samples.packet(), at: .milliseconds(89))
        let packets = line.take(until: .milliseconds(89))
        #expect(isContinuous(packets))
        let last = try #require(packets.last)
        #expect(Samples.tag(of: last.payload) == 0)
        #expect(last.time == .milliseconds(80) + .microseconds(7500))
    }

    @Test("Packets are written in the order of their times, and each once")
    func order() {
        var line = SoundLine(start: .zero)
        for number in [2, 0, 1, 1, 4, 3] { line.add(Samples.packet(tag: number), at: packet * number) }
        let packets = line.take(until: .milliseconds(100))
        #expect(packets.compactMap { Samples.tag(of: $0.payload) } == Array(0..<5) && isContinuous(packets))
    }

    @Test("A packet is dropped if audio for its time is already written")
    func late() {
        var line = SoundLine(start: .zero)
        line.add(Samples.packet(tag: 0), at: .zero)
        let first = line.take(until: .milliseconds(200))
        line.add(Samples.packet(tag: 1), at: packet)
        line.add(Samples.packet(tag: 10), at: packet * 10)
        let all = first + line.take(until: .milliseconds(400))
        #expect(all.compactMap { Samples.tag(of: $0.payload) } == [0, 10] && isContinuous(all))
    }

    @Test(
        "A clock that is too fast or too slow moves no audio by more than half a packet",
        arguments: [-1, 1])
    func drift(direction: Int) {
        var line = SoundLine(start: .zero)
        // 1000 parts of a million, for ten minutes: 600 ms.
        let steps = 30_000
        for number in 0..<steps {
            line.add(Samples.packet(tag: number), at: (packet + .microseconds(20 * direction)) * number)
        }
        let packets = line.take(until: nil)
        #expect(isContinuous(packets))
        for packet in packets {
            guard let number = Samples.tag(of: packet.payload) else { continue }
            let due = (self.packet + .microseconds(20 * direction)) * number
            #expect((packet.time - due).magnitude <= .milliseconds(10))
        }
        let heard = packets.count { Samples.tag(of: $0.payload) != nil }
        #expect(heard >= steps - 61, "each that is left out makes room for half a packet at least")
    }

    @Test("The audio has neither gaps nor overlaps, whatever is lost, late or repeated", arguments: 0..<20)
    func random(seed: UInt64) {
        var random = SeededNumbers(seed)
        var line = SoundLine(start: .zero)
        var packets: [SoundLine.Packet] = []
        for number in 0..<2000 {
            if Int.random(in: 0..<100, using: &random) < 20 { continue }
            let delay = Int.random(in: 0..<100, using: &random) < 10 ? Int.random(in: 0..<40, using: &random) : 0
            let place = max(number - delay, 0)
            let shift = Duration.microseconds(Int.random(in: -6000...6000, using: &random))
            line.add(Samples.packet(tag: place), at: max(packet * place + shift, .zero))
            if number % 7 == 0 { packets += line.take(until: packet * (number - 10)) }
        }
        packets += line.take(until: nil)
        #expect(isContinuous(packets))
        for packet in packets {
            guard let place = Samples.tag(of: packet.payload) else { continue }
            #expect((packet.time - self.packet * place).magnitude < .milliseconds(17))
        }
    }

    @Test("Data that is no Opus packet is dropped", arguments: [[], [0xFF], [0xFD, 0]] as [[UInt8]])
    func malformed(packet: [UInt8]) {
        var line = SoundLine(start: .zero)
        line.add(packet, at: .zero)
        #expect(line.take(until: nil).isEmpty)
    }

    @Test("A packet of silence decodes to silence of its length")
    func decoded() throws {
        let decoder = try OpusDecoder(channels: 2)
        for (atMost, expected) in [(5000, 960), (960, 960), (959, 480), (479, 240), (120, 120)] {
            let (packet, samples) = try #require(OpusFiller.silence(atMost: atMost))
            #expect(samples == expected)
            let sound = try decoder.decode(packet)
            #expect(sound.count == 2 * samples && sound.allSatisfy { abs($0) < 0.001 })
        }
        #expect(OpusFiller.silence(atMost: 119) == nil)
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

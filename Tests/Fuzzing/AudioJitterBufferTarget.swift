@testable import RTCShareAudioCoding

/// Packets of sound at any time with any numbers, and a player who comes each 5 ms and decodes.
///
/// A step has: how far the sequence number goes on (1), the timestamp (2), and time in 5 ms (1), then the payload.
struct AudioJitterBufferTarget: FuzzTarget {
    private enum Kind {
        static let shorten: UInt8 = 1
        static let lengthen: UInt8 = 2
        static let leap: UInt8 = 3
    }

    func run(_ input: [UInt8]) throws {
        var buffer = AudioJitterBuffer()
        let playout = try AudioPlayout(channels: 1 + input.count % 2)
        var (sequence, timestamp): (Int64, Int64) = (0, 777_000)
        var now = Duration.seconds(1000)
        for step in Script(input).prefix(200) {
            switch step.kind {
            case Kind.shorten: buffer.shorten(by: step.number16(0))
            case Kind.lengthen: buffer.lengthen(by: step.number16(0))
            case Kind.leap: now += .milliseconds(step.number16(0) * 10)
            default:
                sequence += Int64(Int8(truncatingIfNeeded: step.number(0)))
                timestamp += Int64(step.signed16(1)) * (step.kind & 0x80 != 0 ? 10_000 : 1)
                let payload = Array(step.bytes.dropFirst(4))
                buffer.insert(
                    sequenceNumber: sequence, timestamp: timestamp, payload: payload,
                    sampleCount: step.kind & 0x40 != 0 ? 5760 : 960, now: now)
                playout.insert(sequenceNumber: sequence, timestamp: timestamp, payload: payload, now: now)
                for _ in 0..<step.number(3) % 32 {
                    now += .milliseconds(5)
                    play(&buffer, now)
                    while try playout.pull(now: now) != nil {}
                }
            }
            play(&buffer, now)
            while try playout.pull(now: now) != nil {}
            expect(buffer.packets.count <= AudioJitterBuffer.capacity, "the packets that wait are bounded")
        }
    }

    private func play(_ buffer: inout AudioJitterBuffer, _ now: Duration) {
        // A second that is caught up on, in the shortest of packets.
        for _ in 0..<60_000 {
            if case .wait = buffer.pop(now: now) { return }
        }
        expect(false, "the buffer says at last to wait")
    }

    func seeds() throws -> [String: [UInt8]] {
        let encoder = try OpusEncoder(configuration: OpusEncoder.Configuration(channels: 1, application: .music))
        var steps: [(kind: UInt8, bytes: [UInt8])] = []
        for _ in 0..<12 {
            let sound = [Float](repeating: 0.1, count: 960)
            guard case .packet(let packet) = try encoder.encode(sound) else { continue }
            steps.append((0, [1, 3, 0xC0, 4] + packet))
        }
        var lossy = steps
        lossy[5].bytes[0] = 2
        lossy.remove(at: 7)
        return ["steady": Script.bytes(steps), "lossy": Script.bytes(lossy)]
    }
}

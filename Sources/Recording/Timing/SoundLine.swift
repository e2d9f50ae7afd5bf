internal import RTCShareRTP
internal import RTCShareWireFormat

/// The packets of one sound in their order, with no gap between them: where none came, there is one that says so.
///
/// Packets stand one after the other, each where the one before ends. One that comes later than that has silence before it,
/// in pieces of 2.5 ms; one whose place is taken already is left out. So what is heard is never further than half a packet
/// from its time, however long the recording is.
struct SoundLine {
    /// A packet, and how long after the beginning its sound begins.
    struct Packet: Hashable {
        let time: Duration
        let payload: [UInt8]
        let duration: Duration
    }

    private struct Waiting {
        let place: Int
        let payload: [UInt8]
        let contents: OpusPacket
    }

    private var waiting: [Waiting] = []
    /// Up to where there is sound, in samples.
    private var end: Int
    /// The last packet that came, for what is lost after it to sound alike.
    private var last: (head: UInt8, samplesPerFrame: Int)?
    /// Samples that were made up since.
    private var concealed = 0

    static let sampleRate = EncodedAudioFrame.clockRate
    /// What a decoder makes up of the sound before; after it there is silence. libopus itself fades within that.
    private static let longestConcealment = sampleRate * 60 / 1000
    /// What is less is no gap: the shortest that a packet can fill.
    private static let shortestGap = 120

    /// A sound that begins with silence at a time.
    init(start: Duration) {
        end = Self.samples(start)
    }

    /// Takes a packet whose sound is due at a time. One that is no Opus packet is left out.
    mutating func add(_ payload: [UInt8], at time: Duration) {
        guard let contents = try? OpusPacket(parsing: payload.span.bytes) else { return }
        let packet = Waiting(place: Self.samples(time), payload: payload, contents: contents)
        let index = waiting.lastIndex { $0.place <= packet.place }.map { $0 + 1 } ?? 0
        waiting.insert(packet, at: index)
    }

    /// All that is to be heard before `horizon`, and was not taken yet; with nil, all that came.
    mutating func take(until horizon: Duration?) -> [Packet] {
        let limit = horizon.map(Self.samples) ?? waiting.last?.place ?? end
        var packets: [Packet] = []
        while let next = waiting.first, next.place <= limit {
            waiting.removeFirst()
            fill(until: next.place, atLeast: Self.shortestGap, &packets)
            // Half of it, so that the next is not late by more than it.
            guard end - next.place <= next.contents.sampleCount / 2 else { continue }
            append(next.payload, samples: next.contents.sampleCount, to: &packets)
            last = (next.payload[0], next.contents.samplesPerFrame)
            concealed = 0
        }
        fill(until: limit, atLeast: OpusFiller.longest, &packets)
        return packets
    }

    /// Fills up to a place, with pieces that are no shorter than that.
    private mutating func fill(until place: Int, atLeast shortest: Int, _ packets: inout [Packet]) {
        while place - end >= shortest {
            if let last, concealed + last.samplesPerFrame <= Self.longestConcealment,
                last.samplesPerFrame <= place - end
            {
                concealed += last.samplesPerFrame
                append(OpusFiller.concealment(after: last.head), samples: last.samplesPerFrame, to: &packets)
            } else if let silence = OpusFiller.silence(atMost: place - end) {
                append(silence.packet, samples: silence.samples, to: &packets)
            }
        }
    }

    private mutating func append(_ payload: [UInt8], samples: Int, to packets: inout [Packet]) {
        packets.append(
            Packet(
                time: .seconds(1) * end / Self.sampleRate, payload: payload,
                duration: .seconds(1) * samples / Self.sampleRate))
        end += samples
    }

    private static func samples(_ time: Duration) -> Int {
        let rounded = (time / .seconds(1) * Double(sampleRate)).rounded()
        // Whoever names a time beyond a century means none.
        return rounded.magnitude < 2e14 ? Int(rounded) : 0
    }
}

internal import RTCShareRTP
internal import RTCShareWireFormat

/// The packets of one audio stream in order, without gaps: packets of concealment or silence fill them.
///
/// Each packet begins at the end of the one before. A packet that comes later than that has silence before it, in
/// pieces of 2.5 ms, and one whose place is filled already is ignored. So audio is never further than half a packet
/// from its time, however long the recording is.
struct SoundLine {
    /// A packet, and the time of its first sample since the beginning.
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
    /// The end of the audio so far, in samples.
    private var end: Int
    /// The last packet that came, for the concealment of losses after it.
    private var last: (head: UInt8, samplesPerFrame: Int)?
    /// The number of concealed samples since that packet.
    private var concealed = 0

    static let sampleRate = EncodedAudioFrame.clockRate
    /// The longest concealment that a decoder derives from the audio before; silence follows. libopus itself fades out
    /// within that time.
    private static let longestConcealment = sampleRate * 60 / 1000
    /// The shortest gap, which is the shortest packet that can fill it.
    private static let shortestGap = 120

    /// Creates audio that begins with silence at a time.
    init(start: Duration) {
        end = Self.samples(start)
    }

    /// Adds a packet whose audio is due at a time. Ignores one that is not a valid Opus packet.
    mutating func add(_ payload: [UInt8], at time: Duration) {
        guard let contents = try? OpusPacket(parsing: payload.span.bytes) else { return }
        let packet = Waiting(place: Self.samples(time), payload: payload, contents: contents)
        let index = waiting.lastIndex { $0.place <= packet.place }.map { $0 + 1 } ?? 0
        waiting.insert(packet, at: index)
    }

    /// Removes and returns the packets before `horizon`; all of them for nil.
    mutating func take(until horizon: Duration?) -> [Packet] {
        let limit = horizon.map(Self.samples) ?? waiting.last?.place ?? end
        var packets: [Packet] = []
        while let next = waiting.first, next.place <= limit {
            waiting.removeFirst()
            fill(until: next.place, atLeast: Self.shortestGap, &packets)
            // At most half of it, so that the next packet is not late by more than that.
            guard end - next.place <= next.contents.sampleCount / 2 else { continue }
            append(next.payload, samples: next.contents.sampleCount, to: &packets)
            last = (next.payload[0], next.contents.samplesPerFrame)
            concealed = 0
        }
        fill(until: limit, atLeast: OpusFiller.longest, &packets)
        return packets
    }

    /// Fills the time up to a sample, with pieces of at least `shortest` samples.
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
        // A time beyond a century is an error of the sender.
        return rounded.magnitude < 2e14 ? Int(rounded) : 0
    }
}

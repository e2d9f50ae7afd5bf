import RTCSharePeerConnection
import RTCShareRTP
import RTCShareWireFormat

/// The packets of an H.264 stream in any order, at any time, and frames that are divided into packets.
///
/// A step is a packet: the sequence number (2), the time that passes in milliseconds (1), the advance of the timestamp
/// (1), flags (1: marker), the payload; or a frame: the limit of a packet (2), the frame.
struct H264PayloadTarget: FuzzTarget {
    private enum Kind {
        static let frame: UInt8 = 1
        static let awaitKeyFrame: UInt8 = 2
        static let pause: UInt8 = 3
    }

    private static let format: any VideoPayloadFormat = .h264

    func run(_ input: [UInt8]) throws {
        let configuration = FrameAssembler.Configuration()
        var assembler = FrameAssembler(configuration: configuration)
        var now = Instant(nanoseconds: 1_000_000_000)
        var timestamp = RTPTimestamp(.max - 5000)
        for step in Script(input) {
            now = now.advanced(by: .milliseconds(step.number(2)))
            switch step.kind {
            case Kind.frame: try Self.divide(Array(step.bytes.dropFirst(2)), limit: step.number16(0))
            case Kind.awaitKeyFrame: assembler.awaitKeyFrame(now: now)
            case Kind.pause: now = now.advanced(by: .milliseconds(step.number16(0)))
            default:
                timestamp = timestamp.advanced(by: step.number(3) * 90)
                let payload = Array(step.bytes.dropFirst(5))
                guard let (content, piece) = try? Self.format.read(payload.span.bytes) else { break }
                expect(piece == payload.indices, "the whole payload is a piece")
                expect(content.start != .frame, "no bit marks the start of a delta frame")
                assembler.insert(
                    SequenceNumber(UInt16(step.number16(0))), timestamp: timestamp, marker: step.number(4) & 1 != 0,
                    content: content, piece: Array(payload[piece]), now: now)
            }
            assembler.poll(now: now)
            while let frame = assembler.pollFrame() {
                expect((try? AnnexB.units(of: frame.data.span.bytes)) != nil, "a frame has units")
            }
            expect(assembler.bufferedPackets <= configuration.packetCapacity, "the packets that wait are bounded")
            expect(assembler.bufferedBytes <= configuration.byteCapacity, "the bytes that wait are bounded")
        }
    }

    /// A frame has the same units after it was divided and joined.
    private static func divide(_ bytes: [UInt8], limit: Int) throws {
        let frame = PacketizedFrame(
            bytes, format: format, number: FrameNumber(0), isKeyFrame: false, captureTime: .zero, width: 16, height: 16,
            maximumPayloadByteCount: limit)
        let units = (try? AnnexB.units(of: bytes.span.bytes)) ?? []
        let sent = units.filter { (1...23).contains($0.type) }.map { Array(bytes[$0.bytes]) }
        var pieces: [[UInt8]] = []
        for index in 0..<frame.fragmentCount {
            let payload = try written(frame.payloadByteCount(at: index)) { writer in
                try frame.writePayload(at: index, to: &writer)
            }
            expect(payload.count <= max(limit, 3), "a payload is within the limit")
            expect(payload.isEmpty == sent.isEmpty, "only a frame without units is an empty payload")
            guard !payload.isEmpty else { return }
            let (_, piece) = try format.read(payload.span.bytes)
            pieces.append(Array(payload[piece]))
        }
        let joined = try format.join(pieces)
        let read = try AnnexB.units(of: joined.span.bytes).map { Array(joined[$0.bytes]) }
        expect(read == sent, "the units are the same")
    }

    func seeds() throws -> [String: [UInt8]] {
        let sequence = H264ParametersTarget.sequence
        let code: [UInt8] = [0, 0, 0, 1]
        let key = code + sequence + code + [0x68, 0xCE, 0x3C] + code + [0x65] + (4..<120).map { UInt8($0) }
        let delta = [0, 0, 1, 0x41] + (4..<90).map { UInt8($0) }
        var steps: [(kind: UInt8, bytes: [UInt8])] = [(Kind.frame, [0, 40] + key), (Kind.frame, [4, 0] + delta)]
        var number: UInt8 = 0
        for bytes in [key, delta, delta] {
            let frame = PacketizedFrame(
                bytes, format: Self.format, number: FrameNumber(0), isKeyFrame: false, captureTime: .zero, width: 16,
                height: 16, maximumPayloadByteCount: 50)
            for index in 0..<frame.fragmentCount {
                let payload = try written(frame.payloadByteCount(at: index)) { writer in
                    try frame.writePayload(at: index, to: &writer)
                }
                let flags: UInt8 = frame.isLastFragment(index) ? 1 : 0
                steps.append((0, [0, number, 5, index == 0 ? 33 : 0, flags] + payload))
                number += 1
            }
        }
        var gap = steps
        gap.remove(at: gap.count - 3)
        gap.append((Kind.pause, [20, 0]))
        return ["whole": Script.bytes(steps), "gap": Script.bytes(gap)]
    }
}

/// A sequence parameter set, in a frame and by itself, and the parameters of a description.
struct H264ParametersTarget: FuzzTarget {
    /// A set of 1366 by 766 pixels with cropping, of x264.
    static let sequence: [UInt8] = [
        0x67, 0x42, 0xC0, 0x20, 0xD9, 0x00, 0x56, 0x06, 0x1E, 0x6A, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04, 0x00,
        0x00, 0x03, 0x00, 0xC8, 0x3C, 0x60, 0xC9, 0x20,
    ]

    func run(_ input: [UInt8]) throws {
        describe(input)
        _ = try? H264FrameHeader(parsing: input.span.bytes)
        let format: any VideoPayloadFormat = .h264
        if let header = try? format.header(of: input.span.bytes) {
            expect(header.isKeyFrame == (header.width > 0 && header.height > 0), "a key frame has a size")
        }
        guard !input.isEmpty else { return }
        let parameters = try H264SequenceParameters(input.span.bytes, input.indices)
        expect((1...parameters.codedWidth).contains(parameters.width), "the width is within the coded one")
        expect((1...parameters.codedHeight).contains(parameters.height), "the height is within the coded one")
        expect(parameters.codedWidth <= 1 << 16 && parameters.codedHeight <= 1 << 17, "the coded size is bounded")
    }

    /// An answer to accepted parameters is accepted, and limits are numbers.
    private func describe(_ input: [UInt8]) {
        let items = String(decoding: input, as: UTF8.self).split(separator: ";")
        let pairs = items.map { item -> (name: String, value: String?) in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : nil)
        }
        let theirs = FormatParameters(pairs)
        let formats: [any VideoPayloadFormat] = [.vp8, .h264, .h264SingleUnits]
        for parameters in formats.map(\.parameters) {
            let limits = parameters.limits(in: theirs)
            expect(limits.maximumFramesPerSecond.map { $0.isFinite && $0 > 0 } ?? true, "a rate is a number")
            guard parameters.accepts(theirs), let answer = parameters.answer(to: theirs) else { continue }
            let answered = answer.split(separator: ";").map { item -> (name: String, value: String?) in
                let parts = item.split(separator: "=").map(String.init)
                return (parts[0], parts[1])
            }
            expect(parameters.accepts(FormatParameters(answered)), "an answer is the same configuration")
        }
    }

    func seeds() throws -> [String: [UInt8]] {
        let code: [UInt8] = [0, 0, 0, 1]
        return [
            "baseline": Self.sequence,
            "high": [
                0x67, 0x64, 0x00, 0x28, 0xAC, 0xD9, 0x40, 0x78, 0x02, 0x27, 0xE5, 0xC0, 0x44, 0x00, 0x00, 0x03, 0x00,
                0x04, 0x00, 0x00, 0x03, 0x00, 0xC8, 0x3C, 0x60, 0xC6, 0x58,
            ],
            "frame": code + Self.sequence + code + [0x68, 0xCE, 0x3C] + code + [0x65, 0x88, 0x84],
            "fmtp": Array("level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f".utf8),
            "limits": Array("profile-level-id=42e00b; packetization-mode=1;max-fs=1620;max-mbps=40500".utf8),
        ]
    }
}

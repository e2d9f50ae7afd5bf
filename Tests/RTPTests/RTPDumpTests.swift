import RTCShareRTP
import RTCShareWireFormat
import TestSupport
import Testing

struct RTPDumpTests {
    private static let head = Array("#!rtpplay1.0 192.0.2.1/5004\n".utf8) + hex("00000064 0007a120 c0000201 138c 0000")
    private static let packet = hex("806000010000000200000003 90800a 100000 9d012a 8002e001")
    private static let control = hex("81ce00020000000100000002")
    private static let file =
        head + hex("0021 0019 0000000a") + packet + hex("0014 0000 00000014") + control

    private func read(_ bytes: [UInt8]) throws(RTPError) -> [RTPDumpPacket] {
        var reader = try RTPDumpReader(bytes)
        var packets: [RTPDumpPacket] = []
        while let packet = try reader.next() { packets.append(packet) }
        return packets
    }

    @Test("Packets come with their times")
    func packetsComeWithTheirTimes() throws {
        let reader = try RTPDumpReader(Self.file)
        #expect(reader.source == "192.0.2.1/5004")
        #expect(reader.start == .milliseconds(100_500))
        let packets = try read(Self.file)
        #expect(packets.map(\.time) == [.milliseconds(10), .milliseconds(20)])
        #expect(packets.map(\.isControl) == [false, true])
        #expect(packets.map(\.bytes) == [Self.packet, Self.control])
    }

    @Test("A file that is not a dump is rejected with the position")
    func refusals() {
        #expect(throws: RTPError.invalid(.dumpSignature, offset: 0)) { try read(Array("#!rtpplay2.0 x\n".utf8)) }
        #expect(throws: RTPError.truncated(.dumpSignature, offset: 13)) { try read(Array("#!rtpplay1.0 x".utf8)) }
        #expect(throws: RTPError.invalid(.dumpPacket, offset: 44)) { try read(Self.head + hex("0007 0000 00000000")) }
    }

    @Test("A dump truncated within a packet returns the packets before it and an error")
    func cutDump() throws {
        let starts = [Self.head.count, Self.head.count + 8 + Self.packet.count]
        for count in Self.head.count..<Self.file.count {
            var reader = try RTPDumpReader(Array(Self.file.prefix(count)))
            let whole = starts.lastIndex { $0 <= count } ?? 0
            for _ in 0..<whole { #expect(try reader.next() != nil) }
            if count == starts[whole] {
                #expect(try reader.next() == nil)
            } else {
                let error = #expect(throws: RTPError.self) { try reader.next() }
                guard case .truncated(.dumpPacket, let offset) = error else {
                    Issue.record("\(String(describing: error)) at \(count)")
                    continue
                }
                #expect((starts[whole]..<count + 1).contains(offset))
            }
        }
    }

    @Test("Packets of a damaged dump contain only its bytes")
    func damagedDump() {
        forEachDamage(of: Self.file) { bytes in
            guard let packets = try? read(bytes) else { return }
            let taken = packets.map { $0.bytes.count + 8 }.reduce(0, +)
            if taken > bytes.count - 33 { Issue.record("\(packets.count) packets of \(taken) bytes") }
        }
    }

    @Test("Packets of a recording are explained in the format whose key frames they begin")
    func guessedFormats() throws {
        func packet(_ payloadType: UInt8, _ payload: String) -> [UInt8] {
            [0x80, payloadType] + hex("0001 00000002 00000003") + hex(payload)
        }
        let packets = [
            packet(96, "10 9157F7"), packet(98, "680B0800000004477E1A00D004301061"), packet(98, "9057F7"),
            packet(45, "680B0800000004477E1A00D004301061"), packet(46, "9057F7"), packet(47, "6742C01F8C8D40"),
            Self.packet, Self.control, [], [0x80],
        ]
        let explanation = PacketExplanation(guessingFormatsOf: packets)
        let payloads = packets.prefix(7).map { packet in
            explanation.explain(packet.span.bytes).split(separator: " ").dropFirst(6).joined(separator: " ")
        }
        #expect(
            payloads == [
                "VP8 S=1 PID=0 frame", "AV1 Z=0 Y=1 W=2 N=1 sequence-header=11 frame=3 key frame 480x270",
                "AV1 Z=1 Y=0 W=1 N=0 fragment=2", "AV1 Z=0 Y=1 W=2 N=1 sequence-header=11 frame=3 key frame 480x270",
                "", "H264 key frame",
                "VP8 S=1 PID=0 picture=10 key frame 640x480",
            ])
    }

    @Test("Packets are explained in one line")
    func packetsAreExplainedInOneLine() throws {
        let explanation = PacketExplanation(formats: [PayloadType(masking: 96): .vp8])
        #expect(
            explanation.explain(Self.packet.span.bytes)
                == "RTP pt=96 seq=1 ts=2 ssrc=3 payload=13 VP8 S=1 PID=0 picture=10 key frame 640x480")
        #expect(explanation.explain(Self.control.span.bytes) == "RTCP PLI media=2")
        let goodbye = RTCPPacket.goodbye(Goodbye(sources: [SynchronizationSource(1)], reason: "a\nb\u{1B}[31m"))
        #expect(explanation.explain(goodbye.bytes.span.bytes) == "RTCP BYE ssrc=1 reason=a\u{FFFD}b\u{FFFD}[31m")
        #expect(explanation.explain(hex("0001").span.bytes) == "neither RTP nor RTCP (stun), 2 bytes")
        #expect(
            explanation.explain(hex("8060").span.bytes)
                == "not readable: the packet ends within the RTP header at byte 0")
    }
}

struct CorpusTests {
    @Test(
        "No file of the RTP corpus traps",
        .enabled(if: Corpus.rtp.isThere, "no ../shared/corpora/rtp-corpus beside the clone"))
    func noFileOfTheRTPCorpusTraps() throws {
        try readDamaged(Corpus.rtp)
    }

    @Test(
        "No file of the RTCP corpus traps",
        .enabled(if: Corpus.rtcp.isThere, "no ../shared/corpora/rtcp-corpus beside the clone"))
    func noFileOfTheRTCPCorpusTraps() throws {
        try readDamaged(Corpus.rtcp)
    }

    private func readDamaged(_ corpus: Corpus) throws {
        for file in try corpus.files() {
            readEverything(file.bytes)
            guard file.bytes.count < 256 else { continue }
            forEachDamage(of: file.bytes, allValues: false, readEverything)
        }
    }

    @Test(
        "Parsed RTCP is written unchanged",
        .enabled(if: Corpus.rtcp.isThere, "no ../shared/corpora/rtcp-corpus beside the clone"))
    func rtcpRoundTrip() throws {
        var compared = 0
        for file in try Corpus.rtcp.files() {
            guard let packets = try? RTCPPacket.parse(compound: file.bytes.span.bytes) else { continue }
            let again = packets.flatMap(\.bytes)
            // Reading what was written gives the same values, whatever reserved bits and padding the file had.
            let reread = try RTCPPacket.parse(compound: again.span.bytes)
            #expect(reread.count == packets.count, "\(file.name)")
            if again == file.bytes { compared += 1 }
        }
        #expect(compared > 30)
    }

    @Test(
        "A recorded stream holds whole frames",
        .enabled(if: Corpus.rtpdump.isThere, "no ../shared/corpora/rtpdump-corpus beside the clone"))
    func recordedStream() throws {
        let file = try #require(try Corpus.rtpdump.files().first { $0.name.hasSuffix(".rtpdump") })
        var reader = try RTPDumpReader(file.bytes)
        var packets = 0
        var keyFrames = 0
        var sizes: Set<[Int]> = []
        while let packet = try reader.next() {
            guard packet.wireByteCount == packet.bytes.count else { continue }
            let span = packet.bytes.span.bytes
            let header = try RTPHeader(parsing: span)
            packets += 1
            let payload = header.payload(of: span)
            let (descriptor, count) = try VP8PayloadDescriptor.parse(payload)
            guard descriptor.startsFrame else { continue }
            let frame = try VP8FrameHeader(parsing: payload.extracting(count..<payload.byteCount))
            if frame.isKeyFrame {
                keyFrames += 1
                sizes.insert([frame.width, frame.height])
            }
            let explanation = PacketExplanation(formats: [header.payloadType: .vp8]).explain(span)
            #expect(explanation.contains("VP8 S=1 PID=0"))
        }
        #expect(packets > 100)
        #expect(keyFrames > 0)
        #expect(sizes == [[640, 480]])
    }
}

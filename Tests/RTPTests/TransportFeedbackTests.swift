import RTCShareRTP
import RTCShareWireFormat
import Testing

struct TransportFeedbackTests {
    private let sender = SynchronizationSource(1)
    private let media = SynchronizationSource(2)

    private func parse(_ bytes: [UInt8]) throws -> TransportFeedback {
        guard case .transportFeedback(let feedback)? = try RTCPPacket.parse(compound: bytes.span.bytes).first else {
            throw RTPError.invalid(.feedbackControl, offset: 0)
        }
        return feedback
    }

    private func arrival(_ number: Int, milliseconds: Double) -> TransportFeedbackBuilder.Arrival {
        .init(
            sequenceNumber: TransportSequenceNumber(UInt16(truncatingIfNeeded: number)),
            instant: Instant(nanoseconds: Int64(milliseconds * 1e6)))
    }

    /// Two packets that a browser sent and one in its manner, padded by 1, 3 and 2 bytes, which is no multiple of four.
    @Test("Feedback of browsers is parsed")
    func feedbackOfBrowsersIsRead() throws {
        let single = try parse(hex("afcd0005 fa17fa17 43032fa0 00990001 3de80217 20019401"))
        #expect(single.baseSequenceNumber == TransportSequenceNumber(153))
        #expect(single.referenceTime == 4_057_090)
        #expect(single.feedbackPacketCount == 23)
        #expect(single.deltas == [148])
        let run = try parse(hex("afcd0007 fa17fa17 193dd8bb 00040007 10636e01 20074c24 24100c0c 10000003"))
        #expect(run.deltas == [76, 36, 36, 16, 12, 12, 16])
        let vector = try parse(hex("afcd0006 fa17fa17 193dd8bb 0001000e 10636d00 ba00100c 0c100002"))
        #expect(vector.deltas == [16, 12, 12, nil, 16] + [Int16?](repeating: nil, count: 9))
    }

    @Test("The draft's examples of chunks are parsed")
    func draftExamples() throws {
        // §3.1.3 and §3.1.4: a run of 221 lost packets, then one bit each for 14.
        let run = try parse(hex("8fcd0007 00000001 00000002 000000eb 00000000 00dd9f1c" + "0102030405060708"))
        #expect(run.deltas.count == 235)
        #expect(run.deltas.prefix(221).allSatisfy { $0 == nil })
        #expect(run.deltas.suffix(14) == [nil, 1, 2, 3, 4, 5, nil, nil, nil, 6, 7, 8, nil, nil])
    }

    @Test("Arrivals add up from the reference time")
    func arrivalTimes() throws {
        let feedback = TransportFeedback(
            sender: sender, media: media, baseSequenceNumber: TransportSequenceNumber(65535), referenceTime: 2,
            feedbackPacketCount: 0, deltas: [4, nil, -8])
        let results = feedback.results
        #expect(results.map(\.sequenceNumber.rawValue) == [65535, 0, 1])
        #expect(results.map(\.arrival) == [.milliseconds(129), nil, .milliseconds(127)])
        var later = feedback
        later.referenceTime = -0x80_0000
        var earlier = feedback
        earlier.referenceTime = 0x7F_FFFF
        #expect(later.referenceDuration(since: earlier) == .milliseconds(64))
    }

    @Test("Reserved statuses and empty runs are rejected")
    func refusedChunks() {
        for chunks in ["60010000", "f0000000", "00000000"] {
            let bytes = hex("8fcd0005 00000001 00000002 00000008 00000000" + chunks)
            let packets = try? RTCPPacket.parse(compound: bytes.span.bytes)
            guard case .opaque(let packet)? = packets?.first else {
                Issue.record("\(chunks) was read")
                continue
            }
            #expect(packet.error == .invalid(.packetStatusChunk, offset: 20))
        }
        let long = hex("8fcd0008 00000001 00000002 0000ffff 00000000 1fff1fff 1fff1fff 1fff1fff 1fff1fff")
        guard case .opaque(let packet)? = try? RTCPPacket.parse(compound: long.span.bytes).first else {
            Issue.record("65535 statuses were read")
            return
        }
        #expect(packet.error == .tooMany(.packetStatusCount, limit: 16384, offset: 14))
    }

    @Test("The cost of gaps in a sender's numbers is limited")
    func wideGaps() throws {
        var builder = TransportFeedbackBuilder(sender: sender)
        // Each is as far behind the one before as 16 bits can say without going back.
        let arrivals = (0..<400).map { arrival($0 * 16_000, milliseconds: Double($0)) }
        let packets = builder.makeFeedback(for: arrivals, media: media)
        #expect(packets.reduce(0) { $0 + $1.deltas.count } <= 400 * 2, "no gap is told")
        // One that is told is told once, and so that what follows it is not measured again with each arrival.
        let told = builder.makeFeedback(
            for: (0..<500).map { arrival(399 * 16_000 + 2000 + $0, milliseconds: 500 + Double($0)) }, media: media)
        #expect(told.allSatisfy { $0.deltas.count <= 2048 })
        #expect(told.flatMap(\.deltas).count(where: { $0 != nil }) == 500)
    }

    @Test("A compound packet has one budget of statuses")
    func statusBudget() throws {
        // 24 bytes that announce 8192 packets as lost, eighty times.
        let one = hex("8fcd0005 00000001 00000002 00002000 00000000 1fff0001")
        let many = [UInt8](repeatElement(one, count: 80).joined())
        let packets = try RTCPPacket.parse(compound: many.span.bytes)
        var statuses = 0
        var refused: [RTPError?] = []
        for packet in packets {
            switch packet {
            case .transportFeedback(let feedback): statuses += feedback.deltas.count
            case .opaque(let packet): refused.append(packet.error)
            default: continue
            }
        }
        #expect(statuses == TransportFeedback.maximumStatusCount)
        #expect(refused.count == 78)
        #expect(refused.last == .tooMany(.packetStatusCount, limit: 0, offset: 79 * 24 + 14))

        var left = 10
        let single = hex("8fcd0005 00000001 00000002 0000000a 00000000 000a0000")
        _ = try RTCPPacket.parse(compound: single.span.bytes, statuses: &left)
        #expect(left == 0)
        guard case .opaque? = try RTCPPacket.parse(compound: single.span.bytes, statuses: &left).first else {
            Issue.record("ten more were read")
            return
        }
    }

    @Test("Any pattern of arrivals survives the round trip", arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func roundTrip(_ seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        for _ in 0..<200 {
            var deltas: [Int16?] = []
            while deltas.count < 60 {
                let run = Int.random(in: 1...30, using: &generator)
                let kind = Int.random(in: 0...2, using: &generator)
                for _ in 0..<run {
                    switch kind {
                    case 0: deltas.append(nil)
                    case 1: deltas.append(.random(in: 0...255, using: &generator))
                    default: deltas.append(.random(in: Int16.min...Int16.max, using: &generator))
                    }
                }
            }
            let feedback = TransportFeedback(
                sender: sender, media: media,
                baseSequenceNumber: TransportSequenceNumber(.random(in: 0...65535, using: &generator)),
                referenceTime: .random(in: -0x80_0000...0x7F_FFFF, using: &generator), feedbackPacketCount: 255,
                deltas: deltas)
            #expect(try parse(RTCPPacket.transportFeedback(feedback).bytes) == feedback)
        }
    }

    @Test("A builder reports arrived and missing packets")
    func arrivedAndLost() throws {
        var builder = TransportFeedbackBuilder(sender: sender)
        let packets = builder.makeFeedback(
            for: [arrival(10, milliseconds: 100), arrival(13, milliseconds: 100.5), arrival(12, milliseconds: 200)],
            media: media)
        #expect(packets.count == 1)
        let first = try #require(packets.first)
        #expect(first.baseSequenceNumber.rawValue == 10)
        #expect(first.referenceTime == 1)
        #expect(first.deltas == [144, nil, 400, -398])
        // A loss on the border of two packets is reported by the second.
        let second = try #require(builder.makeFeedback(for: [arrival(16, milliseconds: 300)], media: media).first)
        #expect(second.baseSequenceNumber.rawValue == 14)
        #expect(second.feedbackPacketCount == 1)
        #expect(second.results.map(\.arrival) == [nil, nil, .milliseconds(300)])
        #expect(builder.makeFeedback(for: [], media: media).isEmpty)
    }

    @Test("A late packet does not cause others to be reported as lost")
    func latePacket() throws {
        var builder = TransportFeedbackBuilder(sender: sender)
        _ = builder.makeFeedback(
            for: [arrival(1, milliseconds: 10), arrival(3, milliseconds: 12), arrival(4, milliseconds: 13)],
            media: media)
        let late = try #require(
            builder.makeFeedback(
                for: [arrival(2, milliseconds: 20), arrival(4, milliseconds: 21), arrival(5, milliseconds: 22)],
                media: media
            ).first)
        #expect(late.baseSequenceNumber.rawValue == 2)
        #expect(late.results.map(\.arrival) == [20, 12, 13, 22].map { .milliseconds($0) })
        #expect(builder.makeFeedback(for: [arrival(5, milliseconds: 30)], media: media).isEmpty)
    }

    @Test("A time difference that is too large starts a new packet")
    func longPause() {
        var builder = TransportFeedbackBuilder(sender: sender)
        let packets = builder.makeFeedback(
            for: [arrival(65535, milliseconds: 0), arrival(0, milliseconds: 8191), arrival(2, milliseconds: 20_000)],
            media: media)
        #expect(packets.map(\.deltas.count) == [2, 2])
        #expect(packets.map(\.baseSequenceNumber.rawValue) == [65535, 1])
        #expect(packets.last?.results.last?.arrival == .seconds(20))
        #expect(packets.map(\.feedbackPacketCount) == [0, 1])
    }

    @Test("Every arrival is reported once in packets of allowed size", arguments: [64, 100, 1000])
    func reportedOnce(_ limit: Int) throws {
        var generator = SeededGenerator(state: 42)
        var builder = TransportFeedbackBuilder(sender: sender, maximumByteCount: limit)
        var expected: [UInt16: Int64] = [:]
        var received: [UInt16: Duration] = [:]
        var time = 1000.0
        var number = 65000
        for _ in 0..<50 {
            var arrivals: [TransportFeedbackBuilder.Arrival] = []
            for _ in 0..<40 {
                number += Int.random(in: 0..<20, using: &generator) == 0 ? .random(in: 1...300, using: &generator) : 1
                time += .random(in: 0...2, using: &generator)
                let arrival = arrival(number, milliseconds: time)
                expected[arrival.sequenceNumber.rawValue] = arrival.instant.nanoseconds / 250_000
                arrivals.append(arrival)
            }
            arrivals.shuffle(using: &generator)
            for packet in builder.makeFeedback(for: arrivals, media: media) {
                let bytes = RTCPPacket.transportFeedback(packet).bytes
                #expect(bytes.count <= limit)
                let parsed = try parse(bytes)
                #expect(parsed == packet)
                for result in parsed.results where result.arrival != nil {
                    #expect(received[result.sequenceNumber.rawValue] == nil)
                    received[result.sequenceNumber.rawValue] = result.arrival
                }
            }
        }
        #expect(received == expected.mapValues { .microseconds($0 * 250) })
    }
}

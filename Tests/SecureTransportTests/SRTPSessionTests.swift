import RTCShareSecureTransport
import RTCShareWireFormat
import Testing

@Suite struct SRTPSessionTests {
    private static func makePair(
        _ profile: SRTPProfile, allowsRepeatedTransmission: Bool = false
    ) throws -> (sender: SRTPSender, receiver: SRTPReceiver) {
        let key = SRTPMasterKey(
            key: [UInt8](repeating: 0x5A, count: profile.masterKeyByteCount),
            salt: [UInt8](repeating: 0xC3, count: profile.masterSaltByteCount))
        return (
            try SRTPSender(
                profile: profile, masterKey: key, allowsRepeatedTransmission: allowsRepeatedTransmission),
            try SRTPReceiver(profile: profile, masterKey: key)
        )
    }

    private static func rtp(_ sequenceNumber: UInt16, source: UInt32 = 7, payload: Int = 100) -> [UInt8] {
        var packet: [UInt8] = [0x80, 96]
        packet.append(bigEndian: sequenceNumber)
        packet.append(bigEndian: UInt32(1234))
        packet.append(bigEndian: source)
        return packet + [UInt8](repeating: 9, count: payload)
    }

    /// A header with two CSRCs and an extension of two words.
    private static func rtpWithExtension(_ sequenceNumber: UInt16) -> [UInt8] {
        var packet = rtp(sequenceNumber, payload: 0)
        packet[0] = 0x92
        return packet + [UInt8](repeating: 1, count: 8) + [0xBE, 0xDE, 0, 2, 0x10, 1, 0x20, 2, 0x30, 3, 0, 0] + [
            5, 6, 7,
        ]
    }

    private static let receiverReport: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 7]

    @Test("Packets of many sources make a round trip, with the expected overhead", arguments: SRTPProfile.allCases)
    func manySources(profile: SRTPProfile) throws {
        let (sender, receiver) = try Self.makePair(profile)
        for source in UInt32(1)...5 {
            for number in UInt16(65_500)...65_535 {
                let original = Self.rtp(number, source: source)
                var packet = original
                try sender.protectRTP(&packet)
                #expect(packet.count == original.count + profile.rtpOverhead)
                try receiver.unprotectRTP(&packet)
                #expect(packet == original)
            }
            for number in UInt16(0)...40 {
                var packet = Self.rtp(number, source: source)
                try sender.protectRTP(&packet)
                try receiver.unprotectRTP(&packet)
                #expect(packet == Self.rtp(number, source: source), "past the wrap of the sequence number")
            }
        }
        var report = Self.receiverReport
        try sender.protectRTCP(&report)
        #expect(report.count == Self.receiverReport.count + profile.rtcpOverhead)
        try receiver.unprotectRTCP(&report)
        #expect(report == Self.receiverReport)
    }

    @Test("A replayed packet is rejected", arguments: SRTPProfile.allCases)
    func aReplayIsRefused(profile: SRTPProfile) throws {
        let (sender, receiver) = try Self.makePair(profile)
        var packets: [[UInt8]] = []
        for number in UInt16(1)...2000 {
            var packet = Self.rtp(number)
            try sender.protectRTP(&packet)
            packets.append(packet)
        }
        for index in [1999, 1500, 1000] {
            var copy = packets[index]
            try receiver.unprotectRTP(&copy)
            var again = packets[index]
            #expect(throws: SRTPError.replayed) { try receiver.unprotectRTP(&again) }
        }
        #expect(throws: SRTPError.tooOld) { try receiver.unprotectRTP(&packets[100]) }
        var report = Self.receiverReport
        try sender.protectRTCP(&report)
        var again = report
        try receiver.unprotectRTCP(&report)
        #expect(throws: SRTPError.replayed) { try receiver.unprotectRTCP(&again) }
    }

    @Test("A sequence number is protected twice only when that is allowed", arguments: SRTPProfile.allCases)
    func repeatedSequenceNumber(profile: SRTPProfile) throws {
        var packet = Self.rtp(1)
        var again = Self.rtp(1)
        let strict = try Self.makePair(profile)
        try strict.sender.protectRTP(&packet)
        #expect(throws: SRTPError.replayed) { try strict.sender.protectRTP(&again) }
        #expect(again == Self.rtp(1), "the packet is as it was")

        let lenient = try Self.makePair(profile, allowsRepeatedTransmission: true)
        packet = Self.rtp(1)
        try lenient.sender.protectRTP(&packet)
        try lenient.sender.protectRTP(&again)
        #expect(packet == again)
    }

    @Test("A packet that is truncated or has any bit changed is rejected", arguments: SRTPProfile.allCases)
    func truncationsAndBitFlips(profile: SRTPProfile) throws {
        let (sender, receiver) = try Self.makePair(profile)
        var packet = Self.rtpWithExtension(1)
        try sender.protectRTP(&packet)
        var report = Self.receiverReport
        try sender.protectRTCP(&report)
        for count in 0..<packet.count {
            var cut = Array(packet.prefix(count))
            #expect(throws: SRTPError.self) { try receiver.unprotectRTP(&cut) }
        }
        for count in 0..<report.count {
            var cut = Array(report.prefix(count))
            #expect(throws: SRTPError.self) { try receiver.unprotectRTCP(&cut) }
        }
        for index in packet.indices {
            for value in UInt8.min...UInt8.max where value != packet[index] {
                var damaged = packet
                damaged[index] = value
                #expect(throws: SRTPError.self) { try receiver.unprotectRTP(&damaged) }
            }
        }
        for index in report.indices {
            for value in UInt8.min...UInt8.max where value != report[index] {
                var damaged = report
                damaged[index] = value
                #expect(throws: SRTPError.self) { try receiver.unprotectRTCP(&damaged) }
            }
        }
        try receiver.unprotectRTP(&packet)
        try receiver.unprotectRTCP(&report)
        #expect(packet == Self.rtpWithExtension(1))
        #expect(report == Self.receiverReport)
    }

    @Test("Random bytes of any length are rejected", arguments: SRTPProfile.allCases)
    func noiseOfAnyLengthIsRefused(profile: SRTPProfile) throws {
        let (_, receiver) = try Self.makePair(profile)
        var generator = SeededGenerator(seed: 5)
        for length in Array(0...300) + [1500, 9000, 65_535, 65_536, 100_000] {
            for _ in 0..<4 {
                var noise = [UInt8](repeating: 0, count: length)
                for index in noise.indices { noise[index] = UInt8.random(in: 0...255, using: &generator) }
                if length > 0 { noise[0] = 0x80 | noise[0] & 0x3F }
                var control = noise
                #expect(throws: SRTPError.self) { try receiver.unprotectRTP(&noise) }
                #expect(throws: SRTPError.self) { try receiver.unprotectRTCP(&control) }
            }
        }
    }

    @Test("The number of streams is limited, however many authentic sources there are", arguments: SRTPProfile.allCases)
    func streamLimit(profile: SRTPProfile) throws {
        let (sender, receiver) = try Self.makePair(profile)
        func pass(_ packet: [UInt8], isControl: Bool = false) throws {
            var packet = packet
            if isControl { try sender.protectRTCP(&packet) } else { try sender.protectRTP(&packet) }
            _ = try packet.withUnsafeMutableBytes { memory in
                isControl
                    ? try receiver.unprotectRTCP(memory, sparing: { $0 == 7 })
                    : try receiver.unprotectRTP(memory, sparing: { $0 == 7 })
            }
        }
        // Past the wrap of its sequence numbers, which a stream that begins anew knows nothing of.
        for number in [UInt16(40_000), 65_535, 0, 1] { try pass(Self.rtp(number)) }
        for source in UInt32(1000)..<6000 {
            try pass(Self.rtp(1, source: source))
            try pass(
                [0x80, 201, 0, 1] + withUnsafeBytes(of: (source + 10_000).bigEndian) { Array($0) }, isControl: true)
            #expect(receiver.streamCount <= SRTPReceiver.maximumStreams)
        }
        #expect(receiver.streamCount == SRTPReceiver.maximumStreams)
        try pass(Self.rtp(2))
    }

    @Test("The stream that was silent for the longest time makes room for a new one")
    func longestSilentStream() throws {
        let (sender, receiver) = try Self.makePair(.aeadAES128GCM)
        var packets: [[UInt8]] = []
        for source in UInt32(0)...UInt32(SRTPReceiver.maximumStreams) {
            var packet = Self.rtp(1, source: source)
            try sender.protectRTP(&packet)
            packets.append(packet)
        }
        for packet in packets.dropLast() { try Self.expectAccepted(packet, by: receiver) }
        var again = Self.rtp(2, source: 0)
        try sender.protectRTP(&again)
        try receiver.unprotectRTP(&again)
        try Self.expectAccepted(packets[packets.count - 1], by: receiver)
        #expect(throws: SRTPError.replayed) { try receiver.unprotectRTP(&packets[0]) }
        #expect(throws: SRTPError.replayed) { try receiver.unprotectRTP(&packets[2]) }
        // libsrtp2 has forgotten it.
        try Self.expectAccepted(packets[1], by: receiver)
    }

    private static func expectAccepted(_ packet: [UInt8], by receiver: SRTPReceiver) throws {
        var packet = packet
        try receiver.unprotectRTP(&packet)
    }

    @Test("Sources of forged packets get no stream", arguments: SRTPProfile.allCases)
    func forgedSources(profile: SRTPProfile) throws {
        let (sender, receiver) = try Self.makePair(profile)
        var packet = Self.rtp(1)
        try sender.protectRTP(&packet)
        var replay = packet
        try receiver.unprotectRTP(&packet)
        for source in UInt32(1000)..<3000 {
            var forged = Self.rtp(1, source: source)
            #expect(throws: SRTPError.authenticationFailed) { try receiver.unprotectRTP(&forged) }
        }
        #expect(receiver.streamCount == 1)
        #expect(throws: SRTPError.replayed) { try receiver.unprotectRTP(&replay) }
    }

    @Test("Protection throws when the buffer lacks room or holds no packet")
    func protectionNeedsRoomAndAPacket() throws {
        let (sender, _) = try Self.makePair(.aeadAES128GCM)
        var memory = Self.rtp(1) + [UInt8](repeating: 0, count: 15)
        let count = memory.count - 15
        memory.withUnsafeMutableBytes { buffer in
            #expect(throws: SRTPError.noRoom(needed: count + 16, capacity: count + 15)) {
                try sender.protectRTP(buffer, count: count)
            }
            for count in -1..<12 {
                #expect(throws: SRTPError.malformed) { try sender.protectRTP(buffer, count: count) }
            }
            #expect(throws: SRTPError.malformed) { try sender.protectRTCP(buffer, count: 7) }
            #expect(throws: SRTPError.malformed) { try sender.protectRTP(buffer, count: .max) }
        }
    }

    @Test("A key of the wrong length is rejected")
    func aKeyOfTheWrongLengthIsRefused() {
        let key = SRTPMasterKey(key: [1, 2, 3], salt: [])
        #expect(throws: SRTPError.wrongKeyLength) { try SRTPSender(profile: .aeadAES128GCM, masterKey: key) }
        #expect(throws: SRTPError.wrongKeyLength) { try SRTPReceiver(profile: .aeadAES128GCM, masterKey: key) }
    }

    @Test("The keys of a handshake protect both directions")
    func handshakeKeys() throws {
        let alice = try #require(Identities.alice)
        let context = try DTLSContext(DTLSConfiguration(certificate: alice))
        var path = try SimulatedPath(
            client: DTLSConnection(role: .client, context: context, expectedFingerprints: [alice.fingerprint()]),
            server: DTLSConnection(role: .server, context: context, expectedFingerprints: [alice.fingerprint()]))
        path.run()
        let client = try #require(path.client.keys)
        let server = try #require(path.server.keys)
        for (from, to) in [(client, server), (server, client)] {
            var packet = Self.rtp(1)
            try SRTPSender(profile: from.profile, masterKey: from.local).protectRTP(&packet)
            var reflected = packet
            try SRTPReceiver(profile: to.profile, masterKey: to.remote).unprotectRTP(&packet)
            #expect(packet == Self.rtp(1))
            #expect(throws: SRTPError.authenticationFailed) {
                try SRTPReceiver(profile: from.profile, masterKey: from.remote).unprotectRTP(&reflected)
            }
        }
    }
}

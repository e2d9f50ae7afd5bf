import RTCShareCryptography
import RTCShareWireFormat
import Testing

@testable import RTCShareSTUN

@Suite struct RelayingTests {
    /// RFC 8489 §B.1 as its erratum 6268 corrects it.
    static let hashedUser = Vector.hexadecimal(
        """
        000100902112a44278ad3433c6ad72c029da412e001e00204a3cf38fef6992bda952c6780417da0f24819415569e60b205c46e41407f1704
        001500296f624d61744a6f733241414143662f2f3439396b39353464364f4c33346f4c394653547679363473410000000014000b6578616d
        706c652e6f726700001d000400020000001c0020b5c7bf005b6c52a21c51c5e892f81924136296cb927c43149309278cc6518e65
        """)
    static let username = "\u{30DE}\u{30C8}\u{30EA}\u{30C3}\u{30AF}\u{30B9}"

    @Test("RFC 8489 §B.1: SHA-256 integrity from the password as typed")
    func sha256() throws {
        let message = try parse(Self.hashedUser)
        let credentials = try #require(
            LongTermCredentials(username: Self.username, password: "The\u{AD}M\u{AA}tr\u{2168}"))
        let key = try STUNMessage.longTermKey(
            username: credentials.username, realm: "example.org", password: credentials.password, algorithm: .sha256)
        #expect(message.isAuthentic(key: key, integrity: .sha256) && !message.isAuthentic(key: key))
        #expect(message.passwordAlgorithm == .sha256 && message.realm == "example.org")
        let written = try message.encoded(integrityKey: key, integrity: .sha256, fingerprint: false)
        #expect(written == Self.hashedUser)
        let challenge = STUNMessage(
            .errorResponse, transactionID: message.transactionID,
            attributes: [
                .realm("example.org"), .nonce(try #require(message.nonce)), .passwordAlgorithms([.sha256, .md5]),
            ])
        // The vector's nonce offers anonymity: the hash in it is what we send for the user name.
        let request = STUNMessage(.request, transactionID: message.transactionID)
        let answer = try parse(LongTermAuthentication(credentials, challenge: challenge).encode(request))
        #expect(answer.userhash == message.userhash && answer.username == nil)
        #expect(answer.passwordAlgorithms == [.sha256, .md5] && answer.isAuthentic(key: key, integrity: .sha256))
    }

    @Test("RFC 5769 §2.4: the password as typed results in the key")
    func typedPassword() throws {
        let message = try parse(Vector.longTerm)
        let credentials = try #require(
            LongTermCredentials(username: Self.username, password: "The\u{AD}M\u{AA}tr\u{2168}"))
        let authentication = try LongTermAuthentication(credentials, challenge: message)
        #expect(authentication.isAuthentic(message) && authentication.integrity == .sha1)
        #expect(LongTermCredentials(username: "", password: "x") == nil)
        #expect(LongTermCredentials(username: "a", password: "x\n") == nil)
        for text in ["\(credentials)", String(reflecting: credentials), "\([credentials])"] {
            #expect(!text.contains("Matr"))
        }
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!dumped.contains("Matr"))
    }

    @Test("A challenge without the announced algorithms is not answered (RFC 8489 §9.2.5)")
    func weakened() throws {
        func meet(nonce: String, _ attributes: [Attribute]) throws(ChallengeError) -> LongTermAuthentication {
            guard let credentials = LongTermCredentials(username: "u", password: "p") else { throw .incomplete }
            let challenge = STUNMessage(
                .errorResponse, transactionID: Vector.transactionID,
                attributes: [.realm("r"), .nonce(Array(nonce.utf8))] + attributes)
            return try LongTermAuthentication(credentials, challenge: challenge)
        }
        #expect(throws: ChallengeError.weakened) { try meet(nonce: "obMatJos2AAABxyz", []) }
        #expect(throws: ChallengeError.weakened) {
            try meet(nonce: "obMatJos2AAADxyz", [.passwordAlgorithms([PasswordAlgorithm(number: 9)])])
        }
        #expect(try meet(nonce: "obMatJos2AAABxyz", [.passwordAlgorithms([.md5])]).integrity == .sha256)
        #expect(try meet(nonce: "obMatJos2AAACxyz", []).integrity == .sha1)
        #expect(try meet(nonce: "obMatJos2", []).integrity == .sha1)
        #expect(try meet(nonce: "obMatJos2????", []).integrity == .sha1)
        #expect(throws: ChallengeError.incomplete) {
            let credentials = try #require(LongTermCredentials(username: "u", password: "p"))
            return try LongTermAuthentication(
                credentials, challenge: STUNMessage(.errorResponse, transactionID: Vector.transactionID))
        }
    }

    @Test("Every TURN attribute survives a round trip, and a truncated one is rejected")
    func attributes() throws {
        let v4 = try #require(TransportAddress("203.0.113.7", port: 54321))
        let v6 = try #require(TransportAddress("2001:db8::7", port: 1))
        let channel = try #require(ChannelNumber(rawValue: 0x4FFF))
        let attributes: [Attribute] = [
            .channelNumber(channel), .lifetime(.seconds(600)), .lifetime(.seconds(Int64(UInt32.max))),
            .xorPeerAddress(v4), .xorPeerAddress(v6), .data([1, 2, 3]), .data([]), .xorRelayedAddress(v6),
            .requestedAddressFamily(.v6), .additionalAddressFamily(.v4),
            .addressErrorCode(.v6, ErrorCode(code: 440, reason: "no")), .evenPort(reservesNext: true),
            .evenPort(reservesNext: false), .requestedTransport(.udp), .requestedTransport(.tcp), .dontFragment,
            .reservationToken(.max - 1), .icmp(ICMPError(type: 3, code: 4, data: 1280)),
            .icmp(ICMPError(type: 127, code: 511)), .alternateServer(v4), .alternateDomain("turn.example"),
            .passwordAlgorithms([.sha256, PasswordAlgorithm(number: 77, parameters: [1, 2, 3]), .md5]),
            .passwordAlgorithm(.md5), .userhash([UInt8](repeating: 7, count: 32)),
        ]
        for method in [Method.allocate, .refresh, .send, .data, .createPermission, .channelBind] {
            let message = STUNMessage(
                .request, method: method, transactionID: Vector.transactionID, attributes: attributes)
            let read = try parse(message.encoded(integrityKey: [1], integrity: .sha256))
            #expect(read.attributes == attributes && read.method == method)
            #expect(read.unknownRequiredAttributes.isEmpty && read.isAuthentic(key: [1], integrity: .sha256))
        }
        for attribute in attributes where attribute.type != .data && attribute.type.isComprehensionRequired {
            let whole = try STUNMessage(
                .request, transactionID: Vector.transactionID, attributes: [attribute]
            ).encoded(fingerprint: false)
            let length = Int(whole[22]) << 8 | Int(whole[23])
            for short in 0..<length {
                var bytes = Array(whole[..<(24 + (short + 3) / 4 * 4)])
                bytes.replace(bigEndian: UInt16(bytes.count - 20), at: 2)
                bytes.replace(bigEndian: UInt16(short), at: 22)
                if let read = try? parse(bytes) { #expect(read.attributes.isEmpty) }
            }
        }
        #expect(ChannelNumber(rawValue: 0x3FFF) == nil && ChannelNumber(rawValue: 0x5000) == nil)
    }

    @Test("Every changed byte in the vector of §B.1 is detected")
    func corruption() throws {
        let key = try STUNMessage.longTermKey(
            username: Self.username, realm: "example.org", password: "TheMatrIX", algorithm: .sha256)
        for index in Self.hashedUser.indices {
            for bit in 0..<8 {
                var damaged = Self.hashedUser
                damaged[index] ^= 1 << UInt8(bit)
                guard let message = try? parse(damaged) else { continue }
                #expect(!message.isAuthentic(key: key, integrity: .sha256))
            }
        }
    }

    @Test("A SHA-256 integrity can be truncated to sixteen bytes, but not further")
    func truncatedIntegrity() throws {
        var bytes = Array(Self.hashedUser[..<(Self.hashedUser.count - 36)])
        bytes.replace(bigEndian: UInt16(bytes.count), at: 2)
        let key = [UInt8](repeating: 3, count: 32)
        let code = try IntegrityAlgorithm.sha256.hashFunction.authenticationCode(
            key: key.span.bytes, message: bytes.span.bytes)
        let message = try parse(bytes + [0x00, 0x1C, 0, 16] + code[..<16])
        #expect(message.isAuthentic(key: key, integrity: .sha256))
        bytes.replace(bigEndian: UInt16(bytes.count - 4), at: 2)
        #expect(throws: STUNError.self) { try parse(bytes + [0x00, 0x1C, 0, 12] + code[..<12]) }
    }

    @Test("ChannelData is padded only over streams, and parsed by its announced length", arguments: 0..<9)
    func channelData(byteCount: Int) throws {
        let channel = try #require(ChannelNumber(rawValue: 0x4001))
        let payload = (0..<byteCount).map(UInt8.init)
        let plain = try #require(encoded(payload, channel: channel, isPadded: false))
        let padded = try #require(encoded(payload, channel: channel, isPadded: true))
        #expect(plain.count == 4 + byteCount && padded.starts(with: plain))
        #expect(padded.count == (plain.count + 3) / 4 * 4, "no more than to the next multiple of four")
        for bytes in [plain, padded] {
            let read = try #require(channelData(bytes))
            #expect(read.channel == channel && Array(bytes[read.payload]) == payload)
            #expect(ChannelData.isChannelData(bytes.span.bytes) && !STUNMessage.isSTUN(bytes.span.bytes))
        }
        for count in 0..<plain.count { #expect(channelData(Array(plain[..<count])) == nil) }
        let long = [UInt8](repeating: 0, count: 65536)
        #expect(encoded(long, channel: channel, isPadded: false) == nil)
    }

    @Test("A stream is split into the same messages, whatever the pieces", arguments: [1, 2, 3, 7, 64, 1000])
    func stream(pieceByteCount: Int) throws {
        let channel = try #require(ChannelNumber(rawValue: 0x4001))
        let data: [UInt8] = [1, 2, 3, 4, 5]
        let frames = [
            Vector.request, try #require(encoded(data, channel: channel, isPadded: true)),
            try #require(encoded([], channel: channel, isPadded: true)),
            Self.hashedUser,
        ]
        let bytes = frames.flatMap { $0 }
        var framer = StreamFramer()
        var read: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: pieceByteCount) {
            let piece = Array(bytes[start..<min(bytes.count, start + pieceByteCount)])
            framer.append(piece.span.bytes)
            while let frame = try framer.next() { read.append(frame) }
        }
        #expect(read == frames && framer.bufferedByteCount == 0)
        let foreign = Array("SSH-2.0-x".utf8)
        framer.append(foreign.span.bytes)
        #expect(throws: STUNError.notSTUN) { try framer.next() }
        let request = Vector.request
        framer.append(request.span.bytes)
        #expect(throws: STUNError.notSTUN) { try framer.next() }
        #expect(framer.bufferedByteCount == 0)
    }

    private func encoded(_ payload: [UInt8], channel: ChannelNumber, isPadded: Bool) -> [UInt8]? {
        ChannelData.encoded(payload.span.bytes, channel: channel, isPadded: isPadded)
    }

    private func channelData(_ bytes: [UInt8]) -> ChannelData? { ChannelData(parsing: bytes.span.bytes) }
}

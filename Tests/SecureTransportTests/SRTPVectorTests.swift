import RTCShareSecureTransport
import Testing

@Suite struct SRTPVectorTests {
    static let cmKey = bytes("E1F97A0D3E018BE0D64FA32C06DE4139")
    static let cmSalt = bytes("0EC675AD498AFEEBB6960B3AABE6")
    static let gcmKey = bytes("000102030405060708090a0b0c0d0e0f")
    static let gcmSalt = bytes("a0a1a2a3a4a5a6a7a8a9aaab")
    static let rtp = bytes("800f1234 decafbad cafebabe abababab abababab abababab abababab")
    static let rtcp = bytes("81c8000b cafebabe abababab abababab abababab abababab")

    // MARK: The reference against the RFCs

    @Test("The reference implementation derives the keys of RFC 3711 B.3")
    func referenceDerivesKeys() {
        func derive(_ label: UInt8, _ count: Int) -> [UInt8] {
            ReferenceSRTP.derive(masterKey: Self.cmKey, masterSalt: Self.cmSalt, label: label, byteCount: count)
        }
        #expect(derive(0, 16) == bytes("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(derive(2, 14) == bytes("30CBBC08863D8C85D49DB34A9AE1"))
        #expect(
            derive(1, 94)
                == bytes(
                    """
                    CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4 8F0A0ACF3C34E2359E6CDBCE E049646C43D9327AD175578EF7227098
                    6371C10C9A369AC2F94A8C5FBCDDDC25 6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
                    """))
    }

    @Test("The reference implementation computes the keystream of RFC 3711 B.2")
    func referenceMakesKeystream() {
        let stream = ReferenceSRTP.counterMode(
            key: bytes("2B7E151628AED2A6ABF7158809CF4F3C"), counter: bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000"),
            [UInt8](repeating: 0, count: 48))
        #expect(
            stream
                == bytes(
                    """
                    E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0
                    """))
    }

    @Test("The reference implementation encrypts the packet of RFC 7714 16")
    func referenceEncryptsPacket() {
        let packet = bytes(
            """
            8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465 73207472
            6573
            """)
        let salt = bytes("517569642070726f2071756f")
        let nonce = ReferenceSRTP.nonce(salt: salt, rtp: packet)
        #expect(nonce == bytes("51753c6580c2726f20718414"))
        let encrypted = ReferenceSRTP.galoisCounterMode(
            key: Self.gcmKey, nonce: nonce, associated: Array(packet.prefix(12)), Array(packet.dropFirst(12)))
        #expect(
            encrypted
                == bytes(
                    """
                    f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833899d 7f27beb1
                    6a9152cf 765ee439 0cce
                    """))
    }

    // MARK: libsrtp2, as it is driven here, against the reference and known packets

    @Test("Counter mode with HMAC agrees with the reference implementation")
    func counterModeWithHMAC() throws {
        let key = SRTPMasterKey(key: Self.cmKey, salt: Self.cmSalt)
        let sender = try SRTPSender(profile: .aes128CMHMACSHA1Tag80, masterKey: key)
        var packet = Self.rtp
        try sender.protectRTP(&packet)
        #expect(packet == ReferenceSRTP.protectCM(masterKey: Self.cmKey, masterSalt: Self.cmSalt, rtp: Self.rtp))
        #expect(
            packet
                == bytes("800f1234 decafbad cafebabe 4e55dc4c e79978d8 8ca4d215 949d2402 b78d6acc 99ea179b 8dbb"))
        var control = Self.rtcp
        try sender.protectRTCP(&control)
        #expect(
            control
                == bytes("81c8000b cafebabe 7128035b e487b9bd bef89041 f977a5a8 80000001 993e08cd 54d6c123 0798"))

        let receiver = try SRTPReceiver(profile: .aes128CMHMACSHA1Tag80, masterKey: key)
        try receiver.unprotectRTP(&packet)
        try receiver.unprotectRTCP(&control)
        #expect(packet == Self.rtp)
        #expect(control == Self.rtcp)
    }

    @Test("Galois/counter mode agrees with the reference implementation")
    func galoisCounterMode() throws {
        let key = SRTPMasterKey(key: Self.gcmKey, salt: Self.gcmSalt)
        let sender = try SRTPSender(profile: .aeadAES128GCM, masterKey: key)
        var packet = Self.rtp
        try sender.protectRTP(&packet)
        #expect(packet == ReferenceSRTP.protectGCM(masterKey: Self.gcmKey, masterSalt: Self.gcmSalt, rtp: Self.rtp))
        #expect(
            packet
                == bytes(
                    """
                    800f1234 decafbad cafebabe c5002ede 04cfdd2e b91159e0 880aa06e d2976826 f796b201 df3131a1 27e8a392
                    """))
        var control = Self.rtcp
        try sender.protectRTCP(&control)
        #expect(control == ReferenceSRTP.protectGCM(masterKey: Self.gcmKey, masterSalt: Self.gcmSalt, rtcp: Self.rtcp))
        #expect(
            control
                == bytes(
                    """
                    81c8000b cafebabe c98b8b5d f0392a55 852b6c21 ac8e7025 c52c6fbe a2b3b446 ea31123b a88ce61e 80000001
                    """))

        let receiver = try SRTPReceiver(profile: .aeadAES128GCM, masterKey: key)
        try receiver.unprotectRTP(&packet)
        try receiver.unprotectRTCP(&control)
        #expect(packet == Self.rtp)
        #expect(control == Self.rtcp)
    }

    @Test("Galois/counter mode with 256 bits agrees with the reference implementation")
    func galoisCounterModeWith256Bits() throws {
        let masterKey = (0..<32).map { UInt8($0) }
        let sender = try SRTPSender(
            profile: .aeadAES256GCM, masterKey: SRTPMasterKey(key: masterKey, salt: Self.gcmSalt))
        var packet = Self.rtp
        try sender.protectRTP(&packet)
        #expect(packet == ReferenceSRTP.protectGCM(masterKey: masterKey, masterSalt: Self.gcmSalt, rtp: Self.rtp))
        var control = Self.rtcp
        try sender.protectRTCP(&control)
        #expect(control == ReferenceSRTP.protectGCM(masterKey: masterKey, masterSalt: Self.gcmSalt, rtcp: Self.rtcp))
    }

    @Test("Exported keying material is split in the order of RFC 5764")
    func exportedBytesSplit() throws {
        let exported = (0..<60).map { UInt8($0) }
        let client = try SRTPKeyingMaterial(
            profile: .aes128CMHMACSHA1Tag80, role: .client, exported: exported.span.bytes)
        #expect(client.local == SRTPMasterKey(key: Array(0..<16), salt: Array(32..<46)))
        #expect(client.remote == SRTPMasterKey(key: Array(16..<32), salt: Array(46..<60)))
        let server = try SRTPKeyingMaterial(profile: .aeadAES128GCM, role: .server, exported: exported.span.bytes)
        #expect(server.local == SRTPMasterKey(key: Array(16..<32), salt: Array(44..<56)))
        #expect(server.remote == SRTPMasterKey(key: Array(0..<16), salt: Array(32..<44)))
        #expect(throws: (any Error).self) {
            try SRTPKeyingMaterial(profile: .aeadAES256GCM, role: .client, exported: exported.span.bytes)
        }
    }
}

internal import RTCShareRTP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// The reference of every path: only the protection of an existing packet, with a new sequence number.
struct ProtectionAlone {
    private let protection: SRTPSender
    private let memory = PacketMemory()
    private var number: UInt16 = 1
    private let length: Int
    private var failures = 0

    init(profile: SRTPProfile) throws {
        protection = try SRTPSender(profile: profile, masterKey: .counting(profile))
        length = PacketBenchmark.packetByteCount + profile.rtpOverhead
        try TestPackets().write(number: 1, fragment: 0, into: memory)
    }

    mutating func run(packets: Int) {
        for _ in 0..<packets {
            memory.bytes.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt16.self)
            let protected = try? protection.protectRTP(memory.bytes, count: PacketBenchmark.packetByteCount)
            if protected != length { failures += 1 }
            number &+= 1
        }
    }

    func check() throws {
        guard failures == 0 else { throw BenchmarkFailure("\(failures) packets could not be protected alone") }
    }
}

/// Header and payload, written in place, and then protected.
struct PacketizingPath {
    private let protection: SRTPSender
    private let source = TestPackets()
    private let memory = PacketMemory()
    private var number: UInt16 = 1

    init(profile: SRTPProfile) throws {
        protection = try SRTPSender(profile: profile, masterKey: .counting(profile))
    }

    mutating func run(packets: Int) throws {
        for index in 0..<packets {
            let length = try source.write(number: number, fragment: index % source.frame.fragmentCount, into: memory)
            _ = try protection.protectRTP(memory.bytes, count: length)
            number &+= 1
        }
    }
}

/// A frame of a hundred packets, each of 1200 bytes with its header.
struct TestPackets {
    let frame: PacketizedFrame
    private let map: HeaderExtensionMap

    init() {
        var map = HeaderExtensionMap()
        map[.transportSequenceNumber] = 3
        map[.absoluteSendTime] = 2
        self.map = map
        frame = Self.frame(headerByteCount: Self.header(number: 0, frame: nil).byteCount(map: map), isKeyFrame: true)
    }

    /// Returns a frame whose packets have 1200 bytes with headers of this size.
    static func frame(headerByteCount: Int, isKeyFrame: Bool) -> PacketizedFrame {
        let payload = PacketBenchmark.packetByteCount - headerByteCount
        let descriptorByteCount = 6
        return PacketizedFrame(
            [UInt8](repeating: 0x5A, count: 100 * (payload - descriptorByteCount)), format: .vp8,
            number: FrameNumber(1), isKeyFrame: isKeyFrame, captureTime: .seconds(1), width: 1920, height: 1080,
            maximumPayloadByteCount: payload)
    }

    /// Writes a packet, and returns its length.
    @discardableResult
    func write(number: UInt16, fragment: Int, into memory: PacketMemory) throws -> Int {
        var writer = ByteWriter(memory.bytes.mutableBytes)
        try Self.header(number: number, frame: frame).write(to: &writer, map: map)
        try frame.writePayload(at: fragment, to: &writer)
        return writer.offset
    }

    private static func header(number: UInt16, frame: PacketizedFrame?) -> OutgoingRTPHeader {
        var extensions = HeaderExtensions()
        extensions.transportSequenceNumber = TransportSequenceNumber(number)
        extensions.absoluteSendTime = AbsoluteSendTime(UInt32(number))
        return OutgoingRTPHeader(
            marker: false, payloadType: PayloadType(masking: 96), sequenceNumber: SequenceNumber(number),
            timestamp: frame?.timestamp(offset: RTPTimestamp(90_000)) ?? RTPTimestamp(0),
            source: SynchronizationSource(0x1234_5678), extensions: extensions)
    }
}

/// The memory for one packet.
final class PacketMemory {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: PacketBenchmark.capacity, alignment: 64)

    init() { bytes.initializeMemory(as: UInt8.self, repeating: 0) }
    deinit { bytes.deallocate() }
}

extension SRTPMasterKey {
    fileprivate static func counting(_ profile: SRTPProfile) -> SRTPMasterKey {
        SRTPMasterKey(
            key: (0..<profile.masterKeyByteCount).map { UInt8($0) },
            salt: (0..<profile.masterSaltByteCount).map { UInt8($0 + 100) })
    }
}

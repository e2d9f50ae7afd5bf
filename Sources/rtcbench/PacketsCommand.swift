internal import ArgumentParser
internal import CAllocations
internal import Foundation
internal import RTP
internal import SecureTransport
internal import WireFormat

/// Header, payload and SRTP of a packet, beside SRTP alone.
///
/// Both work on the same memory with the same keys, in rounds that take turns, so that a machine that changes its speed
/// changes it for both. The median of the rounds is told, and the ratio of each pair of rounds.
struct PacketsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packets",
        abstract: "Packetize and protect a 1200-byte packet, beside libsrtp2's protect alone.")

    @Option(help: "Packets in a round.")
    var packets = 20_000

    @Option(help: "Rounds of each kind.")
    var rounds = 21

    @Flag(help: "Write the result as JSON.")
    var json = false

    func validate() throws {
        guard packets > 0, rounds > 0 else { throw ValidationError("give at least one packet and one round") }
    }

    func run() throws {
        let results = try [SRTPProfile.aeadAES128GCM, .aes128CMHMACSHA1Tag80].map { profile in
            try PacketBenchmark(profile: profile).run(packets: packets, rounds: rounds)
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            print(String(decoding: try encoder.encode(results), as: UTF8.self))
            return
        }
        print(
            "profile                     protect alone  packetize+protect  ratio (median, min…max)  allocations: alone, whole"
        )
        for result in results { print(result.row) }
    }
}

/// One profile's figures.
struct PacketResult: Codable {
    let profile: String
    let protectNanoseconds: Double
    let packetizeAndProtectNanoseconds: Double
    let ratio: Double
    let lowestRatio: Double
    let highestRatio: Double
    /// Allocations of the whole process during the rounds of protect alone, over their packets: libsrtp2's own, which
    /// makes some for each packet where it is built on NSS.
    let protectAllocationsPerPacket: Double
    /// The same during the rounds of packetize and protect. What is above the other figure is ours.
    let allocationsPerPacket: Double

    var row: String {
        String(
            format: "%@%10.0f ns  %14.0f ns  %7.2f (%.2f…%.2f)  %13.4f, %.4f",
            profile.padding(toLength: 28, withPad: " ", startingAt: 0), protectNanoseconds,
            packetizeAndProtectNanoseconds, ratio, lowestRatio, highestRatio, protectAllocationsPerPacket,
            allocationsPerPacket)
    }
}

private struct PacketBenchmark {
    private static let packetByteCount = 1200
    private let profile: SRTPProfile
    private let alone: SRTPSender
    private let whole: SRTPSender
    private let frame: PacketizedFrame
    private let map: HeaderExtensionMap

    init(profile: SRTPProfile) throws {
        self.profile = profile
        let key = SRTPMasterKey(
            key: (0..<profile.masterKeyByteCount).map { UInt8($0) },
            salt: (0..<profile.masterSaltByteCount).map { UInt8($0 + 100) })
        alone = try SRTPSender(profile: profile, masterKey: key)
        whole = try SRTPSender(profile: profile, masterKey: key)
        var map = HeaderExtensionMap()
        map[.transportSequenceNumber] = 3
        map[.absoluteSendTime] = 2
        self.map = map
        // A frame of a hundred packets, each of 1200 bytes once its header is before it.
        let header = Self.header(number: 0).byteCount(map: map)
        let payload = Self.packetByteCount - header
        let descriptor = VP8PayloadDescriptor(
            startsPartition: true, pictureID: .long(1), temporalLevelZeroIndex: 1, temporalLayer: .base)
        frame = PacketizedFrame(
            vp8: [UInt8](repeating: 0x5A, count: 100 * (payload - descriptor.byteCount)), descriptor: descriptor,
            isKeyFrame: true, captureTime: .seconds(1), width: 1920, height: 1080, maximumPayloadByteCount: payload)
    }

    private static func header(number: UInt16) -> OutgoingRTPHeader {
        var extensions = HeaderExtensions()
        extensions.transportSequenceNumber = TransportSequenceNumber(number)
        extensions.absoluteSendTime = AbsoluteSendTime(UInt32(number))
        return OutgoingRTPHeader(
            marker: false, payloadType: PayloadType(masking: 96), sequenceNumber: SequenceNumber(number),
            timestamp: RTPTimestamp(90_000), source: SynchronizationSource(0x1234_5678), extensions: extensions)
    }

    func run(packets: Int, rounds: Int) throws -> PacketResult {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1500, alignment: 64)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 0)
        var numberAlone: UInt16 = 0
        var numberWhole: UInt16 = 0
        _ = try protectAlone(packets, memory, &numberAlone)
        _ = try packetizeAndProtect(packets, memory, &numberWhole)
        var aloneTimes: [Double] = []
        var wholeTimes: [Double] = []
        var allocationsAlone: UInt64 = 0
        var allocationsWhole: UInt64 = 0
        aloneTimes.reserveCapacity(rounds)
        wholeTimes.reserveCapacity(rounds)
        for _ in 0..<rounds {
            let start = allocation_count()
            aloneTimes.append(try protectAlone(packets, memory, &numberAlone))
            let middle = allocation_count()
            wholeTimes.append(try packetizeAndProtect(packets, memory, &numberWhole))
            allocationsAlone += middle - start
            allocationsWhole += allocation_count() - middle
        }
        let ratios = zip(wholeTimes, aloneTimes).map(/).sorted()
        return PacketResult(
            profile: "\(profile)", protectNanoseconds: aloneTimes.sorted()[rounds / 2],
            packetizeAndProtectNanoseconds: wholeTimes.sorted()[rounds / 2], ratio: ratios[rounds / 2],
            lowestRatio: ratios[0], highestRatio: ratios[rounds - 1],
            protectAllocationsPerPacket: Double(allocationsAlone) / Double(packets * rounds),
            allocationsPerPacket: Double(allocationsWhole) / Double(packets * rounds))
    }

    /// Nanoseconds a packet of protection alone: the header is there already, but for the number that must move on.
    private func protectAlone(
        _ packets: Int, _ memory: UnsafeMutableRawBufferPointer, _ number: inout UInt16
    ) throws -> Double {
        var writer = ByteWriter(memory.mutableBytes)
        try Self.header(number: number).write(to: &writer, map: map)
        try frame.writePayload(at: 0, to: &writer)
        let start = DispatchTime.now().uptimeNanoseconds
        for _ in 0..<packets {
            memory.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt16.self)
            _ = try alone.protectRTP(memory, count: Self.packetByteCount)
            number &+= 1
        }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(packets)
    }

    private func packetizeAndProtect(
        _ packets: Int, _ memory: UnsafeMutableRawBufferPointer, _ number: inout UInt16
    ) throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        for index in 0..<packets {
            var writer = ByteWriter(memory.mutableBytes)
            try Self.header(number: number).write(to: &writer, map: map)
            try frame.writePayload(at: index % frame.fragmentCount, to: &writer)
            _ = try whole.protectRTP(memory, count: writer.offset)
            number &+= 1
        }
        return Double(DispatchTime.now().uptimeNanoseconds - start) / Double(packets)
    }
}

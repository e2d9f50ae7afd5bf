internal import ArgumentParser
internal import Foundation
internal import RTCShareSecureTransport

/// The cost of a packet in addition to SRTP: its header and payload, and its path through a connection.
struct PacketsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packets",
        abstract: "Packetize and protect a 1200-byte packet, beside libsrtp2's protect alone.",
        discussion: """
            Two paths are set beside libsrtp2's protect, which alone encrypts and authenticates a packet that is \
            already there:

            packetize + protect: RTP header with its extensions, VP8 descriptor and payload, written in place, then \
            protect. In each protection profile.
            whole path: a connected peer is given frames and asked for datagrams in virtual time: pacer, header, \
            history for retransmission, transport-wide bookkeeping, statistics, timers, protect.

            Each kind takes its rounds in turn with rounds of protect alone, so that a machine that changes its speed \
            changes it for both. Nanoseconds are of the thread's processor time, the \
            medians of the rounds; a ratio is taken of each pair of rounds, \
            and their median, least and greatest are told.

            Allocations are counted by replacing malloc, calloc, realloc, memalign, aligned_alloc and posix_memalign \
            in this process, for Swift's runtime and C libraries alike. Before the rounds the counter is tried on \
            arrays, objects and C strings made on purpose. libsrtp2 makes allocations of its own in every protect where \
            it is built on NSS, as Debian's is: "ours" is what a path makes above what protect alone makes. The first \
            round of each kind is not counted: it makes what is made once.
            """)

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
        let trial = try AllocationCounter.check()
        let benchmark = PacketBenchmark(packets: packets, rounds: rounds)
        let report = PacketReport(
            allocationCounter: trial,
            results: [
                try benchmark.packetizeAndProtect(.aeadAES128GCM),
                try benchmark.packetizeAndProtect(.aes128CMHMACSHA1Tag80),
                try benchmark.wholePath(),
            ])
        guard json else { return print(report.table) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        print(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}

/// The results of the command.
struct PacketReport: Codable {
    let allocationCounter: AllocationCounter.Trial
    let results: [PacketResult]

    var table: String {
        let heading =
            "profile                     path                 protect alone   with path  ratio (least…greatest)"
            + "  allocations a packet: alone, with path, ours"
        let counter =
            "allocation counter: \(allocationCounter.counted) counted of \(allocationCounter.made) made on purpose, "
            + "\(allocationCounter.countedWithout) where none was made"
        return ([heading] + results.map(\.row) + [counter]).joined(separator: "\n")
    }
}

/// The results of one path.
struct PacketResult: Codable {
    let profile: String
    let path: String
    let protectNanoseconds: Double
    let pathNanoseconds: Double
    let ratio: Double
    let lowestRatio: Double
    let highestRatio: Double
    /// The allocations of the whole process per packet during the rounds of only protect: libsrtp2's own.
    let protectAllocationsPerPacket: Double
    /// The allocations per packet during the rounds of the path.
    let pathAllocationsPerPacket: Double
    /// The path's allocations in addition to protect's.
    let ownAllocationsPerPacket: Double

    var row: String {
        profile.padding(toLength: 28, withPad: " ", startingAt: 0)
            + path.padding(toLength: 21, withPad: " ", startingAt: 0)
            + String(
                format: "%10.0f ns %8.0f ns   %.2f (%.2f…%.2f)       %.4f, %.4f, %.4f", protectNanoseconds,
                pathNanoseconds, ratio, lowestRatio, highestRatio, protectAllocationsPerPacket,
                pathAllocationsPerPacket, ownAllocationsPerPacket)
    }
}

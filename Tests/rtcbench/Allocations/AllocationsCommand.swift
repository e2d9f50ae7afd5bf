internal import ArgumentParser
internal import Foundation
internal import RTCShareMedia
internal import RTCShareSecureTransport

/// The allocations of a frame in the steady state, from the source to the datagrams.
struct AllocationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allocations",
        abstract: "Count what a frame allocates, from its source to its datagrams.",
        discussion: """
            A source without a screen gives pictures that were made before: a page that stays, letters that are typed, \
            lines that scroll, and pictures that have nothing in common. They go through a track, an encoder's thread \
            and a connected peer, as those of a share do. What is made once is made in the seconds that are not counted.

            Allocations are counted by replacing malloc and its relatives in this process, for Swift's runtime and C \
            libraries alike. libsrtp2 makes some in every protect where it is built on NSS, as Debian's is: they are \
            left out of the packets' by what protect alone was found to make.
            """)

    @Option(help: "Columns of the picture.")
    var width = 1280

    @Option(help: "Rows of the picture.")
    var height = 720

    @Option(help: "Seconds of each content that are counted.")
    var seconds = 8.0

    @Option(help: "Seconds of each content before.")
    var lead = 6.0

    @Option(help: "Fail where a frame of any content allocates more than this.")
    var limit: Double?

    @Flag(help: "Write the result as JSON.")
    var json = false

    /// The contents, one for each way in which frames are encoded.
    private static let contents: [ScreenContent] = [.still, .typing, .scrolling, .motion]

    func validate() throws {
        guard (256...4096).contains(width), (256...4096).contains(height), (1...3600).contains(seconds), lead >= 0
        else { throw ValidationError("give sides of 256 to 4096 pixels and 1 to 3600 seconds") }
    }

    func run() throws {
        let trial = try AllocationCounter.check()
        let protection = try protectionAllocations()
        let size = PixelSize(width: width, height: height)
        let results = try Self.contents.map { content in
            let share = try SteadyShare(SteadyContent(content, size: size))
            _ = try share.run(seconds: lead)
            return AllocationsResult(content, try share.run(seconds: seconds), protection: protection)
        }
        let report = AllocationsReport(
            allocationCounter: trial, protectionAllocationsPerPacket: protection, results: results)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            print(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            print(report.table)
        }
        guard let limit, let most = results.max(by: { $0.allocationsPerFrame < $1.allocationsPerFrame }),
            most.allocationsPerFrame > limit
        else { return }
        throw BenchmarkFailure(
            "a frame of \(most.content.rawValue) makes \(String(format: "%.2f", most.allocationsPerFrame)) "
                + "allocations, more than \(limit)")
    }

    /// Returns libsrtp2's allocations for the protection of a packet.
    private func protectionAllocations() throws -> Double {
        let packets = 1000
        var alone = try ProtectionAlone(profile: .preferred[0])
        alone.run(packets: packets)
        let before = AllocationCounter.count
        alone.run(packets: packets)
        return Double(AllocationCounter.count - before) / Double(packets)
    }
}

/// The results of the command.
struct AllocationsReport: Codable {
    let allocationCounter: AllocationCounter.Trial
    let protectionAllocationsPerPacket: Double
    let results: [AllocationsResult]

    var table: String {
        let heading = "content      frames  packets   allocations a frame: source to encoded, packets"
        let counter =
            "allocation counter: \(allocationCounter.counted) counted of \(allocationCounter.made) made on purpose, "
            + "\(allocationCounter.countedWithout) where none was made; libsrtp2's own, left out: "
            + String(format: "%.2f a packet", protectionAllocationsPerPacket)
        return ([heading] + results.map(\.row) + [counter]).joined(separator: "\n")
    }
}

/// The results for one content.
struct AllocationsResult: Codable {
    let content: ScreenContent
    let frames: Int
    let packets: Int
    /// The allocations from the source's frame to the encoded one.
    let encodingAllocationsPerFrame: Double
    /// The allocations from the encoded frame to its datagrams, without libsrtp2's own.
    let packetAllocationsPerFrame: Double

    var allocationsPerFrame: Double { encodingAllocationsPerFrame + packetAllocationsPerFrame }

    init(_ content: ScreenContent, _ counts: SteadyShare.Counts, protection: Double) {
        let frames = Double(max(counts.frames, 1))
        self.content = content
        self.frames = counts.frames
        packets = counts.packets
        encodingAllocationsPerFrame = Double(counts.allocations - counts.packetAllocations) / frames
        packetAllocationsPerFrame =
            (Double(counts.packetAllocations) - protection * Double(counts.packets)) / frames
    }

    var row: String {
        content.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0)
            + String(
                format: "%7d %8d   %20.2f %24.2f", frames, packets, encodingAllocationsPerFrame,
                packetAllocationsPerFrame)
    }
}

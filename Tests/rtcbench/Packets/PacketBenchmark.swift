internal import Dispatch
internal import RTCShareRTP
internal import RTCShareSecureTransport
internal import RTCShareWireFormat

/// Compares paths of a packet with only protect, in alternating rounds.
struct PacketBenchmark {
    let packets: Int
    let rounds: Int

    /// The size of a packet before its protection, in bytes.
    static let packetByteCount = 1200
    /// The space for the packet and its protection.
    static let capacity = 1500

    /// Measures header, payload and protection, written one after the other into the same memory.
    func packetizeAndProtect(_ profile: SRTPProfile) throws -> PacketResult {
        var path = try PacketizingPath(profile: profile)
        return try compare(profile, "packetize + protect") { packets in try path.run(packets: packets) }
    }

    /// Measures everything that happens to a frame's packets in a connected peer.
    func wholePath() throws -> PacketResult {
        let path = try ConnectedPath()
        // The profile on which two of these peers agree.
        return try compare(SRTPProfile.preferred[0], "whole path") { packets in try path.run(packets: packets) }
    }

    private func compare(_ profile: SRTPProfile, _ name: String, path: (Int) throws -> Void) throws -> PacketResult {
        var alone = try ProtectionAlone(profile: profile)
        var times = (alone: [Double](), path: [Double]())
        var allocations = (alone: UInt64(0), path: UInt64(0))
        times.alone.reserveCapacity(rounds)
        times.path.reserveCapacity(rounds)
        alone.run(packets: packets)
        try path(packets)
        for _ in 0..<rounds {
            let start = Measurement()
            alone.run(packets: packets)
            let middle = Measurement()
            try path(packets)
            let end = Measurement()
            times.alone.append(middle.nanoseconds(since: start) / Double(packets))
            times.path.append(end.nanoseconds(since: middle) / Double(packets))
            allocations.alone += middle.allocations - start.allocations
            allocations.path += end.allocations - middle.allocations
        }
        try alone.check()
        let ratios = zip(times.path, times.alone).map(/).sorted()
        let counted = Double(packets) * Double(rounds)
        return PacketResult(
            profile: "\(profile)", path: name, protectNanoseconds: times.alone.sorted()[rounds / 2],
            pathNanoseconds: times.path.sorted()[rounds / 2], ratio: ratios[rounds / 2], lowestRatio: ratios[0],
            highestRatio: ratios[rounds - 1], protectAllocationsPerPacket: Double(allocations.alone) / counted,
            pathAllocationsPerPacket: Double(allocations.path) / counted,
            ownAllocationsPerPacket: (Double(allocations.path) - Double(allocations.alone)) / counted)
    }
}
